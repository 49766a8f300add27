-- A divided budget in numbers alone: the usual append and the usual read look at it here, since the objects of
-- part_sections.lua take longer than all else in them. User-defined sections in which nothing stands need no look.
-- needs: limits head
-- gives: stored stored_names share_of due_of undeclared

local stored = {} -- of each that holds something: letter, name, tokens, messages, and those that are pinned
local stored_names, share_of, due_of = {}, {}, {} -- in the order of the view; by name, its share, when a flush is due
local undeclared = stored_sections and not shares -- whether one of them has no share
if stored_sections and shares then
  local held = {}
  for letter, name, a, b, c, d in string.gmatch(stored_sections, '(%a) (%S+) (%d+) (%d+) (%d+) (%d+)') do
    stored[#stored + 1] = {letter, name, tonumber(a), tonumber(b), tonumber(c), tonumber(d)}
    held[name] = true
  end
  for name, room, due in string.gmatch(named_shares, '(%S+) (%S+) (%S+) %S+') do
    if held[name] then
      stored_names[#stored_names + 1], share_of[name], due_of[name] = name, tonumber(room), tonumber(due)
    end
  end
  undeclared = #stored_names < #stored
end
