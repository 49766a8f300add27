-- What a flush would take now, by the same selection as begin and drop. Writes nothing.
-- ARGV: limits, force, messages at most.
-- Returns as begin, or `plan <due> <incarnation> <tokens and messages before and afterwards> <seq-tag,...>`. Afterwards
-- a summary is counted as large as it may become.
-- parts: keys limits state records order select bound
local force, most = ARGV[2] == '1', tonumber(ARGV[3])
if not m then
  return 'gone'
end
if summarize and redis.call('EXISTS', key.lease) == 1 then
  return 'busy ' .. math.max(1, math.min(redis.call('PTTL', key.lease), lease_ms))
end
if summarize and m.flush_retry_at > now and m.flush_at <= now and not force then
  return 'busy ' .. m.flush_retry_at - now
end
preview_policy()
local taken = select_groups(force)
bound(taken, most)
if taken.reason then
  return table.concat({'nothing', taken.reason, live_tokens(), live_messages(), flush_due()}, ' ')
end
local tokens, messages = live_tokens() - taken.tokens - taken.summary_tokens,
  live_messages() - taken.messages - #taken.summaries
if summarize then
  local along = summaries_along()
  for _, text in ipairs(records(along)) do
    tokens = tokens - tokens_of(text)
  end
  tokens, messages = tokens + summary_tokens, messages - #along + 1
end
local seqs, names = seqs_of(taken), {}
for i, text in ipairs(records(seqs)) do
  names[i] = seqs[i] .. '-' .. string.match(text, '^..(....)')
end
return table.concat({
  'plan', flush_due(), m.incarnation, live_tokens(), tokens, live_messages(), messages, table.concat(names, ','),
}, ' ')
