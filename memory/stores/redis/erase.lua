-- Removes a memory for good, with all backups of it: all but the record of operations, which holds no content. A memory
-- that was born later than it may have been is kept, but not the backups of those before it.
-- ARGV: limits, the latest moment of its birth (ms).
-- Returns `ok <version or -> <messages> <backups> <1 if a memory was kept>`, or `backups <id ...>`: the driver asks
-- again with their keys.
-- parts: may_change
local refused = change_refused()
if refused then
  return refused
end
-- parts: keys state expiry names
local born_until = tonumber(ARGV[2])
local list, given = KEYS[last_key + 1], {}
for i = last_key + 2, #KEYS do
  given[string.match(KEYS[i], '}:backup:(.*)$')] = KEYS[i]
end
local ids = redis.call('TYPE', list).ok == 'hash' and redis.call('HGETALL', list) or {}
local unknown, sections_of = {}, {}
for i = 1, #ids, 2 do
  local meta = given[ids[i] .. ':meta']
  if not is_backup_id(ids[i]) then
    ids[i + 1] = '' -- Something else has put it there. It goes with the list.
  elseif not meta then
    unknown[#unknown + 1] = ids[i]
  else
    for name in string.gmatch(redis.call('HGET', meta, 'sections') or '', '%a (%S+) %d+ %d+ %d+ %d+') do
      if is_section_name(name) and not given[ids[i] .. ':order:' .. name] then
        sections_of[#sections_of + 1] = name
      end
    end
  end
end
if #unknown > 0 then
  return 'backups ' .. table.concat(unknown, ' ')
end
if #sections_of > 0 then
  return 'sections ' .. table.concat(sections_of, ' ')
end

local backups = 0
for i = 2, #ids, 2 do
  if tonumber(string.match(ids[i], '^%d+ (%d+)') or 0) > now then
    backups = backups + 1
  end
end
for i = last_key + 1, #KEYS do
  redis.call('UNLINK', KEYS[i])
end
if m and m.created_at > born_until then
  return 'ok - 0 ' .. backups .. ' 1'
end
local version, messages = m and version_of() or '-', m and live_messages() + m.waiting_messages or 0
redis.call('UNLINK', key.lease, unpack(mortal()))
return table.concat({'ok', version, messages, backups, 0}, ' ')
