-- What a view is cut from: blocks of a section from the newest back, and the choices of what fits.
-- `is_asked_for` tells the sections that a reader asks for.
local SYSTEM = {name = 'system', rank = 1, room = system_room, orders = {key.system}}
local LONG_TERM = {name = 'long_term', rank = 2, room = long_room, orders = {key.long}}
local PINNED = {orders = {key.pinned}} -- those of all sections
local CONVERSATION = {orders = {}} -- all its sections, in the order of their messages
local view_order = {SYSTEM, LONG_TERM}
for _, section in ipairs(sections) do
  view_order[#view_order + 1], section.orders = section, {}
  for _, place in ipairs(section.places) do
    table.insert(section.orders, place.order)
    table.insert(CONVERSATION.orders, place.order)
  end
end
local asked = {}
for _, section in ipairs(view_order) do
  asked[section] = is_asked_for(section.name) ~= nil
end

local function section_of(letter)
  return letter == 's' and SYSTEM or letter == 'l' and LONG_TERM or places[letter].section
end

-- A block is a group as it stands in the view.
local function block_of(letter, group, tokens, pin, seqs, texts)
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
  return {
    section = section_of(letter), group = group, pinned = pinned(pin) and places[letter] ~= nil, tokens = tokens,
    seqs = seqs, texts = texts,
  }
end

local all_blocks
do
  -- Returns a function that gives the blocks of a sorted set from the newest back; groups that wait for a result are
  -- left out.
  -- first: how many messages to leave out at the new end.
  local function blocks_back(zset, size, first)
    local page, texts, at, more = {}, {}, 0, true
    local function peek()
      if at == #page and more then
        page = redis.call('ZREVRANGE', zset, first, first + size - 1)
        texts, at, first, more = records(page), 0, first + size, #page == size
        size = math.min(size * 2, 256)
      end
      return texts[at + 1]
    end
    return function()
      local text = peek()
      while text do
        at = at + 1
        local letter, pin, tokens, link = string.match(text, '^(.)(.)....(%d+) (%S*) ')
        local seqs, of_group = {page[at]}, {text}
        text = peek()
        if letter == 'l' or link == '' then
          return block_of(letter, tonumber(seqs[1]), tonumber(tokens), pin, seqs, of_group)
        end
        while text and link_of(text) == link do
          at = at + 1
          tokens = tokens + tokens_of(text)
          seqs[#seqs + 1], of_group[#of_group + 1] = page[at], text
          text = peek()
        end
        local state = group_state(link) or damage('a group has no state')
        if state.missing == 0 then
          return block_of(letter, tonumber(link), tonumber(tokens), pin, seqs, of_group)
        end
      end
    end
  end

  -- A source calls visit(block) from the newest block of a section back, until it returns true. For several sorted sets
  -- it gives the newer one of their next blocks.
  function all_blocks(section, size, visit)
    local queues, heads = {}, {}
    for i, zset in ipairs(section.orders) do
      queues[i] = blocks_back(zset, size, section.before and redis.call('ZCOUNT', zset, section.before, '+inf') or 0)
      heads[i] = queues[i]() or false
    end
    while true do
      local newest
      for i = 1, #queues do
        if heads[i] and (not newest or heads[i].group > heads[newest].group) then
          newest = i
        end
      end
      if not newest or visit(heads[newest]) then
        return newest ~= nil
      end
      heads[newest] = queues[newest]() or false
    end
  end
end

local function listed(blocks)
  table.sort(blocks, function(a, b)
    return a.group > b.group
  end)
  return function(section, _, visit)
    for _, block in ipairs(blocks) do
      local talk = block.section ~= SYSTEM and block.section ~= LONG_TERM
      local belongs = block.section == section
      if section == PINNED then
        belongs = block.pinned
      elseif section == CONVERSATION then
        belongs = talk
      end
      if belongs and visit(block) then
        return true
      end
    end
    return false
  end
end

-- Leaves out what stands in the view from this message on. Returns whether it is one of this memory; one that is no
-- longer held counts as one of short_term.
local function show_before(id)
  local seq, _, letter, group, gone = find(id)
  if not seq and not gone then
    return false
  end
  local edge = seq and section_of(letter) or short_term
  edge.before = seq and group or gone
  for _, section in ipairs(view_order) do
    asked[section] = asked[section] and section.rank <= edge.rank
  end
  return true
end

-- The same source without what show_before leaves out.
local function older(source)
  return function(section, size, visit)
    return source(section, size, function(block)
      local edge = block.section.before
      return not (edge and block.group >= edge) and visit(block)
    end)
  end
end

local function in_view_order(blocks)
  table.sort(blocks, function(a, b)
    if a.section ~= b.section then
      return a.section.rank < b.section.rank
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
  for i = #view_order, 1, -1 do
    local full = asked[view_order[i]] and source(view_order[i], math.min(limit, 256), function(block)
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

-- What is needed most: system messages, pinned ones, summaries, then the conversation from the newest back to the first
-- block that does not fit; in each section by itself, where a divided budget was lowered.
-- strict: returns nil and their tokens if system and pinned messages alone do not fit.
local function within(source, tokens, messages, strict)
  local blocks, used, count, full, left = {}, {}, 0, {}, #sections
  local divided = shares and not strict
  local function fits(block, account)
    return (used[account] or 0) + block.tokens <= (divided and account.room or tokens)
      and count + #block.seqs <= messages
  end
  for _, kind in ipairs({SYSTEM, PINNED, LONG_TERM, CONVERSATION}) do
    local function visit(block)
      local account = divided and block.section or CONVERSATION
      if not asked[block.section] or full[account] or (kind == CONVERSATION and block.pinned) then
        return false
      end
      if (strict and (kind == SYSTEM or kind == PINNED)) or fits(block, account) then
        blocks[#blocks + 1] = block
        used[account], count = (used[account] or 0) + block.tokens, count + #block.seqs
      elseif kind == CONVERSATION then
        full[account], left = true, divided and left - 1 or 0
        return left == 0
      end
      return false
    end
    if asked[kind] ~= false then
      source(kind, 32, visit)
    end
    if kind == PINNED and strict and (used[CONVERSATION] or 0) > tokens then
      return nil, used[CONVERSATION]
    end
  end
  return in_view_order(blocks)
end
