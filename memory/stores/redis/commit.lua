-- Replaces the stored batch by its draft in one step; evicts nothing.
-- ARGV: limits, incarnation, fence, owner, batch id, operation of the owner, deadline, tag.
-- parts: may_change
local refused = change_refused()
if refused then
  return refused
end
-- parts: keys sections state expiry operations records groups batch
local incarnation, fence, owner, id, op, deadline, tag =
  ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], tonumber(ARGV[7]), ARGV[8]
if now > deadline then
  return 'expired'
end
local known = recall('f', op, '')
if known then
  return known == 'reused' and known or table.concat({'again', m and flush_due() or 0, known}, ' ')
end
local stopped = batch_stopped(incarnation, fence, owner, id)
if stopped then
  return stopped
end
local draft, draft_tokens, summary_max = unpack(redis.call('HMGET', key.batch, 'draft', 'draft_tokens', 'summary_max'))
draft_tokens, summary_max = tonumber(draft_tokens), tonumber(summary_max)
if not draft or draft == '' or draft_tokens < 1 then
  return 'empty'
end
if draft_tokens > summary_max then
  return table.concat({'large', draft_tokens, summary_max}, ' ')
end

-- Read everything first: what is missing is found before anything is written.
local tokens_before, messages_before = live_tokens(), live_messages()
local seqs, names, batched = {}, {}, {} -- the messages of the batch: in order, as the answer names them, and as a set
local live, waiting = {}, {} -- the same by where they stand: in a place, or in the overflow
local groups = {} -- those of live messages: the place of each, and whether it may have other messages
local summaries, ranges = {}, {} -- those of before, and all that the new one covers

local function cover(first, last)
  table.insert(ranges, {tonumber(first), tonumber(last)})
end

-- Takes some messages of the batch out of the counters, and notes where each of them stands by now.
local function take_messages(some)
  if #some == 0 then
    return
  end
  local scores = redis.call('ZMSCORE', key.overflow, unpack(some))
  for i, text in ipairs(records(some)) do
    local seq, letter, its_tag, tokens, link = some[i], string.match(text, '^(.).(....)(%d+) (%S*) ')
    seqs[#seqs + 1], names[#names + 1], batched[seq] = seq, seq .. '-' .. its_tag, true
    cover(seq, seq)
    if scores[i] then
      waiting[#waiting + 1] = seq
      m.waiting_tokens, m.waiting_messages = m.waiting_tokens - tonumber(tokens), m.waiting_messages - 1
    else
      local place = places[letter]
      live[place] = live[place] or {}
      table.insert(live[place], seq)
      place.tokens, place.messages = place.tokens - tonumber(tokens), place.messages - 1
      groups[link == '' and seq or link] = {place = place, of_calls = link ~= ''}
    end
  end
end

-- Takes the summaries of before out of the counters: the new one covers what they cover.
local function take_summaries(listed)
  for seq in string.gmatch(listed, '%d+') do
    summaries[#summaries + 1] = seq
    cover(seq, seq)
  end
  for _, text in ipairs(records(summaries)) do
    local tokens, covered = string.match(text, '^......(%d+) (%S*) ')
    m.long_tokens, m.long_messages = m.long_tokens - tonumber(tokens), m.long_messages - 1
    for first, last in string.gmatch(covered, '(%d+)%-(%d+)') do
      cover(first, last)
    end
  end
end

-- Returns the results that joined a group of the batch after begin, counted among what waits: they follow their group,
-- and go into the next summary.
local function late_results()
  local late = {}
  for group, one in pairs(groups) do
    for _, seq in ipairs(one.of_calls and members(one.place.order, group) or {}) do
      if not batched[seq] then
        table.insert(late, {group = group, seq = seq, place = one.place})
      end
    end
  end
  for _, one in ipairs(late) do
    local tokens = tokens_of(records({one.seq})[1])
    one.place.tokens, one.place.messages = one.place.tokens - tokens, one.place.messages - 1
    m.waiting_tokens, m.waiting_messages = m.waiting_tokens + tokens, m.waiting_messages + 1
  end
  return late
end

-- Returns all that is covered in as few ranges as possible, as a record has them. Of more than a summary names, the
-- oldest are one, with the gaps between them.
local function joined_ranges()
  -- numbers: MOST_RANGES
  table.sort(ranges, function(a, b)
    return a[1] < b[1]
  end)
  local joined = {}
  for _, range in ipairs(ranges) do
    local last = joined[#joined]
    if last and range[1] <= last[2] + 1 then
      last[2] = math.max(last[2], range[2])
    else
      joined[#joined + 1] = range
    end
  end
  local first = math.max(1, #joined - MOST_RANGES + 1)
  joined[first][1] = joined[1][1]
  local covers = {}
  for i = first, #joined do
    covers[#covers + 1] = joined[i][1] .. '-' .. joined[i][2]
  end
  return table.concat(covers, ',')
end

take_summaries(each_page(take_messages))
local late, covers = late_results(), joined_ranges()

m.seq, m.version, m.tag, m.updated_at = m.seq + 1, m.version + 1, tag, now
redis.call('HSET', key.msg, m.seq, 'l-' .. tag .. draft_tokens .. ' ' .. covers .. ' ' .. draft)
redis.call('ZADD', key.long, m.seq, m.seq)
m.long_tokens, m.long_messages = m.long_tokens + draft_tokens, m.long_messages + 1
for _, one in ipairs(late) do
  redis.call('ZADD', key.overflow, one.group, one.seq)
  redis.call('ZREM', one.place.order, one.seq)
end
for place, of_place in pairs(live) do
  command_on('ZREM', place.order, of_place)
end
command_on('ZREM', key.overflow, waiting)
command_on('ZREM', key.long, summaries)
command_on('HDEL', key.msg, seqs)
command_on('HDEL', key.msg, summaries)
for group, one in pairs(groups) do
  redis.call('ZREM', one.place.evict, group)
  if one.of_calls then
    leave(group)
  end
end
drop_batch()
m.flush_at, m.flush_retry_at = now, 0
redis.call('HSET', key.meta, 'flush_outcome', 'committed')
local result = table.concat({
  m.incarnation, m.seq .. '-' .. tag, tokens_before, live_tokens(), messages_before, live_messages(),
  table.concat(names, ','),
}, ' ')
remember('f', op, '', deadline, result)
inherit_expiry({key.msg, key.long, key.overflow, key.groups, key.departed})
note_due_anew()
save()
return table.concat({'ok', flush_due(), result}, ' ')
