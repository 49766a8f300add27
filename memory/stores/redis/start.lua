-- Notes since when the calls of an activity count that began late, unless it is noted; returns what stands.
-- ARGV: the time that is proposed, for how many ms it is kept.
return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'GET', 'PX', ARGV[2]) or ARGV[1]
