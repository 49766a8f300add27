-- Lists owners with what is bound to them, in the order of their bytes. A page is full with so many owners or 1,000
-- bindings, and never parts what one owner has.
-- KEYS: bindings. ARGV: the last owner of the page before (empty at first), how many. Returns `more` or `last`, the
-- time, the last owner, and the entries.
-- parts: bindings
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local bindings, owner, left, found = KEYS[1], ARGV[1], tonumber(ARGV[2]), {}
while left > 0 and #found < 1000 do
  local behind = owner == '' and '[o:' or '[o:' .. owner .. '!'
  local first = redis.call('ZRANGE', bindings, behind, '(p', 'BYLEX', 'LIMIT', 0, 1)[1]
  if not first then
    return {'last', now, owner, found}
  end
  owner = string.match(first, '^o:([^ ]+) ')
  for _, entry in ipairs(entries_of(bindings, 'o:' .. owner)) do
    found[#found + 1] = entry
  end
  left = left - 1
end
return {'more', now, owner, found}
