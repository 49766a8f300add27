-- The record of operations: what makes a call idempotent until its deadline. It outlives clear and expiry.
local SKEW_MS = 60000
local MAX_OPERATIONS = 100000

-- Returns what an operation left, `reused` if its id stands for something else, or nil.
local function recall(kind, op, digest)
  local record = call('HGET', OPS, op)
  if not record then
    return nil
  end
  local known_kind, known_digest, rest = match(record, '^(.)(%S*) (.*)$')
  if known_kind ~= kind or (digest ~= '' and known_digest ~= '' and digest ~= known_digest) then
    return 'reused'
  end
  return rest
end

local function operations_full()
  return call('ZCARD', OPX) >= MAX_OPERATIONS and call('ZCOUNT', OPX, now - SKEW_MS, '+inf') >= MAX_OPERATIONS
end

local function prune(m)
  if m and now < m.prune_at then
    return
  end
  local dead = call('ZRANGEBYSCORE', OPX, '-inf', '(' .. (now - SKEW_MS), 'LIMIT', 0, 16)
  if #dead > 0 then
    call('HDEL', OPS, unpack(dead))
    call('ZREM', OPX, unpack(dead))
  end
  if m and #dead < 16 then
    local first = call('ZRANGE', OPX, 0, 0, 'WITHSCORES')
    m.prune_at = math.max(now + 500, (tonumber(first[2]) or now) + SKEW_MS)
  end
end

local function remember(m, kind, op, digest, deadline, rest)
  call('HSET', OPS, op, kind .. digest .. ' ' .. rest)
  call('ZADD', OPX, deadline, op)
  prune(m)
  -- The two keys end with the latest deadline in them. Five seconds more spare the command for most calls.
  local ends = deadline + SKEW_MS
  if not m or m.ops_until < ends then
    ends = ends + 5000
    if call('PEXPIRETIME', OPS) < ends then
      call('PEXPIREAT', OPS, ends)
      call('PEXPIREAT', OPX, ends)
    end
    if m then
      m.ops_until = ends
    end
  end
end
