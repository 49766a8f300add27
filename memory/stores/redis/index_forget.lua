-- Removes a memory that is gone, unless it was registered meanwhile. Its owners stay bound until they end, or until
-- index_release_gone: a run that goes on writes to a memory that another one made anew without being registered again.
-- KEYS: index of the resource, all that is registered, bindings, names, resources.
-- ARGV: key of the memory, memory, resource, as of when it is gone (ms).
-- Returns 1 or 0.
-- parts: bindings
local seen = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or 0)
if seen >= tonumber(ARGV[4]) then
  return 0
end
redis.call('ZREM', KEYS[4], ARGV[1])
redis.call('ZREM', KEYS[3], 'm:' .. ARGV[2] .. ' ' .. ENDLESS)
local known = redis.call('ZREM', KEYS[1], ARGV[1]) + redis.call('ZREM', KEYS[2], ARGV[2])
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('SREM', KEYS[5], ARGV[3])
end
return known > 0 and 1 or 0
