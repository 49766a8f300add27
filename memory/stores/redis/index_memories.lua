-- Lists keys of a resource's memories in the order of their bytes, so that one that is seen again stays where it is.
-- KEYS: index of the resource, all that is registered, bindings, names, resources.
-- ARGV: how many, then pairs of bounds as ZRANGE takes them.
-- Returns `more` or `last`, the time, and the keys.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
if redis.call('ZCARD', KEYS[1]) ~= redis.call('ZCARD', KEYS[4]) then
  -- Something else removed the names, maybe since the error of a key of the wrong type said so.
  redis.call('ZUNIONSTORE', KEYS[4], 1, KEYS[1], 'WEIGHTS', 0)
end
local count, found = tonumber(ARGV[1]), {}
for i = 2, #ARGV, 2 do
  for _, key in ipairs(redis.call('ZRANGE', KEYS[4], ARGV[i], ARGV[i + 1], 'BYLEX', 'LIMIT', 0, count - #found + 1)) do
    if #found == count then
      return {'more', now, unpack(found)}
    end
    found[#found + 1] = key
  end
end
return {'last', now, unpack(found)}
