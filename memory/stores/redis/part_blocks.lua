-- What a view is cut from: the messages of each section in blocks. A block is a group as it stands in the view. A
-- source of blocks is a function of section, size and visit: it calls visit(block) from the newest block of the section
-- back, until that returns true, and reads so many messages at first.
-- needs: keys limits head query sections records groups
-- gives: SYSTEM LONG_TERM PINNED CONVERSATION view_order asked section_of block_of all_blocks listed

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

  -- The source of all that is stored. For several sorted sets it gives the newer one of their next blocks.
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

-- The source of these blocks alone.
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
