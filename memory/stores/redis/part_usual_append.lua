-- The usual append, without the functions and objects of the general one behind it, which take longer than all else.
-- Where it does not answer, the general one finds nothing changed. It is for an append of which all this holds:
--   the memory exists and is intact, its scores are of the policy, each section that holds something is declared;
--   its lifetime, the record of operations and summaries of before where it drops need nothing done;
--   all messages are plain (no call, no result, no pin) and for one section, which has some that are not pinned;
--   none is larger than its room, and no share is over its room already;
--   what has to leave are the first groups in the order of that section, no more than come, plain too, and the overflow
--   takes them and holds something already, or where the memory drops no flush is in progress; and then, one message
--   comes or the policy is fifo or lru, and if the limit of messages asks for it, no user-defined section holds any.
-- What it answers and leaves in Redis must be what the general append would: plan_append (part_place.lua) for what it
-- decides, carry_out (part_apply.lua) for what it writes, with save and note_due (part_state.lua), remember and
-- answer_new (part_operations.lua). tests/integration/redis/test_usual_append.py runs both and compares all keys.
-- Behind its first write it always answers: nobody else sees what it makes of the counters.
-- needs: forms keys limits retention head call lost intact score

do
  -- parts: shares
  local tag = ARGV[5]
  local expires_in = incarnation and now + ttl_ms - expires_at
  local usual = incarnation and intact and not undeclared and #ARGV > 6 and policy == scoring
    and (summarize or long_messages == 0)
    -- The record of operations: nothing to forget, no later end, room.
    and now < prune_at and deadline + KEPT_AFTER_DEADLINE_MS <= ops_until
    and redis.call('ZCARD', key.opx) < MOST_OPEN
    -- The lifetime: none, or one that has hardly begun.
    and ((expires_at == 0 and ttl_ms == INF) or (expires_at > 0 and expires_in >= 0 and expires_in < ttl_ms / 20))
  if usual then
    -- The place that the messages go to: short_term, or the section that their heads name. It has a message that is not
    -- pinned, so that all its keys are there and have their expiry.
    local letter, order, evict, tokens, messages = 'c', key.short, key.evict, short_tokens, short_messages
    local movable, room = short_messages - pinned_messages, room_tokens
    local free = room_tokens - system_tokens - short_tokens
    local named, place = '', nil
    if shares then
      named = string.match(ARGV[7], '^u.%d+ (%S+)') or ''
      for i = 1, named == '' and 0 or #stored do
        if stored[i][2] == named then
          place = stored[i]
          letter, tokens, messages, movable = place[1], place[3], place[4], place[4] - place[6]
          order, evict = KEYS[section_keys[named]], KEYS[section_keys[named] + 1]
        end
      end
      room = place and share_of[named] or short_room
      free = room - tokens
    end

    usual = movable > 0 and (named == '' or place)
    -- What stands above a share that was lowered leaves with the next append to any section.
    usual = usual and (not place or short_tokens <= short_room)
    for i = 1, #stored do
      usual = usual and (stored[i] == place or stored[i][3] <= share_of[stored[i][2]])
    end
    local count, added = (#ARGV - 6) / 2, 0
    for i = 7, #ARGV, 2 do
      local size, name = string.match(ARGV[i], '^[cu][%-lhc](%d+) ?(%S*)$')
      size = tonumber(size)
      usual = usual and size and size <= room and name == named
      added = added + (size or 0)
    end
    local over = added - free
    local over_messages = system_messages + talk_messages + count - room_messages
    local out, leaving, left = nil, 0, 0
    if usual and (over > 0 or over_messages > 0) then
      -- New groups stand behind all others under fifo and lru; under the others one alone is the last message, which is
      -- spared. For the limit of messages, groups of all sections may go.
      usual = (scoring == 'fifo' or scoring == 'lru' or count == 1) and (over_messages <= 0 or not stored_sections)
      out = redis.call('ZRANGE', scoring == 'fifo' and order or evict, 0, math.min(count, 100) - 1)
      local texts = redis.call('HMGET', key.msg, unpack(out))
      for i = 1, #out do
        local size = texts[i] and string.match(texts[i], '^' .. letter .. '[%-lhc]....(%d+)  ')
        if not size then
          break
        end
        leaving, left, over, over_messages = leaving + size, i, over - size, over_messages - 1
        if over <= 0 and over_messages <= 0 then
          break
        end
      end
      usual = usual and over <= 0 and over_messages <= 0 and (
        (summarize and waiting_messages > 0 and waiting_tokens + leaving <= overflow_tokens
          and waiting_messages + left <= overflow_messages)
        or (not summarize and redis.call('EXISTS', key.batch) == 0))
    end

    -- Whoever lacks one of these rights is refused by the general append, before anything is written.
    usual = usual and redis.acl_check_cmd('HSET', key.msg) and redis.acl_check_cmd('ZADD', order)
      and redis.acl_check_cmd('HDEL', key.msg) and (left == 0 or redis.acl_check_cmd('ZREM', order))

    -- The first write tells whether the operation is known.
    local first = seq + 1
    local record = string.format('a%s %s %d %d', digest, incarnation, first, count)
    if usual and redis.call('HSETNX', key.ops, op, record) == 1 then
      redis.call('ZADD', key.opx, deadline, op)
      for i = 7, #ARGV, 2 do
        seq = seq + 1
        local mark, size = string.match(ARGV[i], '^.(.)(%d+)')
        redis.call('HSET', key.msg, seq, letter .. mark .. tag .. size .. '  ' .. ARGV[i + 1])
        redis.call('ZADD', order, seq, seq)
        if scoring ~= 'fifo' then
          local score
          score, moment = new_score(seq, string.find('l-hc', mark, 1, true) - 1, moment)
          redis.call('ZADD', evict, score, seq)
        end
      end
      for i = 1, left do
        redis.call('ZREM', order, out[i])
        if scoring ~= 'fifo' then
          redis.call('ZREM', evict, out[i])
        end
        if summarize then
          redis.call('ZADD', key.overflow, out[i], out[i])
        else
          redis.call('HDEL', key.msg, out[i])
        end
      end
      if summarize then
        waiting_tokens, waiting_messages = waiting_tokens + leaving, waiting_messages + left
      end
      tokens, messages = tokens + added - leaving, messages + count - left
      talk_tokens, talk_messages = talk_tokens + added - leaving, talk_messages + count - left
      if place then
        place[3], place[4] = tokens, messages
        local words = {}
        for i = 1, #stored do
          words[i] = table.concat(stored[i], ' ')
        end
        redis.call('HSET', key.meta, 'sections', table.concat(words, ' '))
      else
        short_tokens, short_messages = tokens, messages
      end
      version, updated_at = version + 1, now
      local counters = struct.pack(COUNTERS, <COUNTERS>)
      redis.call('HSET', key.meta, 'life', incarnation .. tag .. policy, 'counters', counters)
      -- parts: due
      if due and not due_at then
        redis.call('HSET', key.meta, 'due_at', now)
      elseif due_at and not due then
        redis.call('HDEL', key.meta, 'due_at')
      end
      -- A client reads a status in one piece, and text in two.
      return redis.status_reply(string.format('ok %s %d %d %d %d %d %d', incarnation, first, version,
        system_tokens + long_tokens + talk_tokens, system_messages + long_messages + talk_messages, due and 1 or 0,
        left))
    end
  end
end
