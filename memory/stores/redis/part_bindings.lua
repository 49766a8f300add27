-- Who is bound to what in a project: entries of one sorted set, all with the same score, so that they stand in the
-- order of their bytes and a range by words finds what begins with them. Words are percent-encoded: none holds a space,
-- and no character of theirs sorts before one.
--   o:<owner> <memory> <run> <ms>   the run of this owner wrote to the memory, and registered last at that time
--   m:<memory> <owner>              the owner goes on; without it, it is noted as ending
--   m:<memory> <ENDLESS>            the memory outlives its owners: no run is bound, and it goes until the memory is gone
-- One key, so that it is lost as a whole: without the other half an owner would look like the last one of a memory.
-- gives: ENDLESS entries_of bound_to unbind

-- An owner of no namespace and no id.
local ENDLESS = '/'

local function entries_of(bindings, words, ...)
  return redis.call('ZRANGE', bindings, '[' .. words .. ' ', '(' .. words .. '!', 'BYLEX', ...)
end

-- Returns the memories that an owner is bound to, in order, and by memory its runs that are.
local function bound_to(bindings, owner)
  local memories, runs_of = {}, {}
  for _, entry in ipairs(entries_of(bindings, 'o:' .. owner)) do
    local memory, run = string.match(entry, '^[^ ]+ ([^ ]+) ([^ ]+) %d+$')
    if not runs_of[memory] then
      memories[#memories + 1], runs_of[memory] = memory, {}
    end
    runs_of[memory][run] = true
  end
  return memories, runs_of
end

local function unbind(bindings, owner, memory)
  for _, entry in ipairs(entries_of(bindings, 'o:' .. owner .. ' ' .. memory)) do
    redis.call('ZREM', bindings, entry)
  end
  redis.call('ZREM', bindings, 'm:' .. memory .. ' ' .. owner)
end
