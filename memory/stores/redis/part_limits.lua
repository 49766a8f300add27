-- The limits that a call brings: what the declaration of the memory says, and what the caller may do.
-- needs: forms
-- gives: INF mode max_tokens max_messages summarize room_tokens room_messages summary_tokens overflow_tokens
-- gives: overflow_messages due_tokens due_messages target_tokens target_messages keep_first keep_last open_group_ms
-- gives: ttl lease_ms oldest_share shares system_room long_room short_room short_due short_target named_shares
-- gives: scoring weighs

local INF = math.huge

-- ARGV[1] is made by the driver of the limits of the memory; a limit that is not set is infinite. `mode` is what the
-- caller may do: 0 everything, 1 append and read, 2 read.
local max_tokens, max_messages, summarize, room_tokens, room_messages, summary_tokens, overflow_tokens,
  overflow_messages, due_tokens, due_messages, target_tokens, target_messages, keep_first, keep_last, rule,
  open_group_ms, ttl, lease_ms, mode, oldest_share, shares_at = struct.unpack(LIMITS, ARGV[1])
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
