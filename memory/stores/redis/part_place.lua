-- Placing messages: plan everything, refuse or write. Shared by append and write.
-- ARGV[first], ARGV[first + 1] and so on are pairs of head and payload. A head is `<section><pin><tokens>`, and behind
-- a space `a=<call id>` for a result or `o=<call ids>` for tool calls. ARGV[5] is the tag of the operation.

-- A refusal is a word that the driver turns into an error, with its numbers.
local function refusal(...)
  return table.concat({...}, ' ')
end

-- Where a call id was seen, with what this batch adds to it.
local function seen_of(plan, id)
  local seen = plan.calls[id]
  if not seen and not plan.fresh then
    seen = redis.call('HGET', key.groups, 'c:' .. id) or nil
  end
  return seen
end

local function open_group(plan, new, ids)
  local state = {missing = 0, touched = now, tokens = new.tokens, messages = 1, pin = new.pin, calls = ids}
  new.link, plan.states[new.seq] = new.seq, state
  for id in string.gmatch(ids, '%S+') do
    local seen = seen_of(plan, id)
    state.missing = state.missing + 1
    plan.calls[id] = (seen and seen .. ' ' or '') .. new.seq .. 'w'
  end
end

-- A result goes to the oldest group that waits for its call, live ones first. Returns a refusal, or nil.
local function answer_call(plan, new, id)
  local seen = seen_of(plan, id)
  if not seen then
    return refusal('unseen', new.position)
  end
  local from, to, group = string.find(seen, '(%d+)w')
  new.late = not from
  if new.late then
    from, to, group = string.find(seen, '(%d+)l')
  end
  if not from then
    return refusal('answered', new.position)
  end
  plan.calls[id] = string.sub(seen, 1, to - 1) .. (new.late and 'x' or 'd') .. string.sub(seen, to + 1)
  group = tonumber(group)
  local state = plan.states[group] or group_state(group) or damage('a group has no state')
  plan.states[group], new.group, new.link = state, group, group
  state.missing = state.missing - 1
  if new.late then
    new.pin = '-'
    plan.late, plan.late_tokens = plan.late + 1, plan.late_tokens + new.tokens
    return nil
  end
  new.pin = state.pin
  state.touched, state.tokens, state.messages = now, state.tokens + new.tokens, state.messages + 1
  if state.tokens > room_tokens then
    return refusal('group', new.position, 'tokens', state.tokens, room_tokens)
  end
  if state.messages > room_messages then
    return refusal('group', new.position, 'messages', state.messages, room_messages)
  end
  return nil
end

-- Returns a plan with the place of each message, or nil and the refusal. fresh: nothing that is stored counts any more.
local function plan_messages(first, fresh)
  local plan = {
    fresh = fresh, tag = ARGV[5], news = {}, states = {}, calls = {}, gone = {}, out = {},
    late = 0, late_tokens = 0, evicted = 0,
    tokens = m.system_tokens + m.short_tokens, messages = m.system_messages + m.short_messages,
  }
  local fixed_tokens = m.system_tokens + m.pinned_tokens
  local fixed_messages = m.system_messages + m.pinned_messages
  local fixes = false
  for i = first, #ARGV, 2 do
    local section, pin, tokens, rest = string.match(ARGV[i], '^(.)(.)(%d+)(.*)$')
    local position, seq = (i - first) / 2, m.seq + (i - first) / 2 + 1
    local new = {
      position = position, seq = seq, section = section, pin = pin, tokens = tonumber(tokens), group = seq, link = '',
      payload = ARGV[i + 1],
    }
    if new.tokens > room_tokens then
      return nil, refusal('message', position, new.tokens, room_tokens)
    end
    local relation, ids = string.match(rest, '^ (.)=(.*)$')
    if relation == 'o' then
      open_group(plan, new, ids)
    elseif relation == 'a' then
      local refused = answer_call(plan, new, ids)
      if refused then
        return nil, refused
      end
    end
    if not new.late then
      if room_messages < 1 then
        return nil, refusal('group', position, 'messages', 1, room_messages)
      end
      plan.tokens, plan.messages = plan.tokens + new.tokens, plan.messages + 1
      if section == 's' or pinned(new.pin) then
        fixed_tokens, fixed_messages, fixes = fixed_tokens + new.tokens, fixed_messages + 1, true
      end
    end
    plan.news[#plan.news + 1] = new
  end
  if fixes and fixed_tokens > room_tokens then
    return nil, refusal('pinned', 'tokens', fixed_tokens, room_tokens)
  end
  if fixes and fixed_messages > room_messages then
    return nil, refusal('pinned', 'messages', fixed_messages, room_messages)
  end
  return plan
end

-- The groups of the batch that could go, with their scores. Under lru a stored group that the batch touches is one of
-- them, since it has just been accessed; under fifo and lru they stand behind all others. Under lfu and priority that is
-- so for the group of the last message alone, which is spared as long as another can go: else what was just said could
-- be in no view.
local function batch_order(plan)
  local last, order, spared = {}, {}, nil
  for i = (scoring == 'lfu' or scoring == 'priority') and #plan.news or 0, 1, -1 do
    if plan.news[i].section == 'c' and not plan.news[i].late then
      spared = plan.news[i].group
      break
    end
  end
  for i, new in ipairs(plan.news) do
    if new.section == 'c' and not pinned(new.pin) and not new.late
      and (scoring == 'lru' or new.group > m.seq or new.group == spared) then
      last[new.group] = (scoring == 'lru' or not last[new.group]) and i or last[new.group]
    end
  end
  for i, new in ipairs(plan.news) do
    if last[new.group] == i then
      new.score = spared and new.group ~= spared and first_score(new.group, new.pin) or INF
      order[#order + 1] = new
    end
  end
  if spared then
    table.sort(order, function(a, b)
      return a.score < b.score
    end)
  end
  return last, order
end

-- Plans which groups leave, so that the budget holds; groups that wait for a result last.
local function plan_evictions(plan)
  local over_tokens = plan.tokens - math.min(room_tokens, max_tokens - m.long_tokens)
  local over_messages = plan.messages - math.min(room_messages, max_messages - m.long_messages)
  plan.leaving_tokens, plan.leaving = plan.late_tokens, plan.late
  if over_tokens <= 0 and over_messages <= 0 then
    return
  end
  local waiting, done = {}, false
  local function take(group, seqs, tokens, messages)
    plan.gone[group] = true
    plan.out[#plan.out + 1] = {group = group, seqs = seqs, texts = records(seqs)}
    plan.evicted = plan.evicted + messages
    plan.leaving_tokens, plan.leaving = plan.leaving_tokens + tokens, plan.leaving + messages
    over_tokens, over_messages = over_tokens - tokens, over_messages - messages
    done = over_tokens <= 0 and over_messages <= 0
  end
  local function visit(group, seqs, tokens, state)
    if state and is_open(state) then
      waiting[#waiting + 1] = {group, seqs, tokens, state.messages}
    else
      take(group, seqs, tokens, state and state.messages or 1)
    end
    return done
  end
  local skip, order = batch_order(plan)
  local next_one = 1
  local function visit_batch(up_to)
    while not done and order[next_one] and order[next_one].score <= up_to do
      local new = order[next_one]
      local group, state = new.group, plan.states[new.group]
      next_one = next_one + 1
      visit(group, group <= m.seq and members(key.short, group) or {}, state and state.tokens or new.tokens, state)
    end
    return done
  end
  if not plan.fresh then
    each_group(plan.states, skip, function(group, seqs, tokens, state, score)
      return visit_batch(score) or visit(group, seqs, tokens, state)
    end)
  end
  visit_batch(INF)
  for i = 1, done and 0 or #waiting do
    take(unpack(waiting[i]))
    if done then
      break
    end
  end
end

-- Returns the refusal of a plan whose evictions the overflow cannot take, or nil.
local function overflow_refuses(plan)
  if not summarize or plan.leaving == 0 then
    return nil
  end
  if plan.leaving_tokens > overflow_tokens then
    return refusal('batch', 'tokens', plan.leaving_tokens, overflow_tokens)
  elseif plan.leaving > overflow_messages then
    return refusal('batch', 'messages', plan.leaving, overflow_messages)
  elseif m.overflow_tokens + plan.leaving_tokens > overflow_tokens then
    return refusal('full', 'tokens', m.overflow_tokens, plan.leaving_tokens, overflow_tokens)
  elseif m.overflow_messages + plan.leaving > overflow_messages then
    return refusal('full', 'messages', m.overflow_messages, plan.leaving, overflow_messages)
  end
  return nil
end

-- Plans all that an append does. Returns the plan, or nil and the refusal.
local function plan_append(first, fresh)
  local plan, refused = plan_messages(first, fresh)
  if plan then
    plan_evictions(plan)
    refused = overflow_refuses(plan)
  end
  return not refused and plan or nil, refused
end
