-- Forgets an owner, in both directions.
-- KEYS: owners. ARGV: owner.
local owned = cjson.decode(redis.call('HGET', KEYS[1], 'o:' .. ARGV[1]) or '{}')
for memory in pairs(owned) do
  local owners = cjson.decode(redis.call('HGET', KEYS[1], 'm:' .. memory) or '{}')
  owners[ARGV[1]] = nil
  if next(owners) then
    redis.call('HSET', KEYS[1], 'm:' .. memory, cjson.encode(owners))
  else
    redis.call('HDEL', KEYS[1], 'm:' .. memory)
  end
end
redis.call('HDEL', KEYS[1], 'o:' .. ARGV[1])
return 'ok'
