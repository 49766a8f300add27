-- Notes the checks of encryption keys whose ids are not noted; returns all that stand.
-- Only of a process that has a key which is noted already, or if none is: of two that begin with different keys at the
-- same time, one is the first.
-- KEYS: the hash of the project. ARGV: id, check, …; none only asks, which a full Redis and a replica answer, too.
local is_known = redis.call('EXISTS', KEYS[1]) == 0
for i = 1, #ARGV, 2 do
  is_known = is_known or redis.call('HGET', KEYS[1], ARGV[i]) == ARGV[i + 1]
end
for i = 1, is_known and #ARGV or 0, 2 do
  redis.call('HSETNX', KEYS[1], ARGV[i], ARGV[i + 1])
end
return redis.call('HGETALL', KEYS[1])
