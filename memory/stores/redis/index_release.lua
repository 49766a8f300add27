-- Forgets an owner in both directions, of those memories only that are noted as ending.
-- KEYS: owners. ARGV: owner.
local owner = ARGV[1]
local owned = cjson.decode(redis.call('HGET', KEYS[1], 'o:' .. owner) or '{}')
local kept = {}
for memory, runs in pairs(owned) do
  local owners = cjson.decode(redis.call('HGET', KEYS[1], 'm:' .. memory) or '{}')
  if owners[owner] then
    kept[memory] = runs
  else
    owners[owner] = nil
    if next(owners) then
      redis.call('HSET', KEYS[1], 'm:' .. memory, cjson.encode(owners))
    else
      redis.call('HDEL', KEYS[1], 'm:' .. memory)
    end
  end
end
if next(kept) then
  redis.call('HSET', KEYS[1], 'o:' .. owner, cjson.encode(kept))
else
  redis.call('HDEL', KEYS[1], 'o:' .. owner)
end
return 'ok'
