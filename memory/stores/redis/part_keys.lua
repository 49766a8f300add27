-- The keys of a memory, and the moment of the call.
-- gives: KEYS FIRST_SECTION_KEY key last_key section_keys now

-- Keys stand in a table and built-in functions are called by their full names: each local that a function refers to
-- costs time when the function is made, and the functions are made for each call of a script.
local KEYS = KEYS
local FIRST_SECTION_KEY = 15
local key = {
  meta = KEYS[1], msg = KEYS[2], system = KEYS[3], long = KEYS[4], short = KEYS[5], pinned = KEYS[6], evict = KEYS[7],
  groups = KEYS[8], departed = KEYS[9], overflow = KEYS[10], batch = KEYS[11], lease = KEYS[12], ops = KEYS[13],
  opx = KEYS[14],
} -- behind them, two for each user-defined section: its order, and who goes first; then those of backups
local last_key = #KEYS -- of the memory itself
while last_key >= FIRST_SECTION_KEY and string.find(KEYS[last_key], '}:backup:', 1, true) do
  last_key = last_key - 1
end

-- Of user-defined sections: where the two keys of each begin.
local section_keys = {}
for i = FIRST_SECTION_KEY, last_key, 2 do
  section_keys[string.match(KEYS[i], '.*:(.*)')] = i
end

-- Once per script, so that every answer and every expiry of it speaks of the same moment.
local now
do
  local clock = redis.call('TIME')
  now = clock[1] * 1000 + math.floor(clock[2] / 1000)
end
