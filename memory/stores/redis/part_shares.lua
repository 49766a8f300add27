-- A divided budget in numbers alone: the usual append and the usual read look at it here, since the objects of
-- part_sections.lua take longer than all else in them.
-- parts: head
local section_names -- in the order of the view
local held, room_of, due_of -- tokens by section: what stands in it, its share, when a flush is due
local stored -- what is stored of user-defined sections: letter, name, tokens, messages, and those that are pinned
local undeclared = stored_sections and not shares -- whether one of them has no share
if incarnation and shares then
  section_names, stored, room_of, due_of = {}, {}, {}, {}
  held = {system = system_tokens, long_term = long_tokens, short_term = short_tokens}
  for letter, name, a, b, c, d in string.gmatch(stored_sections or '', '(%a) (%S+) (%d+) (%d+) (%d+) (%d+)') do
    stored[#stored + 1] = {letter, name, tonumber(a), tonumber(b), tonumber(c), tonumber(d)}
    held[name] = tonumber(a)
  end
  for name, room, due in string.gmatch(shares, '(%S+) (%S+) (%S+) %S+') do
    section_names[#section_names + 1], room_of[name], due_of[name] = name, tonumber(room), tonumber(due)
  end
  for _, section in ipairs(stored) do
    undeclared = undeclared or not room_of[section[2]]
  end
end
