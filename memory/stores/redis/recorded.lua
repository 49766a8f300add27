-- What a repetition of an append or a write would be answered; nothing if there was none. Writes nothing.
-- ARGV: limits, operation, its kind, digest (empty: any), deadline (none: it is only asked).
-- parts: keys operations
if ARGV[5] and now > tonumber(ARGV[5]) then
  return 'expired'
end
local known = recall(ARGV[3], ARGV[2], ARGV[4])
if not known then
  return 'none'
end
return known == 'reused' and known or answer_again(known)
