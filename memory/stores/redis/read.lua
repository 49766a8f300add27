-- Reads the view: whole groups, open ones left out, from the newest back where something limits it.
-- ARGV: limits, messages at most, tokens at most, sections (letters), `ids` or nothing, the ids.
-- Returns the records behind a head `ok <incarnation> <version> <omitted messages> <omitted tokens> <due> <seq ...>`.
-- parts: state expiry groups order ids
if not m then
  return 'absent'
end
check_counts()
local at_most, tokens_at_most, sections, by_ids = tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4], ARGV[5] == 'ids'
local ORDER = {s = 1, l = 2, c = 3}

-- A block is a group as it stands in the view; nil for a group that waits for a result.
local function block_of(section, seq, text)
  local pin, tokens, link = string.match(text, '^.(.)....(%d+) (%S*) ')
  if section ~= 'c' or link == '' then
    return {section = section, group = tonumber(seq), pinned = pin == 'p', tokens = tonumber(tokens), seqs = {seq}, texts = {text}}
  end
  local state = group_state(link) or damage('a group has no state')
  if state.missing > 0 then
    return nil, tonumber(link)
  end
  local seqs = members(key.short, link)
  return {section = section, group = tonumber(link), pinned = pin == 'p', tokens = state.tokens, seqs = seqs, texts = records(seqs)}
end

-- A source calls visit(block) from the newest block of a section back, until it returns true.
local function stored(section, size, visit)
  local key = section == 'p' and key.pinned or SECTION_KEY[section]
  local seen, first = {}, 0
  while true do
    local page = redis.call('ZREVRANGE', key, first, first + size - 1)
    for i, text in ipairs(records(page)) do
      local block, hidden = block_of(section == 'p' and 'c' or section, page[i], text)
      local group = block and block.group or hidden
      if not seen[group] then
        seen[group] = true
        if block and visit(block) then
          return true
        end
      end
    end
    if #page < size then
      return false
    end
    first, size = first + size, math.min(size * 2, 256)
  end
end

local function listed(blocks)
  return function(section, _, visit)
    for i = #blocks, 1, -1 do
      local block = blocks[i]
      local kind = block.section
      if (section == 'p' and kind == 'c' and block.pinned) or (section ~= 'p' and kind == section) then
        if visit(block) then
          return true
        end
      end
    end
    return false
  end
end

local function in_view_order(blocks)
  table.sort(blocks, function(a, b)
    if a.section ~= b.section then
      return ORDER[a.section] < ORDER[b.section]
    end
    return a.group < b.group
  end)
  return blocks
end

-- The newest blocks that fit, a plain tail of the view.
local function tail(source, limit)
  local blocks, count = {}, 0
  if limit < 1 then
    return blocks
  end
  for _, section in ipairs({'c', 'l', 's'}) do
    local full = string.find(sections, section, 1, true) and source(section, math.min(limit, 256), function(block)
      if count + #block.seqs > limit then
        return true
      end
      count = count + #block.seqs
      blocks[#blocks + 1] = block
      return count >= limit
    end)
    if full then
      break
    end
  end
  return in_view_order(blocks)
end

-- What a model call needs most: system messages, pinned ones, summaries, then the conversation from the newest back.
-- strict: returns nil and their tokens if system and pinned messages alone do not fit.
local function within(source, tokens, messages, strict)
  local blocks, used, count = {}, 0, 0
  local function fits(block)
    return used + block.tokens <= tokens and count + #block.seqs <= messages
  end
  local function take(block)
    blocks[#blocks + 1] = block
    used, count = used + block.tokens, count + #block.seqs
  end
  for _, kind in ipairs({'s', 'p', 'l', 'c'}) do
    if string.find(sections, kind == 'p' and 'c' or kind, 1, true) then
      source(kind, 32, function(block)
        if kind == 'c' then
          if block.pinned then
            return false
          end
          if not fits(block) then
            return true
          end
          take(block)
        elseif (strict and kind ~= 'l') or fits(block) then
          take(block)
        end
        return false
      end)
    end
    if kind == 'p' and strict and used > tokens then
      return nil, used
    end
  end
  return in_view_order(blocks)
end

local function live_blocks(ids_from)
  local blocks, groups, seen = {}, {}, {}
  for i = ids_from, #ARGV do
    local seq, text, section, group = find(ARGV[i])
    if seq and redis.call('ZSCORE', SECTION_KEY[section], seq) and not seen[group] then
      seen[group] = true
      table.insert(groups, {section, group})
      local block = block_of(section, seq, text)
      if block and string.find(sections, section, 1, true) then
        blocks[#blocks + 1] = block
      end
    end
  end
  return in_view_order(blocks), groups
end

local omitted_messages, omitted_tokens = m.overflow_messages, m.overflow_tokens
local source, whole = stored, nil
if live_tokens() > max_tokens or live_messages() > max_messages then
  -- A budget was lowered since: the view keeps to it, and what it leaves out counts as omitted.
  local all = sections
  sections = 'slc'
  whole = within(stored, max_tokens, max_messages, false)
  local kept = {}
  for _, block in ipairs(whole) do
    kept[block.group] = true
  end
  for _, section in ipairs({'s', 'l', 'c'}) do
    stored(section, 256, function(block)
      if not kept[block.group] then
        omitted_messages, omitted_tokens = omitted_messages + #block.seqs, omitted_tokens + block.tokens
      end
    end)
  end
  sections, source = all, listed(whole)
end
local blocks, groups
if by_ids then
  blocks, groups = live_blocks(6)
  if whole then
    local kept, asked = {}, {}
    for _, block in ipairs(whole) do
      kept[block.group] = true
    end
    for _, block in ipairs(blocks) do
      if kept[block.group] then
        asked[#asked + 1] = block
      end
    end
    blocks = asked
  end
  source = listed(blocks)
end
if at_most < INF or tokens_at_most == INF then
  blocks = tail(source, at_most)
  source = listed(blocks)
end
if tokens_at_most < INF then
  local used
  blocks, used = within(source, tokens_at_most, INF, true)
  if not blocks then
    return 'small ' .. used
  end
end
if lru and groups and #groups > 0 then
  adopt_policy()
  for _, one in ipairs(groups) do
    if one[1] == 'c' then
      m.access = m.access + 1
      redis.call('ZADD', key.evict, 'XX', m.access, one[2])
    end
  end
  save()
end
local head, texts = {'ok', m.incarnation, version_of(), omitted_messages, omitted_tokens, flush_due()}, {}
for _, block in ipairs(blocks) do
  for i, seq in ipairs(block.seqs) do
    head[#head + 1] = seq
    texts[#texts + 1] = block.texts[i]
  end
end
return one_text(head, texts)
