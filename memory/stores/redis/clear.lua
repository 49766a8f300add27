-- Removes everything but the record of operations, and makes a backup before if it is asked to.
-- ARGV: limits, operation, digest, deadline, if_version (empty: any), backup id and its lifetime (or nothing).
-- Returns `ok <messages> <backup id or ->`; `again …` if it was applied before.
-- parts: may_change call
local refused = change_refused() or deadline_refused()
if refused then
  return refused
end
-- parts: keys head state expiry operations backups
local if_version, backup, lifetime = ARGV[5], ARGV[6], tonumber(ARGV[7])
local known = recall('c', op, digest)
if known then
  return known == 'reused' and known or 'again ' .. known
end
if if_version ~= '' and if_version ~= version_of() then
  return 'conflict ' .. version_of()
end
if operations_full() then
  return 'operations'
end
local cleared = m and live_messages() + m.waiting_messages or 0
if not (cleared >= 0 and cleared < 2 ^ 53 and cleared % 1 == 0) then
  damage('its counters are no numbers')
end
local kept = '-'
tidy_backups()
if backup and m then
  kept = backup
  each_copy(function(name, copy)
    redis.call('COPY', name, copy)
    redis.call('PEXPIREAT', copy, now + lifetime) -- a copy takes the expiry of its origin along
  end)
  redis.call('HSET', backups, backup, now .. ' ' .. now + lifetime .. ' ' .. cleared)
  redis.call('PEXPIREAT', backups, now + lifetime)
end
redis.call('UNLINK', key.lease, unpack(mortal()))
remember('c', op, digest, deadline, cleared .. ' ' .. kept)
return 'ok ' .. cleared .. ' ' .. kept
