-- Records of messages. A record is `<section><mark><tag><tokens> <link> <payload>`. Its link is the group of a message
-- with tool calls, the covered ranges of a summary, else nothing. Its mark is one of MARKS, for its group.
-- needs: keys head sections
-- gives: pinned band_of mark_as order_of command_on records one_text names_of stored_name tokens_of link_of

-- Low, normal, high and critical priority; then the same of messages that are pinned.
local MARKS = 'l-hcLpHC'

local function pinned(mark)
  return string.find(MARKS, mark, 5, true) ~= nil
end

local function band_of(mark)
  return (string.find(MARKS, mark, 1, true) - 1) % 4
end

-- The same priority, pinned or not.
local function mark_as(mark, to_be_pinned)
  local place = band_of(mark) + (to_be_pinned and 5 or 1)
  return string.sub(MARKS, place, place)
end

-- Returns the sorted set of live messages with this letter.
local function order_of(letter)
  return letter == 's' and key.system or letter == 'l' and key.long or places[letter].order
end

-- Calls f with slices of a list, since Lua hands only some thousand arguments to a command. A slice has an even number,
-- since some lists are of pairs.
local function chunks(list, f)
  local first = 1
  while first <= #list do
    local last = math.min(first + 499, #list)
    f({unpack(list, first, last)})
    first = last + 1
  end
end

local function command_on(command, name, list)
  chunks(list, function(some)
    redis.call(command, name, unpack(some))
  end)
end

local function records(seqs)
  local all = {}
  chunks(seqs, function(some)
    local found = redis.call('HMGET', key.msg, unpack(some))
    for i = 1, #some do
      if not found[i] then
        damage('a record is missing')
      end
      all[#all + 1] = found[i]
    end
  end)
  return all
end

-- Many records travel as one text, which a client reads in one piece: the head, a line of their lengths, the records.
local function one_text(head, texts)
  local lengths = {}
  for i, text in ipairs(texts) do
    lengths[i] = #text
  end
  return table.concat(head, ' ') .. '\n' .. table.concat(lengths, ' ') .. '\n' .. table.concat(texts)
end

-- What the letters of user-defined sections in records stand for, behind the incarnation: `,<letter>=<name>` each.
local function names_of(name)
  local text = ''
  for i = 2, #all_places do
    text = text .. ',' .. all_places[i].letter .. '=' .. name(all_places[i])
  end
  return text
end

local function stored_name(place)
  return place.name
end

local function tokens_of(record)
  return tonumber(string.match(record, '^......(%d+)'))
end

local function link_of(record)
  return string.match(record, '^......%d+ (%S*) ')
end
