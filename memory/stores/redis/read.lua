-- Reads the view: whole groups, open ones left out, from the newest back where something limits it.
-- ARGV: limits, then what part_query.lua reads.
-- Returns the records behind a head `ok <incarnation and names of letters> <version> <omitted messages> <omitted
-- tokens> <due> <order> <seq ...>`; the order is `back` for newest first.
-- parts: counts head
if not incarnation then
  return 'absent'
end
-- parts: query usual_read keys limits sections state expiry records groups ids order blocks view
-- A Redis that refuses writes, or those of this user, serves reads: what they note beside is left out then. A user
-- needs the rights to all that scripts of a memory write, since what is refused in the middle would refuse the read.
local function is_taken(...)
  -- parts: rights
  if rights_refused() then
    return false
  end
  local answer = redis.pcall(...)
  return type(answer) ~= 'table' or not answer.err
end

if prolongs and is_taken('PEXPIREAT', key.meta, now + ttl_ms) then
  prolong({})
  save()
end
if since == version_of() then
  return one_text({'ok', m.incarnation, since, m.waiting_messages, m.waiting_tokens, flush_due(), 'forth'}, {})
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

local omitted_messages, omitted_tokens = m.waiting_messages, m.waiting_tokens
local source, kept = all_blocks, nil -- kept: the groups that are shown, where not all of them are
if is_over() then
  -- What the view leaves out counts as omitted.
  local real = asked
  asked = {}
  for _, section in ipairs(view_order) do
    asked[section] = true
  end
  local whole = within(all_blocks, max_tokens, max_messages, false)
  kept = {}
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
  if kept then
    local left = {}
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
if groups and string.find(ARGV[5], 'a', 1, true) then
  record_accesses(groups, function()
    return is_taken('HSET', key.meta, 'life', m.incarnation .. m.tag .. m.policy)
  end)
end
local names = names_of(function(place)
  return place.section.name
end)
local head = {'ok', m.incarnation .. names, version_of(), omitted_messages, omitted_tokens, flush_due(), 'forth'}
local texts = {}
for _, block in ipairs(blocks) do
  for i, seq in ipairs(block.seqs) do
    head[#head + 1] = seq
    texts[#texts + 1] = block.texts[i]
  end
end
return one_text(head, texts)
