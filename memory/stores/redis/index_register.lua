-- Notes that a memory is written to, and by whom. Of an owner's runs the eight seen last stay bound: a straggler of an
-- ended run must not hide the one that took the memory over.
-- KEYS: index of the resource, due, owners, names. ARGV: key of the memory, memory, owner (may be empty), run id.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local memory, owner, run = ARGV[2], ARGV[3], ARGV[4]
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZADD', KEYS[2], 'NX', now, memory)
redis.call('ZADD', KEYS[4], 0, ARGV[1])
if owner == '' then
  return 'ok'
end
local owned = cjson.decode(redis.call('HGET', KEYS[3], 'o:' .. owner) or '{}')
local runs = owned[memory] or {}
runs[run] = now
local count, oldest = 0, run
for id, at in pairs(runs) do
  count = count + 1
  if at < runs[oldest] then
    oldest = id
  end
end
if count > 8 then
  runs[oldest] = nil
end
owned[memory] = runs
redis.call('HSET', KEYS[3], 'o:' .. owner, cjson.encode(owned))
local owners = cjson.decode(redis.call('HGET', KEYS[3], 'm:' .. memory) or '{}')
owners[owner] = true
redis.call('HSET', KEYS[3], 'm:' .. memory, cjson.encode(owners))
return 'ok'
