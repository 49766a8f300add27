-- Scores of a policy whose key is gone, since something else removed it, are as those of another policy: the next
-- script that needs them gives them anew.
-- needs: keys head

local function scores_are_lost(messages, pinned, evict)
  return tonumber(messages) > tonumber(pinned) and redis.call('EXISTS', evict) == 0
end
if incarnation and policy ~= 'fifo' then
  local lost = scores_are_lost(short_messages, pinned_messages, key.evict)
  for name, messages, pinned in string.gmatch(stored_sections or '', '%a (%S+) %d+ (%d+) %d+ (%d+)') do
    lost = lost or scores_are_lost(messages, pinned, KEYS[section_keys[name] + 1])
  end
  policy = lost and 'lost' or policy
end
