-- The counters of a memory. Writes nothing.
-- ARGV: limits.
-- parts: state groups order select
local m = load()
if not m then
  return {}
end
local blocked = flush_due(m) == 1 and select(m, false).reason or ''
return {
  version_of(m), m.system_tokens, m.long_tokens, m.short_tokens, m.system_messages, m.long_messages, m.short_messages,
  m.overflow_tokens, m.overflow_messages, flush_due(m), blocked, call('GET', LEASE) or '', m.flush_at, m.flush_outcome,
  m.created_at, m.updated_at, m.expires_at,
}
