-- What is stored of a memory, in numbers: who it is, its counters, its user-defined sections.
-- needs: forms keys
-- gives: damage incarnation last_tag policy stored_sections due_at
-- gives: <COUNTERS>

local function damage(what)
  error(redis.error_reply('DAMAGED ' .. what))
end

local incarnation, last_tag, policy -- no incarnation, no memory
local <COUNTERS>
local stored_sections
local due_at -- since when a flush is due, or false
do
  local found = redis.call('HMGET', key.meta, 'life', 'counters', 'sections', 'due_at')
  local life, ended = found[1], false
  if life then
    incarnation, last_tag, policy = string.sub(life, 1, INCARNATION_ENDS),
      string.sub(life, INCARNATION_ENDS + 1, TAG_ENDS), string.sub(life, TAG_ENDS + 1)
    <COUNTERS> = struct.unpack(COUNTERS, found[2])
    -- In its last millisecond a memory is still there, but a key that a script would give its end now would be gone at
    -- once.
    ended = expires_at > 0 and expires_at <= now
    if ended then
      incarnation = nil
    end
  end
  stored_sections, due_at = incarnation and found[3], found[4]
  if stored_sections then
    local unknown = {}
    for name in string.gmatch(stored_sections, '%a (%S+) %d+ %d+ %d+ %d+') do
      if not section_keys[name] then
        unknown[#unknown + 1] = name
      end
    end
    if #unknown > 0 then
      return 'sections ' .. table.concat(unknown, ' ') -- The driver asks again with their keys.
    end
  end

  -- A later form of memories has another head. It must not look absent: the next append would be a birth and replace
  -- it.
  if not incarnation and not ended and redis.call('EXISTS', key.meta) == 1 then
    if (tonumber(redis.call('HGET', key.meta, 'schema')) or 0) > SCHEMA then
      error(redis.error_reply('NEWER'))
    end
    damage('its head is missing')
  end
end
