-- Which groups leave for what an append brings, so that the budget holds, and whether there is room for them.
-- needs: limits sections state records groups order summaries rooms
-- gives: plan_evictions overflow_refuses

local plan_evictions, overflow_refuses
do
  -- The groups of this append that could go from these places, with their scores. Under lru a stored group that it adds
  -- to is one of them, since it has just been accessed; under fifo and lru they stand behind all others. Under lfu
  -- and priority that is so for the group of the last message alone, which is spared as long as another can go: else
  -- what was just said could be in no view.
  local function new_order(plan, here)
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

  -- Plans which groups of these places leave, so that so many tokens and messages go; those that wait for a result
  -- last. Returns how many messages leave.
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
    local skip, order = new_order(plan, here)
    local next_one = 1
    local function visit_new(up_to)
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
        return visit_new(score) or visit(group, seqs, tokens, state, place)
      end)
    end
    visit_new(INF)
    for i = 1, done and 0 or #waiting do
      take(unpack(waiting[i]))
      if done then
        break
      end
    end
    plan.evicted = plan.evicted + left
    return left
  end

  -- What system and pinned messages and the groups of this append fill: where a memory drops, its summaries yield to
  -- it.
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
  function plan_evictions(plan)
    local tokens_left, messages_left = room_tokens, room_messages
    plan.leaving_tokens, plan.leaving = plan.late_tokens, plan.late
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
  function overflow_refuses(plan)
    if not summarize or plan.leaving == 0 then
      return nil
    end
    local above_tokens, above_messages = above_room()
    local tokens, messages = plan.leaving_tokens - above_tokens, plan.leaving - above_messages
    if tokens > overflow_tokens then
      return refusal('parts', 'tokens', tokens, overflow_tokens)
    elseif messages > overflow_messages then
      return refusal('parts', 'messages', messages, overflow_messages)
    elseif m.waiting_tokens + tokens > overflow_tokens then
      return refusal('full', 'tokens', m.waiting_tokens, tokens, overflow_tokens)
    elseif m.waiting_messages + messages > overflow_messages then
      return refusal('full', 'messages', m.waiting_messages, messages, overflow_messages)
    end
    return nil
  end
end
