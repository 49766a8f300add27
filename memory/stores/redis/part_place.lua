-- Placing messages: plan everything, refuse or write. Shared by append and write.
-- ARGV[first], ARGV[first + 1] and so on are pairs of head and payload; a head is `<section><pin><tokens>`, and behind a
-- space `a=<call id>` for a result or `o=<call ids>` for tool calls.

local function limit_text(...)
  return table.concat({...}, ' ')
end

-- Returns a plan, or nil and the refusal. fresh: nothing that is stored counts any more.
local function plan_messages(first, fresh)
  local plan = {news = {}, states = {}, calls = {}, late = 0, late_tokens = 0, gone = {}, out = {}, evicted = 0}
  local states, calls = plan.states, plan.calls
  local system_tokens, system_messages = m.system_tokens, m.system_messages
  local pinned_tokens, pinned_messages = m.pinned_tokens, m.pinned_messages
  local short_tokens, short_messages = m.short_tokens, m.short_messages
  local pins = false
  for i = first, #ARGV, 2 do
    local section, pin, tokens, rest = string.match(ARGV[i], '^(.)(.)(%d+)(.*)$')
    local position, seq = (i - first) / 2, m.seq + (i - first) / 2 + 1
    tokens = tonumber(tokens)
    local new = {seq = seq, section = section, pin = pin, tokens = tokens, group = seq, link = '', payload = ARGV[i + 1]}
    local asked, ids = string.match(rest, '^ (.)=(.*)$')
    if tokens > room_tokens then
      return nil, limit_text('message', position, tokens, room_tokens)
    end
    if asked == 'o' then
      new.link = seq
      local state = {missing = 0, touched = now, tokens = tokens, messages = 1, pin = pin, calls = ids}
      states[seq] = state
      for id in string.gmatch(ids, '%S+') do
        state.missing = state.missing + 1
        local seen = calls[id] or (not fresh and redis.call('HGET', key.groups, 'c:' .. id)) or nil
        calls[id] = (seen and seen .. ' ' or '') .. seq .. 'w'
      end
    elseif asked == 'a' then
      local seen = calls[ids] or (not fresh and redis.call('HGET', key.groups, 'c:' .. ids)) or nil
      if not seen then
        return nil, limit_text('unseen', position)
      end
      local from, to, group = string.find(seen, '(%d+)w')
      new.late = not from
      if new.late then
        from, to, group = string.find(seen, '(%d+)l')
      end
      if not from then
        return nil, limit_text('answered', position)
      end
      group = tonumber(group)
      calls[ids] = string.sub(seen, 1, to - 1) .. (new.late and 'x' or 'd') .. string.sub(seen, to + 1)
      new.group, new.link = group, group
      local state = states[group] or group_state(group) or damage('a group has no state')
      states[group] = state
      state.missing = state.missing - 1
      if new.late then
        plan.late, plan.late_tokens = plan.late + 1, plan.late_tokens + tokens
        new.pin = '-'
      else
        state.touched, state.tokens, state.messages = now, state.tokens + tokens, state.messages + 1
        new.pin = state.pin
        if state.tokens > room_tokens then
          return nil, limit_text('group', position, 'tokens', state.tokens, room_tokens)
        end
        if state.messages > room_messages then
          return nil, limit_text('group', position, 'messages', state.messages, room_messages)
        end
      end
    end
    if not new.late then
      if room_messages < 1 then
        return nil, limit_text('group', position, 'messages', 1, room_messages)
      end
      if section == 's' then
        system_tokens, system_messages, pins = system_tokens + tokens, system_messages + 1, true
      else
        short_tokens, short_messages = short_tokens + tokens, short_messages + 1
        if new.pin == 'p' then
          pinned_tokens, pinned_messages, pins = pinned_tokens + tokens, pinned_messages + 1, true
        end
      end
    end
    plan.news[#plan.news + 1] = new
  end
  if pins and system_tokens + pinned_tokens > room_tokens then
    return nil, limit_text('pinned', 'tokens', system_tokens + pinned_tokens, room_tokens)
  end
  if pins and system_messages + pinned_messages > room_messages then
    return nil, limit_text('pinned', 'messages', system_messages + pinned_messages, room_messages)
  end

  local over_tokens = system_tokens + short_tokens - math.min(room_tokens, max_tokens - m.long_tokens)
  local over_messages = system_messages + short_messages - math.min(room_messages, max_messages - m.long_messages)
  local arriving_tokens, arriving = plan.late_tokens, plan.late
  if over_tokens > 0 or over_messages > 0 then
    local open = {}
    local function take(group, seqs, tokens, messages)
      plan.gone[group] = true
      plan.out[#plan.out + 1] = {group = group, seqs = seqs}
      over_tokens, over_messages = over_tokens - tokens, over_messages - messages
      plan.evicted = plan.evicted + messages
      arriving_tokens, arriving = arriving_tokens + tokens, arriving + messages
      return over_tokens <= 0 and over_messages <= 0
    end
    local function visit(group, seqs, tokens, state)
      if state and is_open(state) then
        open[#open + 1] = {group, seqs, tokens, state.messages}
        return false
      end
      return take(group, seqs, tokens, state and state.messages or 1)
    end
    -- Under lru a group that this batch touches has just been accessed; its place is behind all others.
    local last, order = {}, {}
    for i, new in ipairs(plan.news) do
      if new.section == 'c' and new.pin == '-' and not new.late and (lru or new.group > m.seq) then
        last[new.group] = (lru or not last[new.group]) and i or last[new.group]
      end
    end
    for i, new in ipairs(plan.news) do
      if last[new.group] == i then
        order[#order + 1] = new
      end
    end
    local done = false
    if not fresh then
      each_group(states, last, function(...)
        done = visit(...)
        return done
      end)
    end
    for _, new in ipairs(order) do
      if done then
        break
      end
      local seqs = new.group <= m.seq and members(key.short, new.group) or {}
      local state = states[new.group]
      done = visit(new.group, seqs, state and state.tokens or new.tokens, state)
    end
    for _, waiting in ipairs(open) do
      if done then
        break
      end
      done = take(unpack(waiting))
    end
  end
  if summarize then
    for _, unit in ipairs({
      {'tokens', arriving_tokens, m.overflow_tokens, overflow_tokens},
      {'messages', arriving, m.overflow_messages, overflow_messages},
    }) do
      if unit[2] > unit[4] then
        return nil, limit_text('batch', unit[1], unit[2], unit[4])
      end
    end
    if arriving_tokens > 0 or arriving > 0 then
      if m.overflow_tokens + arriving_tokens > overflow_tokens then
        return nil, limit_text('full', 'tokens', m.overflow_tokens, arriving_tokens, overflow_tokens)
      end
      if m.overflow_messages + arriving > overflow_messages then
        return nil, limit_text('full', 'messages', m.overflow_messages, arriving, overflow_messages)
      end
    end
  end
  return plan
end

-- Writes a plan. What a key gains is written before what it loses: a key that empties would forget its expiry.
local function apply_plan(plan, tag)
  local fields, ranks = {}, {[key.system] = {}, [key.short] = {}, [key.overflow] = {}, [key.pinned] = {}}
  local function rank(key, group, seq)
    table.insert(ranks[key], group)
    table.insert(ranks[key], seq)
  end
  local evicted_tokens = 0
  for _, new in ipairs(plan.news) do
    local leaves = new.late or plan.gone[new.group]
    if leaves and summarize then
      rank(key.overflow, new.group, new.seq)
      m.overflow_tokens, m.overflow_messages = m.overflow_tokens + new.tokens, m.overflow_messages + 1
    elseif new.section == 's' then
      rank(key.system, new.seq, new.seq)
      m.system_tokens, m.system_messages = m.system_tokens + new.tokens, m.system_messages + 1
    elseif not leaves then
      rank(key.short, new.group, new.seq)
      m.short_tokens, m.short_messages = m.short_tokens + new.tokens, m.short_messages + 1
      if new.pin == 'p' then
        rank(key.pinned, new.group, new.seq)
        m.pinned_tokens, m.pinned_messages = m.pinned_tokens + new.tokens, m.pinned_messages + 1
      elseif lru then
        access(new.group)
      end
    end
    if summarize or not leaves then
      table.insert(fields, new.seq)
      table.insert(fields, new.section .. new.pin .. tag .. new.tokens .. ' ' .. new.link .. ' ' .. new.payload)
    end
  end
  local removed = {}
  for _, out in ipairs(plan.out) do
    for i, text in ipairs(records(out.seqs)) do
      local tokens = tokens_of(text)
      removed[#removed + 1] = out.seqs[i]
      m.short_tokens, m.short_messages = m.short_tokens - tokens, m.short_messages - 1
      if summarize then
        rank(key.overflow, out.group, out.seqs[i])
        m.overflow_tokens, m.overflow_messages = m.overflow_tokens + tokens, m.overflow_messages + 1
      end
    end
  end
  if #fields > 0 then
    command_on('HSET', key.msg, fields)
  end
  local touched = {key.msg}
  for key, pairs_of in pairs(ranks) do
    if #pairs_of > 0 then
      command_on('ZADD', key, pairs_of)
      touched[#touched + 1] = key
    end
  end
  if #removed > 0 then
    command_on('ZREM', key.short, removed)
    if not summarize then
      command_on('HDEL', key.msg, removed)
      drop_batch_with(removed)
    end
  end
  for group, state in pairs(plan.states) do
    redis.call('HSET', key.groups, 'm:' .. group, group_text(state))
  end
  for id, seen in pairs(plan.calls) do
    redis.call('HSET', key.groups, 'c:' .. id, seen)
  end
  for _, out in ipairs(plan.out) do
    if lru then
      redis.call('ZREM', key.evict, out.group)
    end
    leave(out.group)
  end
  if next(plan.states) or #plan.out > 0 then
    table.insert(touched, key.groups)
    table.insert(touched, key.departed)
  end
  if lru then
    table.insert(touched, key.evict)
  end
  m.seq = m.seq + #plan.news
  return touched
end
