-- The order in which groups go: the policy's, for evictions and flushes alike.

-- Returns a page of the order: the number of each group's first message.
local function page_of_order(first, last)
  if not (lru and m.policy == 'lru') then
    return redis.call('ZRANGE', key.short, first, last)
  end
  local seqs = {}
  for i, group in ipairs(redis.call('ZRANGE', key.evict, first, last)) do
    seqs[i] = redis.call('ZRANGEBYSCORE', key.short, group, group, 'LIMIT', 0, 1)[1] or damage('a group is empty')
  end
  return seqs
end

-- Calls visit(group, seqs, tokens, state) for each live group that is not pinned, lowest score first, until it returns
-- true. changed: states of groups that this script is about to change. skip: groups to leave out.
local function each_group(changed, skip, visit)
  local seen, first, size = {}, 0, 4
  while true do
    local page = page_of_order(first, first + size - 1)
    local texts = records(page)
    for i, seq in ipairs(page) do
      local pin, tokens, link = string.match(texts[i], '^.(.)....(%d+) (%S*) ')
      local group = tonumber(link == '' and seq or link)
      if pin == '-' and not seen[group] and not skip[group] then
        seen[group] = true
        local state, seqs = nil, {seq}
        if link ~= '' then
          state = changed[group] or group_state(group) or damage('a group has no state')
          seqs, tokens = members(key.short, group), state.tokens
        end
        if visit(group, seqs, tonumber(tokens), state) then
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
