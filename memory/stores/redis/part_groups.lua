-- Records and groups. A message without tool calls is a group of its own; its number is its sequence number.
-- A record is `<section><mark><tag><tokens> <link> <payload>`. Its link is the group of a message with tool calls, the
-- covered ranges of a summary, else nothing. Its mark is one of MARKS, for its group.
-- In :groups, `m:<group>` is `<missing> <touched> <tokens> <messages> <mark> <call ids>`, and `c:<call id>` lists where
-- the call was seen: `<group>w` waits for its result, `d` has it, `l` left the view waiting, `x` had a late result.
local REMEMBER_CALLS_MS = 86460000 -- no operation is open for longer: 24 hours and the skew of clocks

-- Low, normal, high and critical priority; then the same of messages that are pinned.
local MARKS = 'l-hcLpHC'

local function pinned(mark)
  return string.find(MARKS, mark, 5, true) ~= nil
end

local function band_of(mark)
  return (string.find(MARKS, mark, 1, true) - 1) % 4
end

-- The same priority, pinned or not.
local function mark_as(mark, to_be_pinned)
  local place = band_of(mark) + (to_be_pinned and 5 or 1)
  return string.sub(MARKS, place, place)
end

-- Returns the sorted set of live messages with this letter.
local function order_of(letter)
  return letter == 's' and key.system or letter == 'l' and key.long or places[letter].order
end

-- Calls f with slices of a list, since Lua hands only some thousand arguments to a command. A slice has an even number,
-- since some lists are of pairs.
local function chunks(list, f)
  local first = 1
  while first <= #list do
    local last = math.min(first + 499, #list)
    f({unpack(list, first, last)})
    first = last + 1
  end
end

local function command_on(name, key, list)
  chunks(list, function(some)
    redis.call(name, key, unpack(some))
  end)
end

local function records(seqs)
  local all = {}
  chunks(seqs, function(some)
    local found = redis.call('HMGET', key.msg, unpack(some))
    for i = 1, #some do
      if not found[i] then
        damage('a record is missing')
      end
      all[#all + 1] = found[i]
    end
  end)
  return all
end

-- Many records travel as one text, which a client reads in one piece: the head, a line of their lengths, the records.
local function one_text(head, texts)
  local lengths = {}
  for i, text in ipairs(texts) do
    lengths[i] = #text
  end
  return table.concat(head, ' ') .. '\n' .. table.concat(lengths, ' ') .. '\n' .. table.concat(texts)
end

-- What the letters of user-defined sections in records stand for, behind the incarnation: `,<letter>=<name>` each.
local function names_of(name)
  local text = ''
  for i = 2, #all_places do
    text = text .. ',' .. all_places[i].letter .. '=' .. name(all_places[i])
  end
  return text
end

local function stored_name(place)
  return place.name
end

local function tokens_of(record)
  return tonumber(string.match(record, '^......(%d+)'))
end

local function link_of(record)
  return string.match(record, '^......%d+ (%S*) ')
end

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
local function members(key, group)
  local seqs = redis.call('ZRANGEBYSCORE', key, group, group)
  table.sort(seqs, function(a, b)
    return tonumber(a) < tonumber(b)
  end)
  return seqs
end

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
local function leave(group)
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
    redis.call('ZADD', key.departed, now + REMEMBER_CALLS_MS, group)
    forget_departed()
  else
    redis.call('HDEL', key.groups, 'm:' .. group)
  end
end
