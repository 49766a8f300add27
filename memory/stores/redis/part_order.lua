-- The order in which groups go: the policy's, for evictions and flushes alike.

-- Calls visit(group, seqs, tokens, state) for each live group that is not pinned, lowest score first, until it returns
-- true. changed: states of groups that this script is about to change. skip: groups to leave out.
local function each_group(changed, skip, visit)
  local by_score = lru and m.policy == 'lru'
  local seen, first, size = {}, 0, 4
  while true do
    local page = redis.call('ZRANGE', by_score and key.evict or key.short, first, first + size - 1)
    local seqs, groups = page, nil
    if by_score then
      seqs = {}
      groups = page
      for i, group in ipairs(page) do
        seqs[i] = redis.call('ZRANGEBYSCORE', key.short, group, group, 'LIMIT', 0, 1)[1] or damage('a group has no message')
      end
    end
    local texts = records(seqs)
    for i, seq in ipairs(seqs) do
      local pin, tokens, link = string.match(texts[i], '^.(.)....(%d+) (%S*) ')
      local group = tonumber(link == '' and seq or link)
      if pin == '-' and not seen[group] and not skip[group] then
        seen[group] = true
        local state, all = nil, {seq}
        if link ~= '' then
          state = changed[group] or group_state(group) or damage('a group has no state')
          all, tokens = members(key.short, group), state.tokens
        end
        if visit(group, all, tonumber(tokens), state) then
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

-- Under lru each group has the number of its last access as score. After a change of policy, old groups count as
-- accessed in the order in which they came.
local function adopt_policy()
  if lru and m.policy ~= 'lru' then
    local pinned = {}
    local of_pinned = redis.call('ZRANGE', key.pinned, 0, -1, 'WITHSCORES')
    for i = 2, #of_pinned, 2 do
      pinned[of_pinned[i]] = true
    end
    redis.call('UNLINK', key.evict)
    local first = 0
    while true do
      local page = redis.call('ZRANGE', key.short, first, first + 255, 'WITHSCORES')
      for i = 2, #page, 2 do
        if not pinned[page[i]] and redis.call('ZADD', key.evict, 'NX', m.access + 1, page[i]) == 1 then
          m.access = m.access + 1
        end
      end
      if #page < 512 then
        break
      end
      first = first + 256
    end
    m.policy = 'lru'
    inherit_expiry({key.evict})
  elseif not lru and m.policy == 'lru' then
    redis.call('UNLINK', key.evict)
    m.policy = 'fifo'
  end
end

local function access(group)
  m.access = m.access + 1
  redis.call('ZADD', key.evict, m.access, group)
end
