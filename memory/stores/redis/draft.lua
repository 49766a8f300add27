-- Stores the finished summary in the batch.
-- ARGV: limits, incarnation, fence, owner, batch id, payload, tokens.
-- parts: state batch
local stopped = batch_stopped(load(), ARGV[2], ARGV[3], ARGV[4], ARGV[5])
if stopped then
  return stopped
end
call('HSET', BATCH, 'draft', ARGV[6], 'draft_tokens', ARGV[7])
return 'ok'
