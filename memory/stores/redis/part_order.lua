-- The order in which groups go: the policy's, for evictions and flushes alike. Scores are those of
-- memory/eviction/policies.py, and :evict holds that of each live group that is not pinned; fifo keeps none.
local TICKS_PER_MS = 1024
local ONE_ACCESS = 2 ^ 33
local MOST_ACCESSES = 2 ^ 20 - 1
local BAND = 2 ^ 48

-- The next moment: later than all before it, and not before the clock.
local function tick()
  m.access = math.max(m.access + 1, now * TICKS_PER_MS)
  return m.access
end

-- The score of a group that is new to the policy.
local function first_score(group, mark)
  if scoring == 'lru' then
    return tick()
  end
  return scoring == 'lfu' and ONE_ACCESS + group or band_of(mark) * BAND + group
end

-- Returns a page of the order: the number of each group's first message, and the scores.
local function page_of_order(first, last)
  if scoring == 'fifo' or m.policy ~= scoring then
    return redis.call('ZRANGE', key.short, first, last), {}
  end
  local seqs, scores, page = {}, {}, redis.call('ZRANGE', key.evict, first, last, 'WITHSCORES')
  for i = 1, #page, 2 do
    local group = page[i]
    seqs[#seqs + 1] = redis.call('ZRANGEBYSCORE', key.short, group, group, 'LIMIT', 0, 1)[1] or damage('a group is empty')
    scores[#scores + 1] = tonumber(page[i + 1])
  end
  return seqs, scores
end

-- Calls visit(group, seqs, tokens, state, score) for each live group that is not pinned, lowest score first, until it
-- returns true. changed: states of groups that this script is about to change. skip: groups to leave out.
local function each_group(changed, skip, visit)
  local seen, first, size = {}, 0, 4
  while true do
    local page, scores = page_of_order(first, first + size - 1)
    local texts = records(page)
    for i, seq in ipairs(page) do
      local mark, tokens, link = string.match(texts[i], '^.(.)....(%d+) (%S*) ')
      local group = tonumber(link == '' and seq or link)
      if not pinned(mark) and not seen[group] and not skip[group] then
        seen[group] = true
        local state, seqs = nil, {seq}
        if link ~= '' then
          state = changed[group] or group_state(group) or damage('a group has no state')
          seqs, tokens = members(key.short, group), state.tokens
        end
        if visit(group, seqs, tonumber(tokens), state, scores[i] or group) then
          return
        end
      end
    end
    if #page < size then
      return
    end
    first, size = first + size, math.min(size * 4, 256)
  end
end

-- The same in the order of a flush. Under token_aware_lru what is unused for long and large goes first, which only all
-- groups together show.
local function each_at_flush(visit)
  if not weighs then
    return each_group({}, {}, visit)
  end
  local all, moment = {}, math.max(m.access + 1, now * TICKS_PER_MS)
  each_group({}, {}, function(group, seqs, tokens, state, score)
    all[#all + 1] = {group, seqs, tokens, state, weight = (moment - score) * tokens}
  end)
  table.sort(all, function(a, b)
    return a.weight > b.weight or a.weight == b.weight and a[1] < b[1]
  end)
  for _, one in ipairs(all) do
    if visit(one[1], one[2], one[3], one[4]) then
      return
    end
  end
end

-- After a change of policy the groups that are there count as appended anew, in the order in which they came. This is
-- saved at once, so that scores and policy never disagree, also where the script refuses afterwards.
local function adopt_policy()
  if m.policy == scoring then
    return
  end
  local scores, seen, first = {}, {}, 0
  while scoring ~= 'fifo' do
    local page, seqs = redis.call('ZRANGE', key.short, first, first + 255, 'WITHSCORES'), {}
    for i = 1, #page, 2 do
      seqs[#seqs + 1] = page[i]
    end
    for i, text in ipairs(records(seqs)) do
      local group, mark = tonumber(page[2 * i]), string.sub(text, 2, 2)
      if not pinned(mark) and not seen[group] then
        seen[group] = true
        scores[#scores + 1], scores[#scores + 2] = first_score(group, mark), group
      end
    end
    if #seqs < 256 then
      break
    end
    first = first + 256
  end
  redis.call('UNLINK', key.evict)
  command_on('ZADD', key.evict, scores)
  m.policy = scoring
  inherit_expiry({key.evict})
  save()
end

-- Records an access to each of these live groups. Pinned ones have no score and need none.
local function record_accesses(groups)
  if #groups == 0 or not (scoring == 'lru' or scoring == 'lfu') then
    return
  end
  adopt_policy()
  for _, group in ipairs(groups) do
    if scoring == 'lru' then
      redis.call('ZADD', key.evict, 'XX', tick(), group)
    else
      local score = tonumber(redis.call('ZSCORE', key.evict, group) or INF)
      if score < MOST_ACCESSES * ONE_ACCESS then
        redis.call('ZADD', key.evict, score + ONE_ACCESS, group)
      end
    end
  end
  save()
end
