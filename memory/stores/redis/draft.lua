-- Stores the finished summary in the batch.
-- ARGV: limits, incarnation, fence, owner, batch id, payload, tokens.
-- parts: keys batch
local stopped = batch_stopped(ARGV[2], ARGV[3], ARGV[4], ARGV[5])
if stopped then
  return stopped
end
redis.call('HSET', key.batch, 'draft', ARGV[6], 'draft_tokens', ARGV[7])
return 'ok'
