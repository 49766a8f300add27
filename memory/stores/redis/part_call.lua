-- What names the operation of a call, and whether it comes in time. Of the arguments these are the same in each script
-- that changes what clients see; commit and begin have others.
-- needs: keys
-- gives: op digest deadline deadline_refused

local op, digest, deadline = ARGV[2], ARGV[3], tonumber(ARGV[4])

-- Returns the refusal of a call that comes too late, or nil.
local function deadline_refused()
  return now > deadline and 'expired' or nil
end
