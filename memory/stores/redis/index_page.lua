-- Lists memories of a resource by the time they were last seen. A memory seen again meanwhile moves to the end: it may come
-- twice, never not at all.
-- KEYS: index of the resource. ARGV: score and key of the last one listed (empty at first), how many.
-- Returns `more` or `last`, the score of the last one, and the keys.
local after, last, count = ARGV[1], ARGV[2], tonumber(ARGV[3])
local first = 0
if after ~= '' then
  first = redis.call('ZCOUNT', KEYS[1], '-inf', '(' .. after)
end
local keys, score = {}, after
while true do
  local page = redis.call('ZRANGE', KEYS[1], first, first + count, 'WITHSCORES')
  for i = 1, #page, 2 do
    if page[i + 1] ~= after or page[i] > last then
      if #keys == count then
        return {'more', score, unpack(keys)}
      end
      keys[#keys + 1], score = page[i], page[i + 1]
    end
  end
  if #page < 2 * (count + 1) then
    return {'last', score, unpack(keys)}
  end
  first = first + count + 1
end
