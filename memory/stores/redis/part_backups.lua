-- Backups of a memory: copies of its keys under names and a lifetime of their own, and the list of them. Their keys
-- stand behind those of the memory: the list, then the copies.
-- needs: keys expiry names
-- gives: backups copies each_copy backup_ends tidy_backups

local backups, copies = KEYS[last_key + 1], {}
for i = last_key + 2, #KEYS do
  copies[string.match(KEYS[i], '}:backup:[^:]*:(.*)$')] = KEYS[i]
end

-- Calls f with each key of a memory that is part of a backup, and the name of its copy.
local function each_copy(f)
  for _, name in ipairs(mortal()) do
    local copy = copies[string.match(name, '}:(.*)$')]
    if copy then
      f(name, copy)
    end
  end
end

-- Returns when a backup ends, or nil. An entry of the list is `<created> <ends> <messages>`.
local function backup_ends(id)
  local ends = is_backup_id(id) and tonumber(string.match(redis.call('HGET', backups, id) or '', '^%d+ (%d+) %d+$'))
  return ends and ends > now and ends or nil
end

-- Takes out of the list what has ended, and what something else has put there.
local function tidy_backups()
  local kind = redis.call('TYPE', backups).ok
  if kind ~= 'hash' and kind ~= 'none' then
    redis.call('UNLINK', backups)
  end
  for _, id in ipairs(redis.call('HKEYS', backups)) do
    if not backup_ends(id) then
      redis.call('HDEL', backups, id)
    end
  end
end
