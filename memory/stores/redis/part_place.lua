-- Placing messages: plan everything, then refuse or write.
-- ARGV[first], ARGV[first + 1] and so on are pairs of head and payload. A head is `<section><pin><tokens>`, where the
-- section is `s`, `c`, or `u` with the name of a user-defined one behind a space; then, behind a space, `a=<call id>`
-- for a result or `o=<call ids>` for tool calls. Where clients cut what is too large, the reserve of a result stands
-- before the equals sign, and the letter is `A` or `O` if the message cannot be cut. ARGV[5] is the tag of the
-- operation.
-- A plan is all that an append will do, on top of what `m` and its places say, which stay as they are until it is
-- carried out (part_apply.lua). Each part adds to it what it is about: this one the messages, part_calls.lua their
-- groups, part_leaving.lua who leaves.
-- needs: limits sections state records rooms results calls leaving
-- gives: plan_append

-- Reads a head. Returns what is known of a message before it has its place in a group; what it is to tool calls (`o`,
-- `a`, or nothing), with their ids; and the reserve. A result gets section, place, pin and link from its group later.
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

-- A plan of nothing. fresh: nothing that is stored counts any more.
local function new_plan(fresh)
  return {
    -- What will be written.
    tag = ARGV[5],
    news = {}, -- the messages, as read_head gives them, with `late` if their group has left the view
    states = {}, -- by group: of groups with calls that are new or joined; held_tokens and held_messages: before it
    calls = {}, -- by call id: where it was seen
    gone = {}, -- by group: true if it leaves
    out = {}, -- the groups that leave: group, place, and numbers and records of what is stored of them
    summaries = {}, summary_tokens = 0, -- those that leave, and their tokens

    -- What will be answered, in messages.
    late = 0, evicted = 0,

    -- What it is decided by.
    fresh = fresh,
    reserve = nil, -- what a result leaves for those behind it, where clients cut
    places = {}, -- by group: that of its messages
    arrives = {}, added = {}, fixed = {}, -- by section: true if something comes; its tokens; of which never evicted
    tokens = outside_tokens(), messages = outside_messages(), -- with all that comes
    fixed_tokens = fixed_tokens(), fixed_messages = fixed_messages(), -- the same of what is never evicted
    late_tokens = 0,
    leaving_tokens = 0, leaving = 0, -- what the overflow has to take: evicted or late
  }
end

-- Returns a plan with the place of each message, or nil and the refusal.
local function plan_messages(first, fresh)
  local plan = new_plan(fresh)
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
      plan.places[new.group] = new.place
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
