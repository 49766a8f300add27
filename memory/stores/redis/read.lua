-- Reads the view: whole groups, open ones left out, from the newest back where something limits it.
-- ARGV: limits, messages at most, tokens at most, sections (letters, then the names of user-defined ones), what
-- else (`i` by ids, `r` prolong, `v` only if not of the version that follows, `b` only what stands before the message
-- that follows), the version and the message, the ids.
-- Returns the records behind a head `ok <incarnation and names of letters> <version> <omitted messages> <omitted tokens>
-- <due> <order> <seq ...>`; the order is `back` for newest first.
-- parts: counts
if not incarnation then
  return 'absent'
end
local at_most, tokens_at_most, wanted = tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local by_ids = string.find(ARGV[5], 'i', 1, true)
local since = string.find(ARGV[5], 'v', 1, true) and ARGV[6]
local before = string.find(ARGV[5], 'b', 1, true) and ARGV[since and 7 or 6]
-- As for a write, a twentieth of the lifetime is not worth it; a read never shortens it.
local prolongs = expires_at > 0 and ttl < INF and now + ttl - expires_at >= ttl / 20
  and string.find(ARGV[5], 'r', 1, true)

-- Whether the caller asks for a section: the built-in ones by their letters, in front, the others by name.
local function is_asked_for(name)
  local letter = name == 'system' and 's' or name == 'long_term' and 'l' or name == 'short_term' and 'c'
  return letter and string.find(wanted, '^%a*' .. letter) or string.find(wanted .. ' ', ' ' .. name .. ' ', 1, true)
end

-- The usual read, all or the newest of a memory without tool calls: what is stored is what is shown.
do
-- parts: shares
  local usual = not by_ids and not since and not before and not prolongs and tokens_at_most == INF and not undeclared
    and redis.call('EXISTS', key.groups) == 0
    and (shares or system_tokens + long_tokens + talk_tokens <= max_tokens)
    and system_messages + long_messages + talk_messages <= max_messages
    and system_tokens <= system_room and long_tokens <= long_room and short_tokens <= short_room
  for i = 1, undeclared and 0 or #stored do
    usual = usual and stored[i][3] <= share_of[stored[i][2]]
  end
  if usual then
-- parts: due
    local seqs, texts, lengths, names = {}, {}, {}, {'system', 'long_term', unpack(stored_names)}
    names[#names + 1] = 'short_term'
    for i = #names, 1, -1 do
      local name, first = names[i], 0
      local from = name == 'short_term' and key.short or name == 'long_term' and key.long or name == 'system' and key.system
        or KEYS[section_keys[name]]
      while #seqs < at_most and is_asked_for(name) do
        local page = redis.call('ZREVRANGE', from, first, first + math.min(at_most - #seqs, 500) - 1)
        local found = #page > 0 and redis.call('HMGET', key.msg, unpack(page)) or {}
        for j = 1, #page do
          local text = found[j] or damage('a record is missing')
          local n = #seqs + 1
          seqs[n], texts[n], lengths[n] = page[j], text, #text
        end
        if #page < 500 then
          break
        end
        first = first + 500
      end
    end
    local head = 'ok ' .. incarnation
    for i = 1, #stored do
      head = head .. ',' .. stored[i][1] .. '=' .. stored[i][2]
    end
    return head .. ' ' .. incarnation .. ':' .. version .. ':' .. last_tag .. ' ' .. waiting_messages .. ' '
      .. waiting_tokens .. (due and ' 1 back' or ' 0 back') .. (#seqs > 0 and ' ' or '') .. table.concat(seqs, ' ') .. '\n'
      .. table.concat(lengths, ' ') .. '\n' .. table.concat(texts)
  end
end

-- parts: state expiry groups order ids view
if prolongs then
  prolong({})
  save()
end
if since == version_of() then
  return one_text({'ok', m.incarnation, since, m.overflow_messages, m.overflow_tokens, flush_due(), 'forth'}, {})
end

-- The blocks of the messages that are asked for, and the groups of all of them that are live.
local function asked_for(first)
  local blocks, groups, seen = {}, {}, {}
  for i = first, #ARGV do
    local seq, text, letter, group = find(ARGV[i])
    if seq and redis.call('ZSCORE', order_of(letter), seq) and not seen[group] then
      seen[group] = true
      local place = places[letter]
      if place then
        table.insert(groups, {place, group})
      end
      local seqs, texts, state = {seq}, {text}, nil
      if place and link_of(text) ~= '' then
        state = group_state(group) or damage('a group has no state')
        seqs = members(place.order, group)
        texts = records(seqs)
      end
      if not (state and state.missing > 0) then
        local tokens = state and state.tokens or tokens_of(text)
        blocks[#blocks + 1] = block_of(letter, group, tokens, string.sub(text, 2, 2), seqs, texts)
      end
    end
  end
  return blocks, groups
end

-- Tells whether what is stored is more than what may be shown, since a budget or a share was lowered.
local function is_over()
  local over = live_messages() > max_messages
  if not shares then
    return over or live_tokens() > max_tokens
  end
  over = over or m.system_tokens > system_room or m.long_tokens > long_room
  for _, section in ipairs(sections) do
    over = over or sum_of(section.places, 'tokens') > section.room
  end
  return over
end

local omitted_messages, omitted_tokens = m.overflow_messages, m.overflow_tokens
local source, whole = all_blocks, nil
if is_over() then
  -- What the view leaves out counts as omitted.
  local real = asked
  asked = {}
  for _, section in ipairs(view_order) do
    asked[section] = true
  end
  whole = within(all_blocks, max_tokens, max_messages, false)
  local kept = {}
  for _, block in ipairs(whole) do
    kept[block.group] = true
  end
  for _, section in ipairs({SYSTEM, LONG_TERM, CONVERSATION}) do
    all_blocks(section, 256, function(block)
      if not kept[block.group] then
        omitted_messages, omitted_tokens = omitted_messages + #block.seqs, omitted_tokens + block.tokens
      end
    end)
  end
  asked, source = real, listed(whole)
end
local blocks, groups
if by_ids then
  blocks, groups = asked_for(6 + (since and 1 or 0) + (before and 1 or 0))
  if whole then
    local kept, left = {}, {}
    for _, block in ipairs(whole) do
      kept[block.group] = true
    end
    for _, block in ipairs(blocks) do
      if kept[block.group] then
        left[#left + 1] = block
      end
    end
    blocks = left
  end
  source = listed(blocks)
end
if before then
  if not show_before(before) then
    return 'before'
  end
  source = older(source)
end
if at_most < INF or tokens_at_most == INF then
  blocks = tail(source, at_most)
end
if tokens_at_most < INF then
  if at_most < INF then
    source = listed(blocks)
  end
  local used
  blocks, used = within(source, tokens_at_most, INF, true)
  if not blocks then
    return 'small ' .. used
  end
end
if groups then
  record_accesses(groups)
end
local names = names_of(function(place)
  return place.section.name
end)
local head, texts = {'ok', m.incarnation .. names, version_of(), omitted_messages, omitted_tokens, flush_due(), 'forth'}, {}
for _, block in ipairs(blocks) do
  for i, seq in ipairs(block.seqs) do
    head[#head + 1] = seq
    texts[#texts + 1] = block.texts[i]
  end
end
return one_text(head, texts)
