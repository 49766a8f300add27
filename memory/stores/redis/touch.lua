-- Records an access to the groups of messages.
-- ARGV: limits, ids. Returns the positions of those that are live.
-- parts: state expiry groups order ids
local m = load()
if not m then
  return ''
end
local live, accessed, seen = {}, {}, {}
for i = 2, #ARGV do
  local seq, _, section, group = find(m, ARGV[i])
  if seq and call('ZSCORE', SECTION_KEY[section], seq) then
    live[#live + 1] = i - 2
    if section == 'c' and not seen[group] then
      seen[group] = true
      insert(accessed, group)
    end
  end
end
if lru and #accessed > 0 then
  adopt_policy(m)
  for _, group in ipairs(accessed) do
    m.access = m.access + 1
    call('ZADD', EVICT, 'XX', m.access, group)
  end
  save(m)
end
return concat(live, ' ')
