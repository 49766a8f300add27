-- The packed counters of a memory by their names, for who reads those of another memory.
-- needs: forms
-- gives: counters_of

local function counters_of(packed)
  local <COUNTERS> = struct.unpack(COUNTERS, packed)
  return {<COUNTERS: % = %>}
end
