-- Removes keys of a memory that something else has put there, or whose form no script leaves, so that it can be cleared.
-- ARGV: limits (of which only the mode counts). No other part is needed: all of them would meet the damage.
if struct.unpack('>d', ARGV[1], 145) > 0 then
  return 'denied'
end
local KINDS = {
  'hash', 'hash', 'zset', 'zset', 'zset', 'zset', 'zset', 'hash', 'zset', 'zset', 'hash', 'string', 'hash', 'zset',
}
for i = 1, #KEYS do
  local kind = redis.call('TYPE', KEYS[i]).ok
  if kind ~= 'none' and kind ~= (KINDS[i] or 'zset') then
    redis.call('UNLINK', KEYS[i])
  end
end
local head = redis.call('HMGET', KEYS[1], 'life', 'counters', 'schema')
local whole = head[1] and #head[1] > 20 and head[2] and #head[2] >= 168
for i = 1, whole and 161 or 0, 8 do
  local counter = struct.unpack('>d', head[2], i)
  whole = whole and counter >= 0 and counter < 2 ^ 53 and counter % 1 == 0
end
if not whole and (tonumber(head[3]) or 0) <= 1 then
  redis.call('UNLINK', KEYS[1])
end
return 'ok'
