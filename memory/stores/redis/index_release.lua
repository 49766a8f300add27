-- Forgets an owner of some memories in both directions, of those only that are noted as ending.
-- KEYS: owners. ARGV: owner, memories.
local owner = ARGV[1]
local owned = cjson.decode(redis.call('HGET', KEYS[1], 'o:' .. owner) or '{}')
for i = 2, #ARGV do
  local memory = ARGV[i]
  local owners = cjson.decode(redis.call('HGET', KEYS[1], 'm:' .. memory) or '{}')
  if owned[memory] and not owners[owner] then
    owned[memory], owners[owner] = nil, nil
    if next(owners) then
      redis.call('HSET', KEYS[1], 'm:' .. memory, cjson.encode(owners))
    else
      redis.call('HDEL', KEYS[1], 'm:' .. memory)
    end
  end
end
if next(owned) then
  redis.call('HSET', KEYS[1], 'o:' .. owner, cjson.encode(owned))
else
  redis.call('HDEL', KEYS[1], 'o:' .. owner)
end
return 'ok'
