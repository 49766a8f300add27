-- The counters of a memory. Writes nothing.
-- ARGV: limits.
-- Returns the list of backups that have not ended, then STATS, and at the end tokens and messages of each section.
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
local stats = {
  version = version_of(), waiting_tokens = m.waiting_tokens, waiting_messages = m.waiting_messages,
  flush_due = flush_due(), blocked = blocked, flushing_owner = redis.call('GET', key.lease) or '',
  flush_at = m.flush_at, flush_outcome = redis.call('HGET', key.meta, 'flush_outcome') or '',
  created_at = m.created_at, updated_at = m.updated_at, expires_at = m.expires_at,
  due_at = tonumber(due_at or 0) or damage('due_at is no number'),
}
local answer = {listed, <STATS: stats.%>, m.system_tokens, m.system_messages, m.long_tokens, m.long_messages}
for _, section in ipairs(sections) do
  for _, field in ipairs({'tokens', 'messages'}) do
    answer[#answer + 1] = sum_of(section.places, field)
  end
end
return answer
