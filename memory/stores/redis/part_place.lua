-- Placing messages: plan everything, then refuse or write.
-- ARGV[first], ARGV[first + 1] and so on are pairs of head and payload. A head is `<section><pin><tokens>`, where the
-- section is `s`, `c`, or `u` with the name of a user-defined one behind a space; then, behind a space, `a=<call id>`
-- for a result or `o=<call ids>` for tool calls. Where clients cut what is too large, the reserve of a result stands
-- before the equals sign, and the letter is `A` or `O` if the message cannot be cut. ARGV[5] is the tag of the
-- operation.
-- needs: limits sections state records rooms results calls leaving
-- gives: plan_append

-- Reads a head: what is known of a message before it has its place in a group.
local function read_head(first, i)
  local section, pin, tokens, rest = string.match(ARGV[i], '^(.)(.)(%d+)(.*)$')
  local position = (i - first) / 2
  local seq = m.seq + position + 1
  local place = places.c
  if section == 'u' then
    local name, behind = string.match(rest, '^ (%S+)(.*)$')
    place, rest = place_named(name), behind
    section = place.letter
  end
  local relation, reserve, ids = string.match(rest, '^ (.)(%d*)=(.*)$')
  local whole = relation == 'A' or relation == 'O'
  return {
    position = position, seq = seq, section = section, place = section ~= 's' and place or nil, pin = pin,
    tokens = tonumber(tokens), group = seq, link = '', payload = ARGV[i + 1], whole = whole,
  }, whole and string.lower(relation) or relation, ids, tonumber(reserve)
end

-- Returns a plan with the place of each message, or nil and the refusal. fresh: nothing that is stored counts any more.
local function plan_messages(first, fresh)
  local plan = {
    fresh = fresh, tag = ARGV[5], news = {}, states = {}, places = {}, calls = {}, gone = {}, out = {},
    late = 0, late_tokens = 0, evicted = 0, added = {}, fixed = {},
    tokens = outside_tokens(), messages = outside_messages(),
    fixed_tokens = fixed_tokens(), fixed_messages = fixed_messages(),
  }
  for i = first, #ARGV, 2 do
    local new, relation, ids, reserve = read_head(first, i)
    plan.reserve = reserve or plan.reserve
    local room, name = room_of(relation ~= 'a' and (new.place and new.place.section or SYSTEM_SECTION) or nil)
    if new.tokens > room then
      return nil, refusal('message', new.position, new.tokens, room, summary_tokens, name)
    end
    if relation == 'o' then
      open_group(plan, new, ids)
    elseif relation == 'a' then
      local refused = answer_call(plan, new, ids)
      if refused then
        return nil, refused
      end
    end
    if not new.late then
      if room_messages < 1 then
        return nil, refusal('group', new.position, 'messages', 1, room_messages)
      end
      local section = new.place and new.place.section or SYSTEM_SECTION
      plan.places[new.group], plan.arrives = new.place, plan.arrives or {}
      plan.arrives[section], plan.added[section] = true, (plan.added[section] or 0) + new.tokens
      plan.tokens, plan.messages = plan.tokens + new.tokens, plan.messages + 1
      if section == SYSTEM_SECTION or pinned(new.pin) then
        plan.fixed[section] = (plan.fixed[section] or 0) + new.tokens
        plan.fixed_tokens, plan.fixed_messages = plan.fixed_tokens + new.tokens, plan.fixed_messages + 1
      end
    end
    plan.news[#plan.news + 1] = new
  end
  local refused = results_refuse(plan) or fixed_refuses(plan)
  return not refused and plan or nil, refused
end

-- Plans all that an append does. Returns the plan, or nil and the refusal.
local function plan_append(first, fresh)
  local plan, refused = plan_messages(first, fresh)
  if plan then
    plan_evictions(plan)
    refused = overflow_refuses(plan)
  end
  return not refused and plan or nil, refused
end
