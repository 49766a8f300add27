-- Summaries of before, where a memory drops: nobody makes them smaller, so the oldest go until the others fit.
-- needs: keys limits state records
-- gives: summaries_leaving remove_summaries

-- Returns the numbers and tokens of those that go, so that the others fit beside so many tokens and messages.
local function summaries_leaving(tokens, messages)
  local leaving, left, count = {}, m.long_tokens, m.long_messages
  if summarize or not too_large(left, count, tokens, messages) then
    return leaving, 0
  end
  local seqs = redis.call('ZRANGE', key.long, 0, -1)
  for i, text in ipairs(records(seqs)) do
    if not too_large(left, count, tokens, messages) then
      break
    end
    leaving[i], left, count = seqs[i], left - tokens_of(text), count - 1
  end
  return leaving, m.long_tokens - left
end

-- Takes them out of view and counters; whoever calls removes the records.
local function remove_summaries(seqs, tokens)
  command_on('ZREM', key.long, seqs)
  m.long_tokens, m.long_messages = m.long_tokens - tokens, m.long_messages - #seqs
end
