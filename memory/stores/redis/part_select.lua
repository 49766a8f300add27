-- What a flush takes: all of the overflow, and groups in the policy's order until the target holds.

-- Returns the numbers of the newest and oldest group that keep_first and keep_last hold back, at their edge.
local function kept_edges()
  local function edge(command, count)
    local first, last, groups = 0, nil, 0
    while groups < count do
      local page = redis.call(command, key.short, first, first + 63, 'WITHSCORES')
      for i = 2, #page, 2 do
        if page[i] ~= last then
          if groups == count then
            break
          end
          groups, last = groups + 1, page[i]
        end
      end
      if #page < 128 then
        break
      end
      first = first + 64
    end
    return tonumber(last)
  end
  return edge('ZRANGE', keep_first) or -1, edge('ZREVRANGE', keep_last) or INF
end

-- Returns live sequence numbers, tokens and messages taken from the live view, groups, and why nothing can be taken.
local function select(force)
  local taken = {seqs = {}, groups = {}, tokens = 0, messages = 0}
  if not force and flush_due() == 0 then
    taken.reason = 'below_threshold'
    return taken
  end
  local over_tokens = force and INF or outside_tokens() - target_tokens
  local over_messages = force and INF or outside_messages() - target_messages
  local newest_first, oldest_last = kept_edges()
  local kept, open = false, {}
  local function take(group, seqs, tokens)
    for _, seq in ipairs(seqs) do
      table.insert(taken.seqs, seq)
    end
    table.insert(taken.groups, group)
    taken.tokens, taken.messages = taken.tokens + tokens, taken.messages + #seqs
    over_tokens, over_messages = over_tokens - tokens, over_messages - #seqs
    return over_tokens <= 0 and over_messages <= 0
  end
  if over_tokens > 0 or over_messages > 0 then
    local done = false
    each_at_flush(function(group, seqs, tokens, state)
      if group <= newest_first or group >= oldest_last then
        kept = true
      elseif state and is_open(state) then
        table.insert(open, {group, seqs, tokens})
      else
        done = take(group, seqs, tokens)
      end
      return done
    end)
    for _, waiting in ipairs(force and {} or open) do
      if done then
        break
      end
      done = take(unpack(waiting))
    end
  end
  if taken.messages == 0 and m.overflow_messages == 0 then
    if kept then
      taken.reason = 'keep'
    elseif m.system_messages + m.pinned_messages > 0 then
      taken.reason = 'pinned'
    else
      taken.reason = 'below_threshold'
    end
  end
  return taken
end
