-- How much of a selection one flush takes, and which old summaries go along.
-- needs: keys limits sections state records summaries
-- gives: bound numbers_of summaries_along

-- The first of these numbers, by whole groups, that are at most so many.
local function fitting(seqs, most)
  local kept, run, current = {}, {}, nil
  local texts = records(seqs)
  for i = 1, #seqs + 1 do
    local link = texts[i] and link_of(texts[i])
    local group = link and (link == '' and seqs[i] or link)
    if group ~= current then
      if #kept + #run > most then
        return kept
      end
      for _, seq in ipairs(run) do
        kept[#kept + 1] = seq
      end
      run, current = {}, group
    end
    run[#run + 1] = seqs[i]
  end
  return kept
end

-- Adds what leaves the overflow, and bounds all of it to so many messages: what waits goes first, then the groups in
-- the order in which they were selected. Summaries do not count.
local function bound(taken, most)
  taken.waiting = redis.call('ZRANGE', key.overflow, 0, -1)
  taken.summaries, taken.summary_tokens = summaries_leaving(fixed_tokens(), fixed_messages())
  if taken.reason or #taken.waiting + taken.messages <= most then
    return
  end
  local waiting = fitting(taken.waiting, most)
  local seqs = #waiting == #taken.waiting and fitting(taken.seqs, most - #waiting) or {}
  taken.waiting, taken.seqs, taken.groups, taken.tokens, taken.messages = waiting, seqs, {}, 0, #seqs
  taken.seqs_of, taken.tokens_of = {}, {}
  local seen = {}
  for i, text in ipairs(records(seqs)) do
    local place, tokens = places[string.sub(text, 1, 1)], tokens_of(text)
    taken.seqs_of[place] = taken.seqs_of[place] or {}
    table.insert(taken.seqs_of[place], seqs[i])
    taken.tokens_of[place] = (taken.tokens_of[place] or 0) + tokens
    taken.tokens = taken.tokens + tokens
    local group = link_of(text) == '' and seqs[i] or link_of(text)
    if not seen[group] then
      seen[group] = true
      table.insert(taken.groups, {tonumber(group), place})
    end
  end
  if #waiting + #seqs == 0 and not summaries_over() then
    taken.reason = 'max_messages'
  end
end

-- The numbers of all messages that a selection takes, in order.
local function numbers_of(taken)
  local seqs = {}
  for _, list in ipairs({taken.waiting, taken.seqs, taken.summaries}) do
    for _, seq in ipairs(list) do
      seqs[#seqs + 1] = tonumber(seq)
    end
  end
  table.sort(seqs)
  return seqs
end

-- Without a share of their own, the room of summaries is as large as one, so the old ones are always summarised along.
-- With a share, they are once the next would not stand beside them. A limit of messages keeps room for one alone.
local function summaries_along()
  local beside = shares and max_messages == INF and m.long_tokens + summary_tokens <= long_room
  return beside and {} or redis.call('ZRANGE', key.long, 0, -1)
end
