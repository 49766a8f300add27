-- Notes what a worker of a queue declares, and forgets the workers that said nothing for too long.
-- KEYS: the hash of the workers, each with the time until which it is noted and its fingerprint.
-- ARGV: worker, fingerprint, for how many ms it is kept.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local noted = redis.call('HGETALL', KEYS[1])
for i = 1, #noted, 2 do
  if tonumber(string.match(noted[i + 1], '^%d+')) <= now then
    redis.call('HDEL', KEYS[1], noted[i])
  end
end
redis.call('HSET', KEYS[1], ARGV[1], string.format('%d %s', now + ARGV[3], ARGV[2]))
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
