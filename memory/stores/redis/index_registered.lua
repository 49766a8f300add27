-- Lists all registered memories of a project, those registered longest ago first.
-- KEYS: all that is registered. ARGV: score and member of the last one listed (empty at first), how many.
-- Returns `more` or `last`, the score of the last one, the time, and the members.

-- In the order of the set, which is that of bytes: an operator would compare by the locale of the server.
local function is_behind(member, other)
  for i = 1, math.min(#member, #other) do
    local byte, other_byte = string.byte(member, i), string.byte(other, i)
    if byte ~= other_byte then
      return byte > other_byte
    end
  end
  return #member > #other
end

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local after, last, count = ARGV[1], ARGV[2], tonumber(ARGV[3])
local first = 0
if after ~= '' then
  first = redis.call('ZCOUNT', KEYS[1], '-inf', '(' .. after)
end
local members, score = {}, after
while true do
  local page = redis.call('ZRANGE', KEYS[1], first, first + count, 'WITHSCORES')
  for i = 1, #page, 2 do
    if page[i + 1] ~= after or is_behind(page[i], last) then
      if #members == count then
        return {'more', score, now, unpack(members)}
      end
      members[#members + 1], score = page[i], page[i + 1]
    end
  end
  if #page < 2 * (count + 1) then
    return {'last', score, now, unpack(members)}
  end
  first = first + count + 1
end
