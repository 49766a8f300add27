-- Forgets a worker of a queue. KEYS: the hash of the workers. ARGV: worker.
return redis.call('HDEL', KEYS[1], ARGV[1])
