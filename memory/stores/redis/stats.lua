-- The counters of a memory. Writes nothing.
-- ARGV: limits.
-- Returns them, and at the end tokens and messages of each section of the conversation.
-- parts: state groups order select
if not m then
  return {}
end
weighs = false -- whether anything can be taken is the same in any order
local blocked = flush_due() == 1 and select(false).reason or ''
local answer = {
  version_of(), m.system_tokens, m.system_messages, m.long_tokens, m.long_messages,
  m.overflow_tokens, m.overflow_messages, flush_due(), blocked, redis.call('GET', key.lease) or '',
  m.flush_at, redis.call('HGET', key.meta, 'flush_outcome') or '',
  m.created_at, m.updated_at, m.expires_at, tonumber(redis.call('HGET', key.meta, 'due_at') or 0),
}
for _, section in ipairs(sections) do
  for _, field in ipairs({'tokens', 'messages'}) do
    answer[#answer + 1] = sum_of(section.places, field)
  end
end
return answer
