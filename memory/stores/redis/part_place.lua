-- Placing messages: plan everything, refuse or write. Shared by append and write.
-- ARGV[first], ARGV[first + 1] and so on are pairs of head and payload. A head is `<section><pin><tokens>`, where the
-- section is `s`, `c`, or `u` with the name of a user-defined one behind a space; then, behind a space, `a=<call id>`
-- for a result or `o=<call ids>` for tool calls. Where clients cut what is too large, the reserve of a result stands
-- before the equals sign, and the letter is `A` or `O` if the message cannot be cut. ARGV[5] is the tag of the operation.

-- A refusal is a word that the driver turns into an error, with its numbers.
local function refusal(...)
  return table.concat({...}, ' ')
end

-- What a message may fill: the room of its section if the budget is divided, else that of all messages. A refusal names
-- the section behind its numbers. A result may come to any section of the conversation.
local function room_of(section)
  if not shares then
    return room_tokens
  elseif section then
    return section.room, section.name
  end
  local widest = short_term
  for _, other in ipairs(sections) do
    widest = other.room > widest.room and other or widest
  end
  return widest.room, widest.name
end

local SYSTEM = {name = 'system', room = system_room}

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

-- Returns where in `seen` the group stands that a result goes to: the oldest that waits for it, those of this batch first,
-- since an id that comes again is mostly answered in its own turn. Nothing if no live group waits.
local function waiting_live(seen)
  local oldest = {string.find(seen, '(%d+)w')}
  local own = oldest
  while own[1] and tonumber(own[3]) <= m.seq do
    own = {string.find(seen, '(%d+)w', own[2])}
  end
  return unpack(own[1] and own or oldest)
end

-- A result goes to a live group that waits for its call, or to the oldest that left the view. Returns a refusal, or nil.
local function answer_call(plan, new, id)
  local seen = seen_of(plan, id)
  if not seen then
    return refusal('unseen', new.position)
  end
  local from, to, group = waiting_live(seen)
  new.late = not from
  if new.late then
    from, to, group = string.find(seen, '(%d+)l')
  end
  if not from then
    return refusal('answered', new.position)
  end
  plan.calls[id] = string.sub(seen, 1, to - 1) .. (new.late and 'x' or 'd') .. string.sub(seen, to + 1)
  group = tonumber(group)
  local state = plan.states[group]
  if not state then
    state = group_state(group) or damage('a group has no state')
    state.held_tokens, state.held_messages = state.tokens, state.messages
  end
  plan.states[group], new.group, new.link = state, group, group
  new.place, new.section = places.c, 'c'
  state.missing = state.missing - 1
  if new.late then
    new.pin = '-'
    plan.late, plan.late_tokens = plan.late + 1, plan.late_tokens + new.tokens
    return nil
  end
  new.pin = state.pin
  if plan.places[group] then
    new.place = plan.places[group]
  elseif #all_places > 1 then
    local first = redis.call('HGET', key.msg, group) or damage('a record is missing')
    new.place = places[string.sub(first, 1, 1)]
  end
  new.section = new.place.letter
  state.touched, state.tokens, state.messages = now, state.tokens + new.tokens, state.messages + 1
  -- One that was too large before, since the budget was lowered, is evicted with its result.
  local room, name = room_of(new.place.section)
  if not plan.reserve and state.tokens > room and (state.held_tokens or 0) <= room then
    return refusal('group', new.position, 'tokens', state.tokens, room, state.missing, name)
  end
  if state.messages > room_messages and (state.held_messages or 0) <= room_messages then
    return refusal('group', new.position, 'messages', state.messages, room_messages)
  end
  return nil
end

-- Reads a head: what is known of a message before it has its place in a group.
local function read_head(first, i)
  local section, pin, tokens, rest = string.match(ARGV[i], '^(.)(.)(%d+)(.*)$')
  local position = (i - first) / 2
  local seq = m.seq + position + 1
  local place = places.c
  if section == 'u' then
    local name, behind = string.match(rest, '^ (%S+)(.*)$')
    place, rest = place_named(name), behind
    section = place.letter
  end
  local relation, reserve, ids = string.match(rest, '^ (.)(%d*)=(.*)$')
  local whole = relation == 'A' or relation == 'O'
  return {
    position = position, seq = seq, section = section, place = section ~= 's' and place or nil, pin = pin,
    tokens = tonumber(tokens), group = seq, link = '', payload = ARGV[i + 1], whole = whole,
  }, whole and string.lower(relation) or relation, ids, tonumber(reserve)
end

-- What is never evicted, with what this append adds: in a section, or in all where the budget is common.
local function fixed_with(plan, section)
  return shares and sum_of(section.places, 'pinned_tokens') + (plan.fixed[section] or 0) or plan.fixed_tokens
end

-- parts: results
-- What is never evicted must fit its room, also where the room was made smaller since: else nothing could come in.
local function fixed_refuses(plan)
  local function check(fixed, room, name)
    if fixed > room then
      return refusal('pinned', 'tokens', fixed, room, name)
    end
  end
  local refused
  if not shares and plan.arrives then
    refused = check(plan.fixed_tokens, room_tokens)
  elseif plan.arrives then
    refused = plan.arrives[SYSTEM] and check(m.system_tokens + (plan.fixed[SYSTEM] or 0), system_room, 'system')
    for _, section in ipairs(sections) do
      refused = refused or plan.arrives[section]
        and check(fixed_with(plan, section), section.room, section.name)
    end
  end
  if not refused and plan.arrives and plan.fixed_messages > room_messages then
    refused = refusal('pinned', 'messages', plan.fixed_messages, room_messages)
  end
  return refused or nil
end

-- Returns a plan with the place of each message, or nil and the refusal. fresh: nothing that is stored counts any more.
local function plan_messages(first, fresh)
  local plan = {
    fresh = fresh, tag = ARGV[5], news = {}, states = {}, places = {}, calls = {}, gone = {}, out = {},
    late = 0, late_tokens = 0, evicted = 0, added = {}, fixed = {},
    tokens = outside_tokens(), messages = outside_messages(),
    fixed_tokens = fixed_tokens(), fixed_messages = fixed_messages(),
  }
  for i = first, #ARGV, 2 do
    local new, relation, ids, reserve = read_head(first, i)
    plan.reserve = reserve or plan.reserve
    local room, name = room_of(relation ~= 'a' and (new.place and new.place.section or SYSTEM) or nil)
    if new.tokens > room then
      return nil, refusal('message', new.position, new.tokens, room, name)
    end
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
        return nil, refusal('group', new.position, 'messages', 1, room_messages)
      end
      local section = new.place and new.place.section or SYSTEM
      plan.places[new.group], plan.arrives = new.place, plan.arrives or {}
      plan.arrives[section], plan.added[section] = true, (plan.added[section] or 0) + new.tokens
      plan.tokens, plan.messages = plan.tokens + new.tokens, plan.messages + 1
      if section == SYSTEM or pinned(new.pin) then
        plan.fixed[section] = (plan.fixed[section] or 0) + new.tokens
        plan.fixed_tokens, plan.fixed_messages = plan.fixed_tokens + new.tokens, plan.fixed_messages + 1
      end
    end
    plan.news[#plan.news + 1] = new
  end
  local refused = results_refuse(plan) or fixed_refuses(plan)
  return not refused and plan or nil, refused
end

-- The groups of the batch that could go from these places, with their scores. Under lru a stored group that the batch
-- touches is one of them, since it has just been accessed; under fifo and lru they stand behind all others. Under lfu
-- and priority that is so for the group of the last message alone, which is spared as long as another can go: else what
-- was just said could be in no view.
local function batch_order(plan, here)
  local last, order, spared = {}, {}, nil
  for i = (scoring == 'lfu' or scoring == 'priority') and #plan.news or 0, 1, -1 do
    if here[plan.news[i].place] and not plan.news[i].late then
      spared = plan.news[i].group
      break
    end
  end
  for i, new in ipairs(plan.news) do
    if here[new.place] and not pinned(new.pin) and not new.late
      and (scoring == 'lru' or new.group > m.seq or new.group == spared) then
      last[new.group] = (scoring == 'lru' or not last[new.group]) and i or last[new.group]
    end
  end
  for i, new in ipairs(plan.news) do
    if last[new.group] == i and not plan.gone[new.group] then
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

-- Plans which groups of these places leave, so that so many tokens and messages go; those that wait for a result last.
-- Returns how many messages leave.
local function plan_leaving(plan, some, over_tokens, over_messages)
  if over_tokens <= 0 and over_messages <= 0 then
    return 0
  end
  local waiting, done, left, here = {}, false, 0, {}
  for _, place in ipairs(some) do
    here[place] = true
  end
  local function take(group, seqs, tokens, messages, place)
    plan.gone[group] = true
    plan.out[#plan.out + 1] = {group = group, seqs = seqs, texts = records(seqs), place = place}
    left = left + messages
    plan.leaving_tokens, plan.leaving = plan.leaving_tokens + tokens, plan.leaving + messages
    over_tokens, over_messages = over_tokens - tokens, over_messages - messages
    done = over_tokens <= 0 and over_messages <= 0
  end
  local function visit(group, seqs, tokens, state, place)
    if plan.gone[group] then
      return false
    elseif state and is_open(state) then
      waiting[#waiting + 1] = {group, seqs, tokens, state.messages, place}
    else
      take(group, seqs, tokens, state and state.messages or 1, place)
    end
    return done
  end
  local skip, order = batch_order(plan, here)
  local next_one = 1
  local function visit_batch(up_to)
    while not done and order[next_one] and order[next_one].score <= up_to do
      local new = order[next_one]
      local group, state = new.group, plan.states[new.group]
      local seqs = group <= m.seq and members(new.place.order, group) or {}
      next_one = next_one + 1
      visit(group, seqs, state and state.tokens or new.tokens, state, new.place)
    end
    return done
  end
  if not plan.fresh then
    each_group(some, plan.states, skip, function(group, seqs, tokens, state, place, score)
      return visit_batch(score) or visit(group, seqs, tokens, state, place)
    end)
  end
  visit_batch(INF)
  for i = 1, done and 0 or #waiting do
    take(unpack(waiting[i]))
    if done then
      break
    end
  end
  plan.evicted = plan.evicted + left
  return left
end

-- What system and pinned messages and the groups of this append fill: where a memory drops, its summaries yield to it.
local function needed(plan)
  local tokens, messages, seen = plan.fixed_tokens, plan.fixed_messages, {}
  for _, new in ipairs(plan.news) do
    if new.place and not new.late and not pinned(new.pin) and not seen[new.group] then
      local state = plan.states[new.group]
      seen[new.group] = true
      tokens, messages = tokens + (state and state.tokens or new.tokens), messages + (state and state.messages or 1)
    end
  end
  return tokens, messages
end

-- Plans which groups leave, so that the budget holds: each section's own until its share does, then, for the limit of
-- messages, those of all. What is left of summaries where a memory drops takes room as well.
local function plan_evictions(plan)
  local tokens_left, messages_left = room_tokens, room_messages
  plan.leaving_tokens, plan.leaving = plan.late_tokens, plan.late
  plan.summaries, plan.summary_tokens = {}, 0
  if not summarize and m.long_messages > 0 then
    plan.summaries, plan.summary_tokens = summaries_leaving(needed(plan))
    plan.evicted = #plan.summaries
    tokens_left = max_tokens - m.long_tokens + plan.summary_tokens
    messages_left = max_messages - m.long_messages + #plan.summaries
  end
  local left = 0
  for _, section in ipairs(shares and sections or {}) do
    local tokens = sum_of(section.places, 'tokens') + (plan.added[section] or 0)
    left = left + plan_leaving(plan, section.places, tokens - section.room, 0)
  end
  plan_leaving(plan, all_places,
    shares and 0 or plan.tokens - tokens_left, plan.messages - left - messages_left)
end

-- What stands above its room before an append, since the budget was lowered.
local function above_room()
  local tokens = shares and 0 or math.max(0, outside_tokens() - room_tokens)
  for _, section in ipairs(shares and sections or {}) do
    tokens = tokens + math.max(0, sum_of(section.places, 'tokens') - section.room)
  end
  return tokens, math.max(0, outside_messages() - room_messages)
end

-- Returns the refusal of a plan whose evictions the overflow cannot take, or nil. What a lowered budget evicts is not
-- the fault of this append, which could be sent in no smaller parts: the overflow takes it beside what it may take.
local function overflow_refuses(plan)
  if not summarize or plan.leaving == 0 then
    return nil
  end
  local above_tokens, above_messages = above_room()
  local tokens, messages = plan.leaving_tokens - above_tokens, plan.leaving - above_messages
  if tokens > overflow_tokens then
    return refusal('batch', 'tokens', tokens, overflow_tokens)
  elseif messages > overflow_messages then
    return refusal('batch', 'messages', messages, overflow_messages)
  elseif m.overflow_tokens + tokens > overflow_tokens then
    return refusal('full', 'tokens', m.overflow_tokens, tokens, overflow_tokens)
  elseif m.overflow_messages + messages > overflow_messages then
    return refusal('full', 'messages', m.overflow_messages, messages, overflow_messages)
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
