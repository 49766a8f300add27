-- Writing what was planned. What a key gains is written before what it loses: one that empties would forget its expiry.
-- needs: keys limits state expiry operations records groups batch order summaries
-- gives: carry_out

local carry_out
do
  -- Notes where a new message goes: among the fields of :msg, in the sorted sets, in the counters.
  local function settle(plan, new, fields, rank)
    local live = not (new.late or plan.gone[new.group])
    if not live and not summarize then
      return
    end
    table.insert(fields, new.seq)
    table.insert(fields, new.section .. new.pin .. plan.tag .. new.tokens .. ' ' .. new.link .. ' ' .. new.payload)
    if not live then
      rank(key.overflow, new.group, new.seq)
      m.waiting_tokens, m.waiting_messages = m.waiting_tokens + new.tokens, m.waiting_messages + 1
    elseif new.section == 's' then
      rank(key.system, new.group, new.seq)
      m.system_tokens, m.system_messages = m.system_tokens + new.tokens, m.system_messages + 1
    else
      local place = new.place
      rank(place.order, new.group, new.seq)
      place.tokens, place.messages = place.tokens + new.tokens, place.messages + 1
      if pinned(new.pin) then
        rank(key.pinned, new.group, new.seq)
        place.pinned_tokens, place.pinned_messages = place.pinned_tokens + new.tokens, place.pinned_messages + 1
      elseif scoring ~= 'fifo' and (new.seq == new.group or scoring == 'lru') then
        rank(place.evict, first_score(new.group, new.pin), new.group)
      end
    end
  end

  -- Returns the keys that this may have created.
  local function apply_plan(plan)
    local fields, removed, ranks = {}, {}, {}
    local touched = {key.msg, key.groups, key.departed}
    local function rank(zset, score, member)
      if not ranks[zset] then
        ranks[zset], touched[#touched + 1] = {}, zset
      end
      table.insert(ranks[zset], score)
      table.insert(ranks[zset], member)
    end
    for _, new in ipairs(plan.news) do
      settle(plan, new, fields, rank)
    end
    for _, out in ipairs(plan.out) do
      for i, seq in ipairs(out.seqs) do
        local tokens = tokens_of(out.texts[i])
        removed[#removed + 1] = seq
        out.place.tokens, out.place.messages = out.place.tokens - tokens, out.place.messages - 1
        if summarize then
          rank(key.overflow, out.group, seq)
          m.waiting_tokens, m.waiting_messages = m.waiting_tokens + tokens, m.waiting_messages + 1
        end
      end
    end
    if #plan.summaries > 0 then
      remove_summaries(plan.summaries, plan.summary_tokens)
      for _, seq in ipairs(plan.summaries) do
        removed[#removed + 1] = seq
      end
    end
    command_on('HSET', key.msg, fields)
    for zset, pairs_of in pairs(ranks) do
      command_on('ZADD', zset, pairs_of)
    end
    for _, out in ipairs(plan.out) do
      command_on('ZREM', out.place.order, out.seqs)
    end
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
      redis.call('ZREM', out.place.evict, out.group)
      leave(out.group)
    end
    m.seq = m.seq + #plan.news
    m.version, m.tag, m.updated_at = m.version + 1, plan.tag, now
    return touched
  end

  -- Does what was planned, with all that follows, as this kind of operation. removed: what was there before. Returns
  -- the answer.
  function carry_out(plan, kind, op, digest, deadline, removed)
    local first = m.seq + 1
    local touched = apply_plan(plan)
    remember(kind, op, digest, deadline, m.incarnation .. ' ' .. first .. ' ' .. #plan.news)
    prolong(touched)
    note_due()
    save()
    if m.born then
      inherit_expiry({key.meta})
    end
    return answer_new(first, plan.evicted, plan.late, removed)
  end
end
