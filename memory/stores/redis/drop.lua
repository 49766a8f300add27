-- The flush of a memory that drops: selects and removes in one step.
-- ARGV: limits, operation, digest, deadline, tag, force, messages at most; the thresholds of this call, if it has its
-- own: tokens, messages, tokens of each section.
-- parts: may_change call
local refused = change_refused() or deadline_refused()
if refused then
  return refused
end
-- parts: keys limits sections state expiry operations records groups batch order summaries select bound
local tag, force = ARGV[5], ARGV[6] == '1'
local known = recall('p', op, digest)
if known then
  return known == 'reused' and known or table.concat({'again', m and flush_due() or 0, known}, ' ')
end
if operations_full() then
  return 'operations'
end
if not m then
  remember('p', op, digest, deadline, 'gone - 0 0 0 0 - ')
  return 'ok 0 gone - 0 0 0 0 - '
end
local tokens_before, messages_before = live_tokens(), live_messages()
adopt_policy()

-- Puts these thresholds in force, and returns those that were.
local function exchange(thresholds)
  local before = {due_tokens, due_messages}
  due_tokens, due_messages = tonumber(thresholds[1]), tonumber(thresholds[2])
  for i, section in ipairs(sections) do
    before[i + 2], section.due = section.due, tonumber(thresholds[i + 2] or INF)
  end
  return before
end

-- Those of this call only choose: what is noted and answered goes by the declared ones.
local declared = #ARGV > 7 and exchange({unpack(ARGV, 8)})
local taken = select_groups(force)
if declared then
  exchange(declared)
end
bound(taken, tonumber(ARGV[7]))
local names = {}
if not taken.reason then
  local seqs, tokens = seqs_of(taken), 0
  for i, text in ipairs(records(seqs)) do
    names[i] = seqs[i] .. '-' .. string.match(text, '^..(....)')
    tokens = tokens + tokens_of(text)
  end
  for _, one in ipairs(taken.waiting) do
    command_on('ZREM', key.overflow, one.seqs)
  end
  for _, one in ipairs(taken.groups) do
    local place = one.place
    command_on('ZREM', place.order, one.seqs)
    redis.call('ZREM', place.evict, one.group)
    leave(one.group)
    place.tokens, place.messages = place.tokens - one.tokens, place.messages - #one.seqs
  end
  remove_summaries(taken.summaries, taken.summary_tokens)
  command_on('HDEL', key.msg, seqs)
  drop_batch_with(seqs)
  tokens = tokens - taken.tokens - taken.summary_tokens
  m.waiting_tokens, m.waiting_messages = m.waiting_tokens - tokens, m.waiting_messages - taken.waiting_messages
  m.version, m.tag, m.updated_at = m.version + 1, tag, now
  m.flush_at, m.flush_retry_at = now, 0
  redis.call('HSET', key.meta, 'flush_outcome', 'dropped')
  inherit_expiry({key.groups, key.departed})
  note_due_anew()
end
local result = table.concat({
  taken.reason and 'nothing' or 'dropped', taken.reason or '-', tokens_before, live_tokens(), messages_before,
  live_messages(), m.incarnation, table.concat(names, ','),
}, ' ')
remember('p', op, digest, deadline, result)
save()
return table.concat({'ok', flush_due(), result}, ' ')
