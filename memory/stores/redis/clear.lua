-- Removes everything but the record of operations.
-- ARGV: limits, operation, digest, deadline.
-- parts: state expiry operations
local op, digest, deadline = ARGV[2], ARGV[3], tonumber(ARGV[4])
if now > deadline then
  return 'expired'
end
local known = recall('c', op, digest)
if known then
  return known == 'reused' and known or 'ok ' .. known
end
local m = load()
if operations_full() then
  return 'operations'
end
local cleared = m and live_messages(m) + m.overflow_messages or 0
call('UNLINK', LEASE, unpack(MORTAL))
remember(nil, 'c', op, digest, deadline, tostring(cleared))
return 'ok ' .. cleared
