-- The counters of a memory. Writes nothing.
-- ARGV: limits.
-- Returns the list of backups that have not ended, then the counters, and at the end tokens and messages of each
-- section of the conversation.
-- parts: keys head sections state backups select
local listed = {}
for _, id in ipairs(redis.call('HKEYS', backups)) do
  if backup_ends(id) then
    listed[#listed + 1] = id
    listed[#listed + 1] = redis.call('HGET', backups, id)
  end
end
if not m then
  return {listed}
end
-- What waits can always be taken; else one group that can go tells as much as all that would.
local blocked = flush_due() == 1 and m.waiting_messages == 0 and select_groups(false, 1).reason or ''
local answer = {
  listed, version_of(), m.system_tokens, m.system_messages, m.long_tokens, m.long_messages,
  m.waiting_tokens, m.waiting_messages, flush_due(), blocked, redis.call('GET', key.lease) or '',
  m.flush_at, redis.call('HGET', key.meta, 'flush_outcome') or '',
  m.created_at, m.updated_at, m.expires_at, tonumber(due_at or 0),
}
for _, section in ipairs(sections) do
  for _, field in ipairs({'tokens', 'messages'}) do
    answer[#answer + 1] = sum_of(section.places, field)
  end
end
return answer
