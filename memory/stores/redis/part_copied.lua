-- Whether a backup can be brought back: whether its copies hold what its counters say, and under which keys it is
-- encrypted. Records are as part_records.lua says.
-- needs: backups
-- gives: sizes_are_whole look_into

local function is_kind(copy, kind)
  local found = redis.call('TYPE', copy).ok
  return found == kind or found == 'none'
end

local function holds(name, messages)
  return is_kind(copies[name], 'zset') and redis.call('ZCARD', copies[name]) == messages
end

-- Tells whether the copies are as many as the counters and sections say. Scores that are lost are given anew.
local function sizes_are_whole(counters, sections)
  for _, counter in pairs(counters) do
    if not (counter >= 0 and counter < 2 ^ 53 and counter % 1 == 0) then
      return false
    end
  end
  for name, copy in pairs(copies) do
    local kind = (name == 'meta' or name == 'msg' or name == 'groups') and 'hash' or 'zset'
    if not is_kind(copy, kind) then
      return false
    end
  end
  local messages = counters.system_messages + counters.long_messages + counters.short_messages
    + counters.waiting_messages
  local pinned = counters.pinned_messages
  for name, here, pinned_here in string.gmatch(sections, '%a (%S+) %d+ (%d+) %d+ (%d+)') do
    messages, pinned = messages + here, pinned + pinned_here
    if not holds('order:' .. name, tonumber(here)) then
      return false
    end
  end
  return redis.call('HLEN', copies.msg) == messages
    and holds('order:system', counters.system_messages) and holds('order:long_term', counters.long_messages)
    and holds('order:short_term', counters.short_messages) and holds('overflow', counters.waiting_messages)
    and holds('pinned', pinned)
end

-- Returns the numbers and the records of one message for each key that encrypted any, and of one that none did; or
-- nothing if a group with tool calls has lost its state: a result of it would be refused.
local function look_into()
  local cursor, seen, known, seqs, texts = '0', {}, {}, {}, {}
  for _, group in ipairs(redis.call('ZRANGE', copies.departed, 0, -1)) do
    if redis.call('HEXISTS', copies.groups, 'm:' .. group) == 0 then
      return nil
    end
  end
  repeat
    local page = redis.call('HSCAN', copies.msg, cursor, 'COUNT', 1000)
    cursor = page[1]
    for i = 1, #page[2], 2 do
      local seq, record = page[2][i], page[2][i + 1]
      local group = string.match(record, '^[^l].....%d+ (%d+) ')
      if group and not known[group] and not redis.call('ZSCORE', copies.overflow, seq) then
        known[group] = redis.call('HEXISTS', copies.groups, 'm:' .. group) == 1
        if not known[group] then
          return nil
        end
      end
      local seal = string.match(record, '^......%d+ %S* (enc:%d+:[%w_-]*:)') or ''
      if not seen[seal] then
        seen[seal], seqs[#seqs + 1], texts[#texts + 1] = true, seq, record
      end
    end
  until cursor == '0'
  return seqs, texts
end
