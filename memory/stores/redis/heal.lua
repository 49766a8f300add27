-- Removes keys of a memory that something else has put there, or whose form no script leaves, so that it can be
-- cleared.
-- ARGV: limits (of which only the mode counts). All other parts would meet the damage.
-- parts: forms
if ({struct.unpack(LIMITS, ARGV[1])})[MODE] > 0 then
  return 'denied'
end
-- parts: keys names
local kinds = {
  [key.meta] = 'hash', [key.msg] = 'hash', [key.groups] = 'hash', [key.batch] = 'hash', [key.ops] = 'hash',
  [key.lease] = 'string',
} -- all others are sorted sets
for i = 1, #KEYS do
  local kind = redis.call('TYPE', KEYS[i]).ok
  if kind ~= 'none' and kind ~= (kinds[KEYS[i]] or 'zset') then
    redis.call('UNLINK', KEYS[i])
  end
end
local life, counters, schema, sections =
  unpack(redis.call('HMGET', key.meta, 'life', 'counters', 'schema', 'sections'))
local whole = life and #life > TAG_ENDS and counters and #counters >= struct.size(COUNTERS)
for _, counter in ipairs(whole and {struct.unpack(COUNTERS, counters)} or {}) do
  whole = whole and counter >= 0 and counter < 2 ^ 53 and counter % 1 == 0
end
for name in string.gmatch(sections or '', '%a (%S+) %d+ %d+ %d+ %d+') do
  whole = whole and is_section_name(name)
end
if not whole and (tonumber(schema) or 0) <= SCHEMA then
  redis.call('UNLINK', key.meta)
end
return 'ok'
