-- What names the operation of a call, and whether it comes in time. Of the arguments these are the same in each script
-- that changes what clients see; commit and begin have others.
-- needs: keys
-- gives: op digest deadline

local op, digest, deadline = ARGV[2], ARGV[3], tonumber(ARGV[4])
if now > deadline then
  return 'expired'
end
do
  -- numbers: FURTHEST_DEADLINE_MS
  if deadline > now + FURTHEST_DEADLINE_MS then
    return 'ahead'
  end
end
