-- Prolongs the lease of a batch.
-- ARGV: limits, incarnation, fence, owner, batch id.
-- parts: keys limits batch
local holder = redis.call('GET', key.lease)
if batch_stopped(ARGV[2], ARGV[3], ARGV[4], ARGV[5]) or (holder and holder ~= ARGV[4]) then
  return 'lost'
end
take_lease(ARGV[4])
redis.call('HSET', key.batch, 'lease_ms', lease_ms)
return 'ok'
