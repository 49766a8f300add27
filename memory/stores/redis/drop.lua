-- The flush of a memory that drops: selects and removes in one step.
-- ARGV: limits, operation, digest, deadline, tag, force.
-- parts: state expiry operations groups order batch select
local op, digest, deadline, tag, force = ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5], ARGV[6] == '1'
if now > deadline then
  return 'expired'
end
local known = recall('p', op, digest)
local m = load()
if known then
  return known == 'reused' and known or concat({'ok', m and flush_due(m) or 0, known}, ' ')
end
if operations_full() then
  return 'operations'
end
if not m then
  remember(nil, 'p', op, digest, deadline, 'gone - 0 0 0 0 - ')
  return 'ok 0 gone - 0 0 0 0 - '
end
local tokens_before, messages_before = live_tokens(m), live_messages(m)
local taken = select(m, force)
local names = {}
if not taken.reason then
  local waiting, seqs, gone = call('ZRANGE', OVERFLOW, 0, -1), {}, {}
  for _, list in ipairs({waiting, taken.seqs}) do
    for _, seq in ipairs(list) do
      insert(seqs, seq)
    end
  end
  table.sort(seqs, function(a, b)
    return tonumber(a) < tonumber(b)
  end)
  for i, text in ipairs(records(seqs)) do
    names[i], gone[seqs[i]] = seqs[i] .. '-' .. match(text, '^..(....)'), true
  end
  command_on('ZREM', OVERFLOW, waiting)
  command_on('ZREM', SHORT, taken.seqs)
  for _, group in ipairs(taken.groups) do
    call('ZREM', EVICT, group)
    leave(group)
  end
  command_on('HDEL', MSG, seqs)
  drop_batch_with(gone)
  m.short_tokens, m.short_messages = m.short_tokens - taken.tokens, m.short_messages - taken.messages
  m.overflow_tokens, m.overflow_messages = 0, 0
  m.version, m.tag, m.updated_at = m.version + 1, tag, now
  m.flush_at, m.flush_outcome, m.flush_retry_at = now, 'dropped', 0
  inherit_expiry(m, {GROUPS, DEPARTED})
end
local result = concat({
  taken.reason and 'nothing' or 'dropped', taken.reason or '-', tokens_before, live_tokens(m), messages_before,
  live_messages(m), m.incarnation, concat(names, ','),
}, ' ')
remember(m, 'p', op, digest, deadline, result)
save(m)
return concat({'ok', flush_due(m), result}, ' ')
