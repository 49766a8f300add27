-- Removes everything but the record of operations.
-- ARGV: limits, operation, digest, deadline, if_version (empty: any).
-- parts: may_change state expiry operations
local op, digest, deadline, if_version = ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]
if now > deadline then
  return 'expired'
end
local known = recall('c', op, digest)
if known then
  return known == 'reused' and known or 'ok ' .. known
end
if if_version ~= '' and if_version ~= version_of() then
  return 'conflict ' .. version_of()
end
if operations_full() then
  return 'operations'
end
local cleared = m and live_messages() + m.overflow_messages or 0
redis.call('UNLINK', key.lease, unpack(mortal()))
remember('c', op, digest, deadline, tostring(cleared))
return 'ok ' .. cleared
