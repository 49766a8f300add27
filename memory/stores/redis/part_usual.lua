-- The usual append, without functions and tables: plain messages to a memory that exists, whose policy, expiry and
-- record of operations need no care, evicting at most plain groups. All else falls through to the general append behind
-- it, which finds nothing changed and would decide the same.
local op, digest, deadline, tag = ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]
local expires_in = incarnation and now + ttl - expires_at
if incarnation and not shares and not stored_sections and now <= deadline and #ARGV > 6
  and short_messages > pinned_messages and policy == scoring
  and now < prune_at and deadline + SKEW_MS <= ops_until
  and ((expires_at == 0 and ttl == INF) or (expires_at > 0 and expires_in >= 0 and expires_in < ttl / 20))
  and redis.call('HLEN', key.msg) == system_messages + long_messages + short_messages + waiting_messages
  and redis.call('ZCARD', key.short) == short_messages
  and (system_messages == 0 or redis.call('ZCARD', key.system) == system_messages)
  and (long_messages == 0 or redis.call('ZCARD', key.long) == long_messages)
  and (waiting_messages == 0 or redis.call('ZCARD', key.overflow) == waiting_messages)
  and redis.call('ZCARD', key.opx) < MAX_OPERATIONS and not redis.call('HGET', key.ops, op) then
  local count, added, usual = (#ARGV - 6) / 2, 0, true
  for i = 7, #ARGV, 2 do
    local tokens = tonumber(string.match(ARGV[i], '^c[%-lhc](%d+)$'))
    usual = usual and tokens and tokens <= room_tokens
    added = added + (tokens or 0)
  end
  local live, messages = short_tokens + added, short_messages + count
  local over = system_tokens + live - math.min(room_tokens, max_tokens - long_tokens)
  local over_messages = system_messages + messages - math.min(room_messages, max_messages - long_messages)
  local out, leaving, left = nil, 0, 0
  if over > 0 or over_messages > 0 then
    usual = usual and (scoring == 'fifo' or scoring == 'lru' or count == 1)
  end
  if usual and (over > 0 or over_messages > 0) then
    -- As many groups as come may go, if they have no calls and no pin, and if their new place needs no care.
    out = redis.call('ZRANGE', scoring == 'fifo' and key.short or key.evict, 0, math.min(count, 100) - 1)
    local texts = redis.call('HMGET', key.msg, unpack(out))
    for i = 1, #out do
      local tokens = texts[i] and string.match(texts[i], '^c[%-lhc]....(%d+)  ')
      if not tokens then
        break
      end
      leaving, left, over, over_messages = leaving + tokens, i, over - tokens, over_messages - 1
      if over <= 0 and over_messages <= 0 then
        break
      end
    end
    usual = over <= 0 and over_messages <= 0 and (
      (summarize and waiting_messages > 0 and waiting_tokens + leaving <= overflow_tokens
        and waiting_messages + left <= overflow_messages)
      or (not summarize and redis.call('EXISTS', key.batch) == 0))
  end
  if usual then
    local first = seq + 1
    for i = 7, #ARGV, 2 do
      seq = seq + 1
      local head = ARGV[i]
      redis.call('HSET', key.msg, seq, string.sub(head, 1, 2) .. tag .. string.sub(head, 3) .. '  ' .. ARGV[i + 1])
      redis.call('ZADD', key.short, seq, seq)
      if scoring ~= 'fifo' then
        -- As part_order.lua gives scores.
        local score = seq
        if scoring == 'lru' then
          access = math.max(access + 1, now * 1024)
          score = access
        elseif scoring == 'lfu' then
          score = 2 ^ 33 + seq
        else
          score = (string.find('l-hc', string.sub(head, 2, 2), 1, true) - 1) * 2 ^ 48 + seq
        end
        redis.call('ZADD', key.evict, score, seq)
      end
    end
    for i = 1, left do
      redis.call('ZREM', key.short, out[i])
      if scoring ~= 'fifo' then
        redis.call('ZREM', key.evict, out[i])
      end
      if summarize then
        redis.call('ZADD', key.overflow, out[i], out[i])
      else
        redis.call('HDEL', key.msg, out[i])
      end
    end
    live, messages = live - leaving, messages - left
    if summarize then
      waiting_tokens, waiting_messages = waiting_tokens + leaving, waiting_messages + left
    end
    version = version + 1
    redis.call('HSET', key.ops, op, 'a' .. digest .. ' ' .. incarnation .. ' ' .. first .. ' ' .. count)
    redis.call('ZADD', key.opx, deadline, op)
    local counters = struct.pack(COUNTERS, version, seq, fence, created_at, now,
      expires_at, access, system_tokens, system_messages, long_tokens, long_messages, live, messages, pinned_tokens,
      pinned_messages, waiting_tokens, waiting_messages, flush_retry_at, flush_at, prune_at, ops_until)
    redis.call('HSET', key.meta, 'life', incarnation .. tag .. policy, 'counters', counters)
    local due = waiting_messages > 0 or system_tokens + live >= due_tokens or system_messages + messages >= due_messages
    if due then
      redis.call('HSETNX', key.meta, 'due_at', now)
    end
    return 'ok ' .. incarnation .. ' ' .. first .. ' ' .. version .. ' ' .. system_tokens + long_tokens + live .. ' '
      .. system_messages + long_messages + messages .. (due and ' 1 ' or ' 0 ') .. left
  end
end
