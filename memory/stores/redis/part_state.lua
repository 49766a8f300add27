-- The state of a memory in `m`, which is nil if it does not exist, and what is asked of it.
-- needs: forms keys limits head lost sections
-- gives: m new_memory save outside_tokens outside_messages live_tokens live_messages fixed_tokens fixed_messages
-- gives: too_large summaries_over flush_due note_due note_due_anew version_of

local m
if incarnation then
  m = {born = false, incarnation = incarnation, tag = last_tag, policy = policy, <COUNTERS: % = %>}
end

local function new_memory(incarnation)
  local new = {born = true, incarnation = incarnation, tag = '', policy = scoring, <COUNTERS: % = 0>}
  new.created_at, new.updated_at = now, now
  return new
end

local function save()
  -- What stands in short_term is counted in its place.
  local talk = places.c
  m.short_tokens, m.short_messages = talk.tokens, talk.messages
  m.pinned_tokens, m.pinned_messages = talk.pinned_tokens, talk.pinned_messages
  local counters = struct.pack(COUNTERS, <COUNTERS: m.%>)
  redis.call('HSET', key.meta, 'life', m.incarnation .. m.tag .. m.policy, 'counters', counters)
  if m.born then
    redis.call('HSET', key.meta, 'schema', SCHEMA)
  end
  save_sections(m.waiting_messages > 0)
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
  if m.waiting_messages > 0 or outside_tokens() >= due_tokens or outside_messages() >= due_messages
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
