-- The order in which groups go: the policy's, for evictions and flushes alike. :evict holds the score of each live
-- group that is not pinned.
-- needs: limits head score sections state expiry records groups
-- gives: first_score each_group each_at_flush each_in_any_order preview_policy adopt_policy record_accesses

local first_score, each_group, each_at_flush, each_in_any_order, preview_policy, adopt_policy, record_accesses
do
  -- numbers: MOST_STEPS

  -- The next moment.
  local function tick()
    m.moment = moment_after(m.moment)
    return m.moment
  end

  -- The score of a group that is new to the policy.
  function first_score(group, mark)
    local score
    score, m.moment = new_score(group, band_of(mark), m.moment)
    return score
  end

  -- The score under lfu of a group that had this one and is accessed: counts fade, by half in a day.
  local function score_with_access(score)
    local level = level_now()
    local above = math.floor(score / STEP) - level
    local counted = math.floor(STEPS * math.log(1 + 2 ^ (above / STEPS)) / math.log(2) + 0.5)
    return (level + math.min(math.max(above + 1, counted), MOST_STEPS)) * STEP + score % STEP
  end

  -- The order that a policy would give that has not been adopted, by place, for who may write nothing: groups and
  -- scores in turn.
  local preview

  -- The order of a place: groups, or their messages where nothing is scored, each with its score.
  local function order_of_place(place, scored)
    if preview then
      return preview[place] or {}
    end
    return redis.call('ZRANGE', scored and place.evict or place.order, 0, -1, 'WITHSCORES')
  end

  -- The orders of several places as one. Returns the members, their places and their scores.
  local function merged(some, scored)
    local all, listed, owners, scores = {}, {}, {}, {}
    for _, place in ipairs(some) do
      local list = order_of_place(place, scored)
      for i = 1, #list, 2 do
        all[#all + 1] = {tonumber(list[i + 1]), tonumber(list[i]), place}
      end
    end
    table.sort(all, function(a, b)
      return a[1] < b[1] or a[1] == b[1] and a[2] < b[2]
    end)
    for i, one in ipairs(all) do
      scores[i], listed[i], owners[i] = one[1], one[2], one[3]
    end
    return listed, owners, scores
  end

  -- Returns a function that gives a page of the order of these places: the number of each group's first message, and
  -- the scores. Several places are read at once: each is no longer than its part of the view.
  local function pages_of(some)
    local scored = preview or (scoring ~= 'fifo' and m.policy == scoring)
    local all, owners, scores_of_all
    if #some > 1 then
      all, owners, scores_of_all = merged(some, scored)
    end
    return function(first, last)
      local page, owner = {}, function()
        return some[1]
      end
      if all then
        for i = first + 1, math.min(last + 1, #all) do
          page[#page + 1], page[#page + 2] = all[i], scores_of_all[i]
        end
        owner = function(i)
          return owners[first + i]
        end
      elseif preview then
        local order = order_of_place(some[1], true)
        page = {unpack(order, 2 * first + 1, math.min(2 * last + 2, #order))}
      elseif not scored then
        return redis.call('ZRANGE', some[1].order, first, last), {}
      else
        page = redis.call('ZRANGE', some[1].evict, first, last, 'WITHSCORES')
      end
      local seqs, scores = {}, {}
      for i = 1, #page, 2 do
        local group, n = page[i], #seqs + 1
        seqs[n], scores[n] = group, scored and tonumber(page[i + 1]) or nil
        if scored then
          local found = redis.call('ZRANGEBYSCORE', owner(n).order, group, group, 'LIMIT', 0, 1)
          seqs[n] = found[1] or damage('a group is empty')
        end
      end
      return seqs, scores
    end
  end

  -- Calls visit(group, seqs, tokens, state, place, score) for each live group of these places that is not pinned,
  -- lowest score first, until it returns true. changed: states of groups that this script is about to change. skip:
  -- groups to leave out.
  function each_group(some, changed, skip, visit)
    local page_of, seen, first, size = pages_of(some), {}, 0, 4
    while true do
      local page, scores = page_of(first, first + size - 1)
      local texts = records(page)
      for i, seq in ipairs(page) do
        local letter, mark, tokens, link = string.match(texts[i], '^(.)(.)....(%d+) (%S*) ')
        local group = tonumber(link == '' and seq or link)
        if not pinned(mark) and not seen[group] and not skip[group] then
          seen[group] = true
          local state, seqs = nil, {seq}
          if link ~= '' then
            state = changed[group] or group_state(group) or damage('a group has no state')
            seqs, tokens = members(places[letter].order, group), state.tokens
          end
          if visit(group, seqs, tonumber(tokens), state, places[letter], scores[i] or group) then
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

  -- The same in the order of a flush. Under token_aware_lru what is unused for long and large goes first, which only
  -- all groups together show.
  function each_at_flush(some, skip, visit)
    if not weighs then
      return each_group(some, {}, skip, visit)
    end
    local all, next_moment = {}, moment_after(m.moment)
    each_group(some, {}, skip, function(group, seqs, tokens, state, place, score)
      all[#all + 1] = {group, seqs, tokens, state, place, weight = (next_moment - score) * tokens}
    end)
    table.sort(all, function(a, b)
      return a.weight > b.weight or a.weight == b.weight and a[1] < b[1]
    end)
    for _, one in ipairs(all) do
      if visit(unpack(one, 1, 5)) then
        return
      end
    end
  end

  -- The same in whatever order, without a look at more than it needs: each place by itself.
  function each_in_any_order(some, skip, visit)
    local done = false
    for _, place in ipairs(some) do
      if not done then
        each_group({place}, {}, skip, function(...)
          done = visit(...)
          return done
        end)
      end
    end
  end

  -- After a change of policy the groups that are there count as appended anew, in the order in which they came. Returns
  -- scores and groups in turn, by place.
  local function scores_anew()
    local scores_of, seen, first, page_of = {}, {}, 0, pages_of(all_places)
    while scoring ~= 'fifo' do
      local seqs = page_of(first, first + 255)
      for i, text in ipairs(records(seqs)) do
        local letter, mark, link = string.match(text, '^(.)(.)....%d+ (%S*) ')
        local group = tonumber(link == '' and seqs[i] or link)
        if not pinned(mark) and not seen[group] then
          seen[group] = true
          local scores = scores_of[places[letter]] or {}
          scores_of[places[letter]] = scores
          scores[#scores + 1], scores[#scores + 2] = first_score(group, mark), group
        end
      end
      if #seqs < 256 then
        break
      end
      first = first + 256
    end
    return scores_of
  end

  -- Looks at the order that adopt_policy would give, and writes nothing.
  function preview_policy()
    if m.policy == scoring or scoring == 'fifo' then
      return
    end
    local orders = {}
    for place, scores in pairs(scores_anew()) do
      local ranked = {}
      for i = 1, #scores, 2 do
        ranked[#ranked + 1] = {scores[i], scores[i + 1]}
      end
      table.sort(ranked, function(a, b)
        return a[1] < b[1]
      end)
      orders[place] = {}
      for _, one in ipairs(ranked) do
        table.insert(orders[place], one[2])
        table.insert(orders[place], one[1])
      end
    end
    preview = orders
  end

  -- This is saved at once, so that scores and policy never disagree, also where the script refuses afterwards.
  function adopt_policy()
    if m.policy == scoring then
      return
    end
    local scores_of = scores_anew()
    local keys = {}
    for i, place in ipairs(all_places) do
      redis.call('UNLINK', place.evict)
      command_on('ZADD', place.evict, scores_of[place] or {})
      keys[i] = place.evict
    end
    m.policy = scoring
    inherit_expiry(keys)
    save()
  end

  -- Records an access to each of these live groups, given with their places. Pinned ones have no score and need none.
  -- may: tells, if it is given, whether what would be written is to be; it is only asked if something would.
  function record_accesses(groups, may)
    if #groups == 0 or not (scoring == 'lru' or scoring == 'lfu') or (may and not may()) then
      return
    end
    adopt_policy()
    for _, one in ipairs(groups) do
      local evict, group = one[1].evict, one[2]
      if scoring == 'lru' then
        redis.call('ZADD', evict, 'XX', tick(), group)
      else
        local score = redis.call('ZSCORE', evict, group)
        if score then
          redis.call('ZADD', evict, score_with_access(tonumber(score)), group)
        end
      end
    end
    save()
  end
end
