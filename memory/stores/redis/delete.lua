-- Removes the whole groups of messages, or summaries, live or waiting.
-- ARGV: limits, operation, digest, deadline, tag, ids.
-- Returns `ok <incarnation> | <seq-tag ...> | <position ...> | <position=seq-tag ...>`: removed, not found,
-- covered; `again …` if it was applied before.
-- parts: may_change call
local refused = change_refused() or deadline_refused()
if refused then
  return refused
end
-- parts: keys sections state expiry operations records groups ids batch
local tag = ARGV[5]
local known = recall('d', op, digest)
if known then
  return known == 'reused' and known or 'again ' .. known
end
if operations_full() then
  return 'operations'
end

local removed, seen = {}, {} -- messages and summaries that go: with what their records say, and as a set
local missing = {} -- ids that nothing here has, by their positions

-- Notes that what stands in this sorted set under these numbers is to go.
local function note_removed(zset, seqs)
  for i, text in ipairs(records(seqs)) do
    if not seen[seqs[i]] then
      seen[seqs[i]] = true
      local section, pin, its_tag, tokens, link = string.match(text, '^(.)(.)(....)(%d+) (%S*) ')
      removed[#removed + 1] = {
        seq = seqs[i], zset = zset, section = section, pin = pin, tag = its_tag, tokens = tonumber(tokens), link = link,
      }
    end
  end
end

for i = 6, #ARGV do
  local seq, _, section, group, gone
  if m then
    seq, _, section, group, gone = find(ARGV[i])
  end
  if not seq then
    missing[#missing + 1] = {position = i - 6, seq = gone}
  elseif not places[section] then
    note_removed(order_of(section), {seq})
  else
    note_removed(places[section].order, members(places[section].order, group))
    note_removed(key.overflow, members(key.overflow, group))
  end
end
table.sort(removed, function(a, b)
  return tonumber(a.seq) < tonumber(b.seq)
end)

-- Returns the ranges of numbers that the summaries cover which stay, each with the name of its summary.
local function covered_ranges()
  local found, summaries = {}, redis.call('ZRANGE', key.long, 0, -1)
  for i, text in ipairs(records(summaries)) do
    if not seen[summaries[i]] then
      local its_tag, ranges = string.match(text, '^..(....)%d+ (%S*) ')
      for first, last in string.gmatch(ranges, '(%d+)%-(%d+)') do
        found[#found + 1] = {first = tonumber(first), last = tonumber(last), name = summaries[i] .. '-' .. its_tag}
      end
    end
  end
  return found
end

-- Returns the positions of the ids that are missing, and of those that only a summary stands for, with its name.
local function missing_and_covered()
  local not_found, covered = {}, {}
  local ranges = m and #missing > 0 and covered_ranges() or {}
  for _, one in ipairs(missing) do
    local by
    for _, range in ipairs(ranges) do
      if one.seq and range.first <= one.seq and one.seq <= range.last then
        by = range.name
      end
    end
    if by then
      covered[#covered + 1] = one.position .. '=' .. by
    else
      not_found[#not_found + 1] = one.position
    end
  end
  return table.concat(not_found, ' '), table.concat(covered, ' ')
end

local left = {} -- groups of calls that have left the view

-- Takes one of `removed` out of its sorted set and of the counters.
local function take_out(one)
  redis.call('ZREM', one.zset, one.seq)
  if one.zset == key.overflow then
    m.waiting_tokens, m.waiting_messages = m.waiting_tokens - one.tokens, m.waiting_messages - 1
  elseif one.section == 's' then
    m.system_tokens, m.system_messages = m.system_tokens - one.tokens, m.system_messages - 1
  elseif one.section == 'l' then
    m.long_tokens, m.long_messages = m.long_tokens - one.tokens, m.long_messages - 1
  else
    local place = places[one.section]
    place.tokens, place.messages = place.tokens - one.tokens, place.messages - 1
    if pinned(one.pin) then
      redis.call('ZREM', key.pinned, one.seq)
      place.pinned_tokens, place.pinned_messages = place.pinned_tokens - one.tokens, place.pinned_messages - 1
    end
    local group = one.link == '' and one.seq or one.link
    redis.call('ZREM', place.evict, group)
    if one.link ~= '' and not left[group] then
      left[group] = true
      leave(group)
    end
  end
end

local names, seqs = {}, {}
for i, one in ipairs(removed) do
  names[i], seqs[i] = one.seq .. '-' .. one.tag, one.seq
end
local not_found, covered = missing_and_covered()
local answer = table.concat({m and m.incarnation or '-', table.concat(names, ' '), not_found, covered}, '|')
if #removed > 0 then
  drop_batch_with(seqs)
  for _, one in ipairs(removed) do
    take_out(one)
  end
  command_on('HDEL', key.msg, seqs)
  m.version, m.tag, m.updated_at = m.version + 1, tag, now
end
remember('d', op, digest, deadline, answer)
if #removed > 0 then
  prolong({key.groups, key.departed})
  note_due()
end
if m then
  save()
end
return 'ok ' .. answer
