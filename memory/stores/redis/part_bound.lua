-- How much of a selection one flush takes, and which old summaries go along.
-- needs: keys limits state summaries
-- gives: bound seqs_of summaries_along

-- The groups that wait, oldest first.
local function waiting_groups()
  local groups, found = {}, redis.call('ZRANGE', key.overflow, 0, -1, 'WITHSCORES')
  for i = 1, #found, 2 do
    local last = groups[#groups]
    if not last or last.group ~= found[i + 1] then
      last = {group = found[i + 1], seqs = {}}
      groups[#groups + 1] = last
    end
    table.insert(last.seqs, found[i])
  end
  return groups
end

-- Returns the first of these groups, as many as have at most so many messages, and how many they have.
local function fitting(groups, most)
  local kept, messages = {}, 0
  for i, one in ipairs(groups) do
    if messages + #one.seqs > most then
      break
    end
    kept[i], messages = one, messages + #one.seqs
  end
  return kept, messages
end

-- Adds the groups that leave the overflow, and bounds all of them to so many messages: what waits goes first, then the
-- groups in the order in which they were selected. Summaries do not count.
local function bound(taken, most)
  if taken.reason then
    return
  end
  local waiting = waiting_groups()
  taken.summaries, taken.summary_tokens = summaries_leaving(fixed_tokens(), fixed_messages())
  taken.waiting, taken.waiting_messages = fitting(waiting, most)
  local left = #taken.waiting == #waiting and most - taken.waiting_messages or 0
  taken.groups, taken.messages = fitting(taken.groups, left)
  taken.tokens = 0
  for _, one in ipairs(taken.groups) do
    taken.tokens = taken.tokens + one.tokens
  end
  if taken.waiting_messages + taken.messages == 0 and not summaries_over() then
    taken.reason = 'max_messages'
  end
end

-- The numbers of all messages that a selection takes, in order.
local function seqs_of(taken)
  local seqs = {}
  local function add(some)
    for _, seq in ipairs(some) do
      seqs[#seqs + 1] = tonumber(seq)
    end
  end
  for _, groups in ipairs({taken.waiting, taken.groups}) do
    for _, one in ipairs(groups) do
      add(one.seqs)
    end
  end
  add(taken.summaries)
  table.sort(seqs)
  return seqs
end

-- Without a share of their own, the room of summaries is as large as one, so the old ones are always summarised along.
-- With a share, they are once the next would not stand beside them. A limit of messages keeps room for one alone.
local function summaries_along()
  local beside = shares and max_messages == INF and m.long_tokens + summary_tokens <= long_room
  return beside and {} or redis.call('ZRANGE', key.long, 0, -1)
end
