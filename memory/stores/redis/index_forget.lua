-- Removes a memory that is gone, with what is known of its owners.
-- KEYS: index of the resource, due, owners. ARGV: key of the memory, memory.
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[2])
local memory = ARGV[2]
for owner in pairs(cjson.decode(redis.call('HGET', KEYS[3], 'm:' .. memory) or '{}')) do
  local owned = cjson.decode(redis.call('HGET', KEYS[3], 'o:' .. owner) or '{}')
  owned[memory] = nil
  if next(owned) then
    redis.call('HSET', KEYS[3], 'o:' .. owner, cjson.encode(owned))
  else
    redis.call('HDEL', KEYS[3], 'o:' .. owner)
  end
end
redis.call('HDEL', KEYS[3], 'm:' .. memory)
return 'ok'
