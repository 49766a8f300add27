-- Pins the whole groups of messages, or unpins them.
-- ARGV: limits, operation, digest, deadline, tag, `p` or `-`, ids.
-- Returns `ok <position ...>` of those that are live messages.
-- parts: may_change call
local refused = change_refused() or deadline_refused()
if refused then
  return refused
end
-- parts: keys limits sections state expiry operations records groups ids batch order rooms
local tag, to_pin = ARGV[5], ARGV[6] == 'p'
local kind = to_pin and 'n' or 'u'
local known = recall(kind, op, digest)
if known then
  return known == 'reused' and known or 'ok ' .. known
end
if operations_full() then
  return 'operations'
end
local live, groups, seen = {}, {}, {}
local seqs, touched = {}, {key.pinned, key.groups}
for i = 7, m and #ARGV or 0 do
  local seq, text, section, group = find(ARGV[i])
  if seq and section ~= 'l' and redis.call('ZSCORE', order_of(section), seq) then
    live[#live + 1] = i - 7
    -- System messages never go, pinned or not; what they were appended as stays.
    if section ~= 's' and not seen[group] and pinned(string.sub(text, 2, 2)) ~= to_pin then
      seen[group] = true
      local mark, place = mark_as(string.sub(text, 2, 2), to_pin), places[section]
      local one = {
        group = group, mark = mark, place = place, state = group_state(group), seqs = members(place.order, group),
        tokens = 0,
      }
      one.texts = records(one.seqs)
      for j, member in ipairs(one.seqs) do
        seqs[#seqs + 1] = member
        one.tokens = one.tokens + tokens_of(one.texts[j])
      end
      groups[#groups + 1] = one
    end
  end
end
if to_pin and #groups > 0 then
  local plan = {arrives = {}, fixed = {}, fixed_tokens = fixed_tokens(), fixed_messages = fixed_messages() + #seqs}
  for _, one in ipairs(groups) do
    local section = one.place.section
    plan.arrives[section], plan.fixed[section] = true, (plan.fixed[section] or 0) + one.tokens
    plan.fixed_tokens = plan.fixed_tokens + one.tokens
  end
  refused = fixed_refuses(plan)
  if refused then
    return refused
  end
end

if #groups > 0 then
  adopt_policy()
  for _, one in ipairs(groups) do
    for i, seq in ipairs(one.seqs) do
      redis.call('HSET', key.msg, seq, string.sub(one.texts[i], 1, 1) .. one.mark .. string.sub(one.texts[i], 3))
      if to_pin then
        redis.call('ZADD', key.pinned, one.group, seq)
      else
        redis.call('ZREM', key.pinned, seq)
      end
    end
    if one.state then
      one.state.pin = one.mark
      redis.call('HSET', key.groups, 'm:' .. one.group, group_text(one.state))
    end
    if to_pin then
      redis.call('ZREM', one.place.evict, one.group)
    elseif scoring ~= 'fifo' then
      redis.call('ZADD', one.place.evict, first_score(one.group, one.mark), one.group) -- it counts as appended anew
    end
    touched[#touched + 1] = one.place.evict
    local sign = to_pin and 1 or -1
    one.place.pinned_tokens = one.place.pinned_tokens + sign * one.tokens
    one.place.pinned_messages = one.place.pinned_messages + sign * #one.seqs
  end
  if to_pin then
    drop_batch_with(seqs) -- its commit would take what must stay
  end
  m.version, m.tag, m.updated_at = m.version + 1, tag, now
end
local answer = table.concat(live, ' ')
remember(kind, op, digest, deadline, answer)
if #groups > 0 then
  prolong(touched)
  note_due()
end
if m then
  save()
end
return 'ok ' .. answer
