-- What messages may fill, and how an append is refused that fills more.
-- needs: limits sections state
-- gives: refusal room_of SYSTEM_SECTION fixed_with fixed_refuses

-- A refusal is a word that the driver turns into an error, with its numbers.
local function refusal(...)
  return table.concat({...}, ' ')
end

-- What a message may fill: the room of its section if the budget is divided, else that of all messages. A refusal names
-- the section behind its numbers. A result may come to any section of the conversation.
local function room_of(section)
  if not shares then
    return room_tokens
  elseif section then
    return section.room, section.name
  end
  local widest = short_term
  for _, other in ipairs(sections) do
    widest = other.room > widest.room and other or widest
  end
  return widest.room, widest.name
end

local SYSTEM_SECTION = {name = 'system', room = system_room}

-- What is never evicted, with what this append adds: in a section, or in all where the budget is common.
local function fixed_with(plan, section)
  return shares and sum_of(section.places, 'pinned_tokens') + (plan.fixed[section] or 0) or plan.fixed_tokens
end

-- What is never evicted must fit its room, also where the room was made smaller since: else nothing could come in.
-- Of a plan (part_place.lua) it looks at arrives, fixed, fixed_tokens and fixed_messages.
local function fixed_refuses(plan)
  if not next(plan.arrives) then
    return nil
  end
  local function check(fixed, room, name)
    if fixed > room then
      return refusal('pinned', 'tokens', fixed, room, name)
    end
  end
  local refused
  if not shares then
    refused = check(plan.fixed_tokens, room_tokens)
  else
    refused = plan.arrives[SYSTEM_SECTION]
      and check(m.system_tokens + (plan.fixed[SYSTEM_SECTION] or 0), system_room, 'system')
    for _, section in ipairs(sections) do
      refused = refused or plan.arrives[section]
        and check(fixed_with(plan, section), section.room, section.name)
    end
  end
  if not refused and plan.fixed_messages > room_messages then
    refused = refusal('pinned', 'messages', plan.fixed_messages, room_messages)
  end
  return refused or nil
end
