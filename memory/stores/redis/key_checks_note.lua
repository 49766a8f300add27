-- Notes the checks of encryption keys whose ids are not noted; returns all that stand.
-- KEYS: the hash of the project. ARGV: id, check, …; none only asks, which a full Redis and a replica answer, too.
for i = 1, #ARGV, 2 do
  redis.call('HSETNX', KEYS[1], ARGV[i], ARGV[i + 1])
end
return redis.call('HGETALL', KEYS[1])
