-- Notes that a memory is written to, and by whom. Of an owner's runs those seen last stay bound.
-- KEYS: index of the resource, all that is registered, bindings, names, resources.
-- ARGV: key of the memory, memory, resource, owner (may be empty, or ENDLESS), run.
-- parts: bindings
-- numbers: BOUND_RUNS
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local bindings, memory, owner, run = KEYS[3], ARGV[2], ARGV[4], ARGV[5]
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZADD', KEYS[2], 'NX', now, memory)
redis.call('ZADD', KEYS[4], 0, ARGV[1])
redis.call('SADD', KEYS[5], ARGV[3])
if owner == '' then
  return 'ok'
end
if owner == ENDLESS then
  redis.call('ZADD', bindings, 0, 'm:' .. memory .. ' ' .. owner)
  return 'ok'
end
local words = 'o:' .. owner .. ' ' .. memory
local others, oldest, oldest_ms = 0, nil, math.huge
for _, entry in ipairs(entries_of(bindings, words)) do
  local bound, ms = string.match(entry, ' ([^ ]+) (%d+)$')
  if bound == run then
    redis.call('ZREM', bindings, entry)
  else
    others = others + 1
    if tonumber(ms) < oldest_ms then
      oldest, oldest_ms = entry, tonumber(ms)
    end
  end
end
if others >= BOUND_RUNS then
  redis.call('ZREM', bindings, oldest)
end
redis.call('ZADD', bindings, 0, string.format('%s %s %.0f', words, run, now), 0, 'm:' .. memory .. ' ' .. owner)
return 'ok'
