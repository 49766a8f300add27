-- Tool calls and results of an append: a message with calls opens a group, a result joins the group that waits for it.
-- needs: keys limits head sections state groups rooms
-- gives: open_group answer_call

-- Where a call id was seen, with what this append adds to it.
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

-- Returns where in `seen` the group stands that a result goes to: the oldest of this append that waits for it. Without
-- one it is the oldest of the newest row of groups that stand one directly behind the other: results of such calls come
-- in their order, and what stands before them may have been given up. pattern: of the groups that may be. Nothing if
-- there is none.
local function waiting_in(seen, pattern)
  local found, last, from = {}, nil, 1
  while true do
    local group = {string.find(seen, pattern, from)}
    local seq = tonumber(group[3])
    if not seq then
      return unpack(found)
    elseif seq > m.seq then
      return unpack(group)
    elseif not last or seq > last + 1 then
      found = group
    end
    last, from = seq, group[2]
  end
end

-- A result goes to a live group that waits for its call, or to one that left the view. Returns a refusal, or nil.
local function answer_call(plan, new, id)
  local seen = seen_of(plan, id)
  if not seen then
    return refusal('unseen', new.position)
  end
  local from, to, group = waiting_in(seen, '(%d+)w')
  new.late = not from
  if new.late then
    from, to, group = waiting_in(seen, '(%d+)l')
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
