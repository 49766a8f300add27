-- What the record of operations keeps: ids for so long after their deadline, and at most so many.
-- gives: SKEW_MS MAX_OPERATIONS

local SKEW_MS = 60000
local MAX_OPERATIONS = 100000
