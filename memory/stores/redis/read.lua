-- Reads the view: whole groups, open ones left out, from the newest back where something limits it.
-- ARGV: limits, messages at most, tokens at most, sections (letters), what else (`i` by ids, `r` prolong), the ids.
-- Returns the records behind a head `ok <incarnation> <version> <omitted messages> <omitted tokens> <due> <order>
-- <seq ...>`; the order is `back` for newest first.
-- parts: head counts
if not incarnation then
  return 'absent'
end
local at_most, tokens_at_most, sections = tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local by_ids = string.find(ARGV[5], 'i', 1, true)
-- As for a write, a twentieth of the lifetime is not worth it; a read never shortens it.
local prolongs = expires_at > 0 and ttl < INF and now + ttl - expires_at >= ttl / 20 and string.find(ARGV[5], 'r', 1, true)

-- The usual read, all or the newest of a memory without tool calls: what is stored is what is shown.
if not by_ids and not prolongs and tokens_at_most == INF and redis.call('EXISTS', key.groups) == 0
  and system_tokens + long_tokens + short_tokens <= max_tokens
  and system_messages + long_messages + short_messages <= max_messages then
  local seqs, texts, lengths = {}, {}, {}
  for section in string.gmatch(string.reverse(sections), '.') do
    local from = section == 'c' and key.short or section == 'l' and key.long or key.system
    local first = 0
    while #seqs < at_most do
      local page = redis.call('ZREVRANGE', from, first, first + math.min(at_most - #seqs, 500) - 1)
      local found = #page > 0 and redis.call('HMGET', key.msg, unpack(page)) or {}
      for i = 1, #page do
        local text = found[i] or damage('a record is missing')
        local n = #seqs + 1
        seqs[n], texts[n], lengths[n] = page[i], text, #text
      end
      if #page < 500 then
        break
      end
      first = first + 500
    end
  end
  local due = waiting_messages > 0 or system_tokens + short_tokens >= due_tokens
    or system_messages + short_messages >= due_messages
  return 'ok ' .. incarnation .. ' ' .. incarnation .. ':' .. version .. ':' .. last_tag .. ' ' .. waiting_messages
    .. ' ' .. waiting_tokens .. (due and ' 1 back' or ' 0 back') .. (#seqs > 0 and ' ' or '')
    .. table.concat(seqs, ' ') .. '\n' .. table.concat(lengths, ' ') .. '\n' .. table.concat(texts)
end

-- parts: state expiry groups order ids
if prolongs then
  prolong({})
  save()
end
local ORDER = {s = 1, l = 2, c = 3}

-- A block is a group as it stands in the view; nil for a group that waits for a result.
local function block_of(section, group, tokens, pin, seqs, texts)
  if #seqs > 1 then
    -- Equal scores sort as text; a group's messages stand in the order of their numbers.
    local text_of = {}
    for i, seq in ipairs(seqs) do
      text_of[seq] = texts[i]
    end
    table.sort(seqs, function(a, b)
      return tonumber(a) < tonumber(b)
    end)
    for i, seq in ipairs(seqs) do
      texts[i] = text_of[seq]
    end
  end
  return {section = section, group = group, pinned = pinned(pin), tokens = tokens, seqs = seqs, texts = texts}
end

-- A source calls visit(block) from the newest block of a section back, until it returns true.
local function stored(section, size, visit)
  local from = section == 'p' and key.pinned or SECTION_KEY[section]
  section = section == 'p' and 'c' or section
  local first, run, run_tokens, run_pin, seqs, texts = 0, nil, 0, nil, nil, nil
  local function end_run()
    local group = run
    run = nil
    if not group then
      return false
    end
    local state = group_state(group) or damage('a group has no state')
    return state.missing == 0 and visit(block_of(section, tonumber(group), run_tokens, run_pin, seqs, texts))
  end
  while true do
    local page = redis.call('ZREVRANGE', from, first, first + size - 1)
    for i, text in ipairs(records(page)) do
      local pin, tokens, link = string.match(text, '^.(.)....(%d+) (%S*) ')
      link = section == 'c' and link ~= '' and link or nil
      if run and link ~= run and end_run() then
        return true
      end
      if not link then
        if visit(block_of(section, tonumber(page[i]), tonumber(tokens), pin, {page[i]}, {text})) then
          return true
        end
      else
        if link ~= run then
          run, run_tokens, run_pin, seqs, texts = link, 0, pin, {}, {}
        end
        run_tokens = run_tokens + tokens
        seqs[#seqs + 1], texts[#texts + 1] = page[i], text
      end
    end
    if #page < size then
      return end_run()
    end
    first, size = first + size, math.min(size * 2, 256)
  end
end

-- The blocks of the messages that are asked for, and the groups of all of them that are live.
local function asked_for(first)
  local blocks, groups, seen = {}, {}, {}
  for i = first, #ARGV do
    local seq, text, section, group = find(ARGV[i])
    if seq and redis.call('ZSCORE', SECTION_KEY[section], seq) and not seen[group] then
      seen[group] = true
      if section == 'c' then
        table.insert(groups, group)
      end
      local seqs, texts, state = {seq}, {text}, nil
      if section == 'c' and link_of(text) ~= '' then
        state = group_state(group) or damage('a group has no state')
        seqs = members(key.short, group)
        texts = records(seqs)
      end
      if string.find(sections, section, 1, true) and not (state and state.missing > 0) then
        local tokens = state and state.tokens or tokens_of(text)
        blocks[#blocks + 1] = block_of(section, group, tokens, string.sub(text, 2, 2), seqs, texts)
      end
    end
  end
  return blocks, groups
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
  blocks, groups = asked_for(6)
  in_view_order(blocks)
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
if groups then
  record_accesses(groups)
end
local head, texts = {'ok', m.incarnation, version_of(), omitted_messages, omitted_tokens, flush_due(), 'forth'}, {}
for _, block in ipairs(blocks) do
  for i, seq in ipairs(block.seqs) do
    head[#head + 1] = seq
    texts[#texts + 1] = block.texts[i]
  end
end
return one_text(head, texts)
