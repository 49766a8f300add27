-- Notes that an owner ends, as far as only these runs of it are bound, and lists those memories, each with whether
-- every other owner has ended or is ending too. Of owners that end at the same time, exactly the last one to ask is
-- told so.
-- Repeatable; a later register takes it back.
-- KEYS: bindings. ARGV: owner, runs. Returns pairs of memory and 0 or 1.
-- parts: bindings
local bindings, owner, ends = KEYS[1], ARGV[1], {}
for i = 2, #ARGV do
  ends[ARGV[i]] = true
end

local function all_end(runs)
  for run in pairs(runs) do
    if not ends[run] then
      return false
    end
  end
  return true
end

local answer = {}
local memories, runs_of = bound_to(bindings, owner)
for _, memory in ipairs(memories) do
  if all_end(runs_of[memory]) then
    redis.call('ZREM', bindings, 'm:' .. memory .. ' ' .. owner)
    local goes_on = entries_of(bindings, 'm:' .. memory, 'LIMIT', 0, 1)[1]
    answer[#answer + 1] = memory
    answer[#answer + 1] = goes_on and 0 or 1
  end
end
return answer
