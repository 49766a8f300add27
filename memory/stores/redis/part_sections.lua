-- The conversation: where its messages stand, and which part of the budget each section of it has.
-- A place is a sorted set of messages, named by a letter in their records: `c` is short_term, and each user-defined
-- section has its own. A section is what the limits declare: it has places and, where the budget is divided, a room in
-- tokens. A place whose section is not declared (any more) belongs to short_term.
-- needs: keys limits head
-- gives: places all_places sections place_named sum_of conversation lay_out save_sections short_term

local places, all_places, sections, short_term
local place_named, sum_of, conversation, lay_out, save_sections
do
  local LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabdefghijkmnopqrtuvwxyz' -- c, l and s are the built-in sections

  local function add_place(letter, name, order, evict, tokens, messages, pinned_tokens, pinned_messages)
    local place = {
      letter = letter, name = name, order = order, evict = evict,
      tokens = tonumber(tokens), messages = tonumber(messages),
      pinned_tokens = tonumber(pinned_tokens), pinned_messages = tonumber(pinned_messages),
    }
    places[letter], all_places[#all_places + 1] = place, place
    return place
  end

  function place_named(name)
    for _, place in ipairs(all_places) do
      if place.name == name then
        return place
      end
    end
  end

  -- A section that nothing stands in yet; its letter is stored with its first message.
  local function new_place(name, order, evict)
    for letter in string.gmatch(LETTERS, '.') do
      if not places[letter] then
        return add_place(letter, name, order, evict, 0, 0, 0, 0)
      end
    end
  end

  local function add_section(name, room, due, target)
    local section = {name = name, room = room, due = due, target = target, places = {}, rank = #sections + 3}
    sections[#sections + 1] = section
    return section
  end

  -- The sum of a counter over some places.
  function sum_of(some, field)
    local sum = 0
    for _, place in ipairs(some) do
      sum = sum + place[field]
    end
    return sum
  end

  function conversation(field)
    return sum_of(all_places, field)
  end

  function save_sections(waiting)
    local words = {}
    for i = 2, #all_places do
      local place = all_places[i]
      -- What waits for its summary still has the letter of its section.
      if place.messages > 0 or waiting then
        words[#words + 1] = table.concat({
          place.letter, place.name, place.tokens, place.messages, place.pinned_tokens, place.pinned_messages,
        }, ' ')
      end
    end
    if #words > 0 then
      redis.call('HSET', key.meta, 'sections', table.concat(words, ' '))
    elseif stored_sections then
      redis.call('HDEL', key.meta, 'sections')
    end
  end

  -- Makes the places and sections of what is stored: the counters of short_term, and the user-defined sections as :meta
  -- has them.
  function lay_out(stored, ...)
    places, all_places, sections = {}, {}, {}
    add_place('c', 'short_term', key.short, key.evict, ...)
    if stored or named_shares ~= '' then
      local function keys_of(name)
        local i = section_keys[name]
        return KEYS[i], KEYS[i + 1]
      end
      for letter, name, a, b, c, d in string.gmatch(stored or '', '(%a) (%S+) (%d+) (%d+) (%d+) (%d+)') do
        local order, evict = keys_of(name)
        add_place(letter, name, order, evict, a, b, c, d)
      end
      for name, room, due, target in string.gmatch(named_shares, '(%S+) (%S+) (%S+) (%S+)') do
        local section = add_section(name, tonumber(room), tonumber(due), tonumber(target))
        local place = place_named(name) or new_place(name, keys_of(name))
        section.places[1], place.section = place, section
      end
    end
    -- The last in the view. Without shares all places are its own, and the room of messages is that of all sections.
    short_term = add_section('short_term', short_room, short_due, short_target)
    for _, place in ipairs(all_places) do
      if not place.section then
        short_term.places[#short_term.places + 1], place.section = place, short_term
      end
    end
  end

  if incarnation then
    lay_out(stored_sections, short_tokens, short_messages, pinned_tokens, pinned_messages)
  else
    lay_out(nil, 0, 0, 0, 0)
  end
end
