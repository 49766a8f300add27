-- Groups. A message without tool calls is a group of its own, with its own number; one with tool calls stands in a group
-- with all their results, which has the number of its first message.
-- In :groups, `m:<group>` is `<missing> <touched> <tokens> <messages> <mark> <call ids>`, and `c:<call id>` lists where
-- the call was seen: `<group>w` waits for its result, `d` has it, `l` left the view waiting, `x` had a late result.
-- needs: keys limits retention
-- gives: group_state group_text is_open members leave

local function group_state(group)
  local text = redis.call('HGET', key.groups, 'm:' .. group)
  if not text then
    return nil
  end
  local missing, touched, tokens, messages, pin, calls = string.match(text, '^(%d+) (%d+) (%d+) (%d+) (.) (.*)$')
  return {
    missing = tonumber(missing), touched = tonumber(touched), tokens = tonumber(tokens), messages = tonumber(messages),
    pin = pin, calls = calls,
  }
end

local function group_text(state)
  return table.concat({state.missing, state.touched, state.tokens, state.messages, state.pin, state.calls}, ' ')
end

local function is_open(state)
  return state.missing > 0 and now - state.touched < open_group_ms
end

-- The live members of a group in their order. Equal scores sort as text, so numbers are compared here.
local function members(zset, group)
  local seqs = redis.call('ZRANGEBYSCORE', zset, group, group)
  table.sort(seqs, function(a, b)
    return tonumber(a) < tonumber(b)
  end)
  return seqs
end

local leave
do
  -- numbers: LONGEST_KEPT_MS

  -- Keeps where a call was seen, or forgets the call if nothing is left of it.
  local function keep_seen(id, seen)
    if seen == '' then
      redis.call('HDEL', key.groups, 'c:' .. id)
    else
      redis.call('HSET', key.groups, 'c:' .. id, string.sub(seen, 2))
    end
  end

  -- Where a call was seen, each place behind a space, so that a group's number is found whole.
  local function seen_at(id)
    local seen = redis.call('HGET', key.groups, 'c:' .. id)
    return seen and ' ' .. seen or ''
  end

  local function forget_departed()
    for _, group in ipairs(redis.call('ZRANGEBYSCORE', key.departed, '-inf', now, 'LIMIT', 0, 4)) do
      local state = group_state(group)
      for id in string.gmatch(state and state.calls or '', '%S+') do
        keep_seen(id, (string.gsub(seen_at(id), ' ' .. group .. '%a', '')))
      end
      redis.call('HDEL', key.groups, 'm:' .. group)
      redis.call('ZREM', key.departed, group)
    end
  end

  -- A group leaves the live view. Its calls are forgotten if all have their result; else they are remembered, so that a
  -- late result is told from one whose call was never seen.
  function leave(group)
    local state = group_state(group)
    if not state then
      return
    end
    for id in string.gmatch(state.calls, '%S+') do
      local seen = seen_at(id)
      if state.missing > 0 then
        seen = string.gsub(seen, ' ' .. group .. 'w', ' ' .. group .. 'l')
        seen = string.gsub(seen, ' ' .. group .. 'd', ' ' .. group .. 'x')
      else
        seen = string.gsub(seen, ' ' .. group .. '%a', '')
      end
      keep_seen(id, seen)
    end
    if state.missing > 0 then
      -- Until no operation is open any more that could bring a result.
      redis.call('ZADD', key.departed, now + LONGEST_KEPT_MS + KEPT_AFTER_DEADLINE_MS, group)
      forget_departed()
    else
      redis.call('HDEL', key.groups, 'm:' .. group)
    end
  end
end
