-- The record of operations: what makes a call idempotent until its deadline. It outlives clear and expiry.
-- needs: keys retention state
-- gives: recall operations_full remember answer_again answer_new

-- Returns what an operation left, `reused` if its id stands for something else, or nil.
local function recall(kind, op, digest)
  local record = redis.call('HGET', key.ops, op)
  if not record then
    return nil
  end
  local known_kind, known_digest, rest = string.match(record, '^(.)(%S*) (.*)$')
  if known_kind ~= kind or (digest ~= '' and known_digest ~= '' and digest ~= known_digest) then
    return 'reused'
  end
  return rest
end

local function operations_full()
  return redis.call('ZCARD', key.opx) >= MOST_OPEN
    and redis.call('ZCOUNT', key.opx, now - KEPT_AFTER_DEADLINE_MS, '+inf') >= MOST_OPEN
end

local remember
do
  -- numbers: LONGEST_KEPT_MS

  local function prune()
    if m and now < m.prune_at then
      return
    end
    local dead = redis.call('ZRANGEBYSCORE', key.opx, '-inf', '(' .. (now - KEPT_AFTER_DEADLINE_MS), 'LIMIT', 0, 16)
    if #dead > 0 then
      redis.call('HDEL', key.ops, unpack(dead))
      redis.call('ZREM', key.opx, unpack(dead))
    end
    if m and #dead < 16 then
      local first = redis.call('ZRANGE', key.opx, 0, 0, 'WITHSCORES')
      m.prune_at = math.max(now + 500, (tonumber(first[2]) or now) + KEPT_AFTER_DEADLINE_MS)
    end
  end

  function remember(kind, op, digest, deadline, rest)
    deadline = math.min(deadline, now + LONGEST_KEPT_MS)
    redis.call('HSET', key.ops, op, kind .. digest .. ' ' .. rest)
    redis.call('ZADD', key.opx, deadline, op)
    prune()
    -- The two keys end with the latest deadline in them. Five seconds more spare the command for most calls.
    local ends = deadline + KEPT_AFTER_DEADLINE_MS
    if not m or m.ops_until < ends then
      ends = ends + 5000
      if redis.call('PEXPIRETIME', key.ops) < ends then
        redis.call('PEXPIREAT', key.ops, ends)
        redis.call('PEXPIREAT', key.opx, ends)
      end
      if m then
        m.ops_until = ends
      end
    end
  end
end

-- The answer to an operation that was applied before: the first call's ids with the state of now.
local function answer_again(rest)
  local incarnation, first, count = string.match(rest, '^(%S+) (%d+) (%d+)')
  local totals = m and {live_tokens(), live_messages(), flush_due()} or {0, 0, 0}
  return table.concat({'again', incarnation, first, count, version_of(), unpack(totals)}, ' ')
end

-- The answer to an append, a write or a restore that was applied just now; the usual append leaves the last three
-- numbers out.
local function answer_new(first, evicted, late, removed)
  return table.concat({
    'ok', m.incarnation, first, m.version, live_tokens(), live_messages(), flush_due(), evicted, late,
    m.born and 1 or 0, removed,
  }, ' ')
end
