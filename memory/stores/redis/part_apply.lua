-- Writing what was planned. What a key gains is written before what it loses: one that empties would forget its expiry.

-- Notes where a new message goes: among the fields of :msg, in the sorted sets, in the counters.
local function settle(plan, new, fields, ranks)
  local name = 'short'
  if new.late or plan.gone[new.group] then
    if not summarize then
      return
    end
    name = 'overflow'
  elseif new.section == 's' then
    name = 'system'
  end
  table.insert(ranks[name], new.group)
  table.insert(ranks[name], new.seq)
  m[name .. '_tokens'], m[name .. '_messages'] = m[name .. '_tokens'] + new.tokens, m[name .. '_messages'] + 1
  table.insert(fields, new.seq)
  table.insert(fields, new.section .. new.pin .. plan.tag .. new.tokens .. ' ' .. new.link .. ' ' .. new.payload)
  if name == 'short' and pinned(new.pin) then
    table.insert(ranks.pinned, new.group)
    table.insert(ranks.pinned, new.seq)
    m.pinned_tokens, m.pinned_messages = m.pinned_tokens + new.tokens, m.pinned_messages + 1
  elseif name == 'short' and scoring ~= 'fifo' and (new.seq == new.group or scoring == 'lru') then
    table.insert(ranks.evict, first_score(new.group, new.pin))
    table.insert(ranks.evict, new.group)
  end
end

-- Returns the keys that this may have created.
local function apply_plan(plan)
  local fields, removed, ranks = {}, {}, {system = {}, short = {}, overflow = {}, pinned = {}, evict = {}}
  for _, new in ipairs(plan.news) do
    settle(plan, new, fields, ranks)
  end
  for _, out in ipairs(plan.out) do
    for i, seq in ipairs(out.seqs) do
      local tokens = tokens_of(out.texts[i])
      removed[#removed + 1] = seq
      m.short_tokens, m.short_messages = m.short_tokens - tokens, m.short_messages - 1
      if summarize then
        table.insert(ranks.overflow, out.group)
        table.insert(ranks.overflow, seq)
        m.overflow_tokens, m.overflow_messages = m.overflow_tokens + tokens, m.overflow_messages + 1
      end
    end
  end
  local touched = {key.msg, key.groups, key.departed}
  command_on('HSET', key.msg, fields)
  for name, pairs_of in pairs(ranks) do
    if #pairs_of > 0 then
      command_on('ZADD', key[name], pairs_of)
      touched[#touched + 1] = key[name]
    end
  end
  command_on('ZREM', key.short, removed)
  if not summarize and #removed > 0 then
    command_on('HDEL', key.msg, removed)
    drop_batch_with(removed)
  end
  for group, state in pairs(plan.states) do
    redis.call('HSET', key.groups, 'm:' .. group, group_text(state))
  end
  for id, seen in pairs(plan.calls) do
    redis.call('HSET', key.groups, 'c:' .. id, seen)
  end
  for _, out in ipairs(plan.out) do
    redis.call('ZREM', key.evict, out.group)
    leave(out.group)
  end
  m.seq = m.seq + #plan.news
  m.version, m.tag, m.updated_at = m.version + 1, plan.tag, now
  return touched
end
