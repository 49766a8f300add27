-- Reads a page of all that a memory holds, live or waiting, in whole groups and in their order: the summaries first,
-- then all else. What changes meanwhile moves no page, since a group keeps its number.
-- ARGV: limits, stage (`s` summaries, `r` the rest), group after which the page begins, messages and bytes that are
-- enough for a page.
-- Returns the records behind a head `<incarnation and names of letters> <last group, or - at the end> <seq ...>`; `w`
-- behind a seq: it waits.
-- parts: keys sections state records groups
if not m then
  return ''
end
local stage, after, count, bytes = ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local zsets = stage == 's' and {key.long} or {key.system, key.overflow}
for _, place in ipairs(stage == 'r' and all_places or {}) do
  zsets[#zsets + 1] = place.order
end
local seen, groups = {}, {}
for _, zset in ipairs(zsets) do
  local page = redis.call('ZRANGEBYSCORE', zset, '(' .. after, '+inf', 'WITHSCORES', 'LIMIT', 0, count)
  for i = 2, #page, 2 do
    if not seen[page[i]] then
      seen[page[i]] = true
      groups[#groups + 1] = page[i]
    end
  end
end
table.sort(groups, function(a, b)
  return tonumber(a) < tonumber(b)
end)
-- No `unpack` makes the head: a group may have more messages than Lua has room for arguments.
local head, texts, size = {m.incarnation .. names_of(stored_name), '-'}, {}, 0
for _, group in ipairs(groups) do
  for _, zset in ipairs(zsets) do
    local some = members(zset, group)
    for i, text in ipairs(records(some)) do
      head[#head + 1] = zset == key.overflow and some[i] .. 'w' or some[i]
      texts[#texts + 1] = text
      size = size + #text
    end
  end
  -- Of a sorted set that has more than its slice, so many messages stand before the first that is missing.
  if #texts >= count or size >= bytes then
    head[2] = group
    break
  end
end
return one_text(head, texts)
