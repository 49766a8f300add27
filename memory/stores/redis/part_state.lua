-- The state of a memory in `m`, which is nil if it does not exist, and what is asked of it.
-- needs: forms keys limits head lost sections
-- gives: m new_memory save outside_tokens outside_messages live_tokens live_messages fixed_tokens fixed_messages
-- gives: too_large summaries_over flush_due note_due note_due_anew version_of

local m
if incarnation then
  m = {
    born = false, incarnation = incarnation, tag = last_tag, policy = policy,
    version = version, seq = seq, fence = fence, created_at = created_at,
    updated_at = updated_at, expires_at = expires_at, access = access, system_tokens = system_tokens,
    system_messages = system_messages, long_tokens = long_tokens, long_messages = long_messages,
    overflow_tokens = waiting_tokens, overflow_messages = waiting_messages,
    flush_retry_at = flush_retry_at, flush_at = flush_at, prune_at = prune_at, ops_until = ops_until,
  }
end

local function new_memory(incarnation)
  return {
    born = true, incarnation = incarnation, tag = '', policy = scoring,
    version = 0, seq = 0, fence = 0, created_at = now, updated_at = now, expires_at = 0, access = 0,
    system_tokens = 0, system_messages = 0, long_tokens = 0, long_messages = 0,
    overflow_tokens = 0, overflow_messages = 0,
    flush_retry_at = 0, flush_at = 0, prune_at = 0, ops_until = 0,
  }
end

local function save()
  local talk = places.c
  local counters = struct.pack(COUNTERS, m.version, m.seq, m.fence, m.created_at, m.updated_at, m.expires_at, m.access,
    m.system_tokens, m.system_messages, m.long_tokens, m.long_messages, talk.tokens, talk.messages,
    talk.pinned_tokens, talk.pinned_messages, m.overflow_tokens, m.overflow_messages,
    m.flush_retry_at, m.flush_at, m.prune_at, m.ops_until)
  redis.call('HSET', key.meta, 'life', m.incarnation .. m.tag .. m.policy, 'counters', counters)
  if m.born then
    redis.call('HSET', key.meta, 'schema', SCHEMA)
  end
  save_sections(m.overflow_messages > 0)
end

local function outside_tokens()
  return m.system_tokens + conversation('tokens')
end

local function outside_messages()
  return m.system_messages + conversation('messages')
end

local function live_tokens()
  return outside_tokens() + m.long_tokens
end

local function live_messages()
  return outside_messages() + m.long_messages
end

local function fixed_tokens()
  return m.system_tokens + conversation('pinned_tokens')
end

local function fixed_messages()
  return m.system_messages + conversation('pinned_messages')
end

-- Tells whether summaries of this size are too large: for their share, or to stand beside so much of the budget.
local function too_large(long_tokens, long_messages, tokens, messages)
  return long_messages > 0 and (long_messages + messages > max_messages or (shares and long_tokens > long_room)
    or (not shares and long_tokens + tokens > max_tokens))
end

-- Tells whether summaries fill more than their room, since that was lowered: the room that is kept free for one. Where
-- a memory drops and has some of before, it is what system and pinned messages leave.
local function summaries_over()
  if summarize then
    return too_large(m.long_tokens, m.long_messages, room_tokens, room_messages)
  end
  return too_large(m.long_tokens, m.long_messages, fixed_tokens(), fixed_messages())
end

local function flush_due()
  if m.overflow_messages > 0 or outside_tokens() >= due_tokens or outside_messages() >= due_messages
    or summaries_over() then
    return 1
  end
  for _, section in ipairs(sections) do
    if sum_of(section.places, 'tokens') >= section.due then
      return 1
    end
  end
  return 0
end

-- Notes since when a flush is due: scripts that change what is held call it before they save.
local function note_due()
  if flush_due() == 0 then
    redis.call('HDEL', key.meta, 'due_at')
  else
    redis.call('HSETNX', key.meta, 'due_at', now)
  end
end

-- The same where a flush has ended, or a backup came back: the wait begins anew.
local function note_due_anew()
  redis.call('HDEL', key.meta, 'due_at')
  note_due()
end

local function version_of()
  return m and m.incarnation .. ':' .. m.version .. ':' .. m.tag or 'absent'
end
