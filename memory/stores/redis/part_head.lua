-- What every script looks at first: the keys of the memory, the time, its limits and its counters.
-- Built-in functions are called by their full names and keys stand in a table: each local that a function refers to
-- costs time when the function is made, and the functions are made for each call of a script.
local KEYS = KEYS
local key = {
  meta = KEYS[1], msg = KEYS[2], system = KEYS[3], long = KEYS[4], short = KEYS[5], pinned = KEYS[6], evict = KEYS[7],
  groups = KEYS[8], departed = KEYS[9], overflow = KEYS[10], batch = KEYS[11], lease = KEYS[12], ops = KEYS[13],
  opx = KEYS[14],
} -- behind them, two for each user-defined section: its order, and who goes first; then those of a backup
local last_key = #KEYS
while last_key > 14 and string.find(KEYS[last_key], '}:backup:', 1, true) do
  last_key = last_key - 1
end
local INF = math.huge

-- Once per script, so that every answer and every expiry of it speaks of the same moment.
local now
do
  local clock = redis.call('TIME')
  now = clock[1] * 1000 + math.floor(clock[2] / 1000)
end

-- ARGV[1] is made by the driver of the limits of the memory; a limit that is not set is infinite. `mode` is what the
-- caller may do: 0 everything, 1 append and read, 2 read.
local max_tokens, max_messages, summarize, room_tokens, room_messages, summary_tokens, overflow_tokens,
  overflow_messages, due_tokens, due_messages, target_tokens, target_messages, keep_first, keep_last, rule,
  open_group_ms, ttl, lease_ms, mode, oldest_share, shares_at = struct.unpack('>dddddddddddddddddddd', ARGV[1])
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

-- Incarnation, tag of the last mutation and policy of the scores stand in one field, the counters in another: to read
-- and write them one by one takes longer than all else in an append.
local SCHEMA = 1
local COUNTERS = '>ddddddddddddddddddddd'
local found = redis.call('HMGET', key.meta, 'life', 'counters', 'sections', 'due_at')
local incarnation, last_tag, policy
local due_at = found[4] -- since when a flush is due, or false
local version, seq, fence, created_at, updated_at, expires_at, access, system_tokens, system_messages, long_tokens,
  long_messages, short_tokens, short_messages, pinned_tokens, pinned_messages, waiting_tokens, waiting_messages,
  flush_retry_at, flush_at, prune_at, ops_until
if found[1] then
  incarnation, last_tag, policy = string.sub(found[1], 1, 16), string.sub(found[1], 17, 20), string.sub(found[1], 21)
  version, seq, fence, created_at, updated_at, expires_at, access, system_tokens, system_messages, long_tokens,
    long_messages, short_tokens, short_messages, pinned_tokens, pinned_messages, waiting_tokens, waiting_messages,
    flush_retry_at, flush_at, prune_at, ops_until = struct.unpack(COUNTERS, found[2])
end
-- In its last millisecond a memory is still there, but a key that a script would give its end now would be gone at once.
local ended = incarnation and expires_at > 0 and expires_at <= now
if ended then
  incarnation = nil
end

-- User-defined sections: where the two keys of each begin, and what is stored of them.
local section_keys = {}
for i = 15, last_key, 2 do
  section_keys[string.match(KEYS[i], '.*:(.*)')] = i
end
local stored_sections = incarnation and found[3]
if stored_sections then
  local unknown = {}
  for name in string.gmatch(stored_sections, '%a (%S+) %d+ %d+ %d+ %d+') do
    if not section_keys[name] then
      unknown[#unknown + 1] = name
    end
  end
  if #unknown > 0 then
    return 'sections ' .. table.concat(unknown, ' ') -- The driver asks again with their keys.
  end
end

-- The record of operations: ids are kept for so long after their deadline, and at most so many.
local SKEW_MS = 60000
local MAX_OPERATIONS = 100000

local function damage(what)
  error(redis.error_reply('DAMAGED ' .. what))
end

-- A later form of memories has another head. It must not look absent: the next append would be a birth and replace it.
if not incarnation and not ended and redis.call('EXISTS', key.meta) == 1 then
  if (tonumber(redis.call('HGET', key.meta, 'schema')) or 0) > SCHEMA then
    error(redis.error_reply('NEWER'))
  end
  damage('its head is missing')
end
