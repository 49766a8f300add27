-- Ids from outside: `<incarnation>-<seq>-<tag>`. What does not fit in every part names nothing.
-- needs: keys state
-- gives: find

-- Returns seq and record of a message that this memory holds, live or waiting, and its section and group. Of one that
-- it held and holds no more, only the number, behind all these.
local function find(id)
  local incarnation, seq, tag = string.match(id, '^(%x+)%-(%d+)%-(%x+)$')
  if incarnation ~= m.incarnation then
    return nil
  end
  local text = redis.call('HGET', key.msg, seq)
  if not text then
    return nil, nil, nil, nil, tonumber(seq)
  end
  local section, known_tag, link = string.match(text, '^(.).(....)%d+ (%S*) ')
  if known_tag ~= tag then
    return nil
  end
  return seq, text, section, tonumber((section == 'l' or link == '') and seq or link)
end
