-- Gives a batch and its lease back; nobody begins again before the given time, unless forced.
-- ARGV: limits, incarnation, fence, owner, batch id, type of the error, retry after.
-- parts: keys state batch
local stopped = batch_stopped(ARGV[2], ARGV[3], ARGV[4], ARGV[5])
if stopped then
  return stopped
end
drop_batch()
m.flush_at, m.flush_retry_at = now, now + tonumber(ARGV[7])
redis.call('HSET', key.meta, 'flush_outcome', 'failed: ' .. ARGV[6])
save()
return 'ok'
