-- Records an access to the groups of messages.
-- ARGV: limits, ids. Returns the positions of those that are live.
-- parts: sections state records ids order
if not m then
  return ''
end
local live, accessed, seen = {}, {}, {}
for i = 2, #ARGV do
  local seq, _, section, group = find(ARGV[i])
  if seq and redis.call('ZSCORE', order_of(section), seq) then
    live[#live + 1] = i - 2
    if places[section] and not seen[group] then
      seen[group] = true
      table.insert(accessed, {places[section], group})
    end
  end
end
record_accesses(accessed)
return table.concat(live, ' ')
