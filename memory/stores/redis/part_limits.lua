-- The limits that a call brings: what the declaration of the memory says, and what the caller may do.
-- needs: forms
-- gives: INF shares system_room long_room short_room short_due short_target named_shares scoring weighs
-- gives: <LIMITS>

local INF = math.huge

-- ARGV[1] is made by the driver (forms.py, arguments.py); a limit that is not set is infinite.
local <LIMITS>, shares_at = struct.unpack(LIMITS, ARGV[1])
summarize = summarize == 1
-- Where the budget is divided, the shares stand behind: of built-in sections as numbers, of user-defined ones as text.
local shares = shares_at <= #ARGV[1]
local system_room, long_room, short_room, short_due, short_target, named_shares = INF, INF, INF, INF, INF, ''
if shares then
  system_room, long_room, short_room, short_due, short_target, shares_at = struct.unpack('>ddddd', ARGV[1], shares_at)
  named_shares = string.sub(ARGV[1], shares_at)
end
-- Whose scores the groups have: under token_aware_lru those of lru, weighed at a flush.
local scoring = rule == 0 and 'fifo' or (rule == 1 or rule == 4) and 'lru' or rule == 2 and 'lfu' or 'priority'
local weighs = rule == 4
