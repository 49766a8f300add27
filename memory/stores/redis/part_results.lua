-- Where clients cut what is too large: tool calls, and each of their results, leave room for the results behind them.
-- Each keeps the reserve, or if it came with this append and is smaller, its size. What is kept is no more than even
-- parts of what is left, or beside the calls half of it; but one that came and cannot be cut keeps its size, if it
-- fits. So looked at from behind, when all have their place; the first that takes more is refused.
-- needs: records rooms
-- gives: results_refuse

local function results_refuse(plan)
  local behind, refused = {}, nil
  for i = plan.reserve and #plan.news or 0, 1, -1 do
    local new = plan.news[i]
    local state = not new.late and plan.states[new.group]
    if state then
      local missing = state.missing
      local rest = behind[new.group]
        or {tokens = state.tokens, whole = 0, results = missing, large = missing, kept = missing * plan.reserve}
      behind[new.group] = rest
      local room, name = room_of(new.place.section)
      local more = 0
      if not new.whole then
        if pinned(state.pin) then
          room = room - (fixed_with(plan, new.place.section) - state.tokens) -- beside what else is never evicted
        end
        local left = room - rest.tokens + new.tokens
        local whole = rest.whole < left and rest.whole or 0
        local parts = new.group == new.seq and 2 or rest.results + 1
        more = whole + math.min(rest.kept, math.floor((left - whole) * (parts - 1) / parts))
      end
      if rest.tokens + more > room and (state.held_tokens or 0) <= room then
        refused = refusal('group', new.position, 'tokens', rest.tokens + more, room, rest.large, name)
      end
      rest.tokens = rest.tokens - new.tokens
      if new.whole then
        rest.whole = rest.whole + new.tokens
      else
        rest.results, rest.kept = rest.results + 1, rest.kept + math.min(new.tokens, plan.reserve)
        rest.large = rest.large + (new.tokens > plan.reserve and 1 or 0)
      end
    end
  end
  return refused
end
