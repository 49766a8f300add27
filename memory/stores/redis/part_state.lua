-- The counters of one memory: loaded once, checked against what is stored, saved in one go.
local META, MSG, SYSTEM, LONG, SHORT, PINNED, EVICT, GROUPS, DEPARTED, OVERFLOW, BATCH, LEASE, OPS, OPX =
  KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10], KEYS[11], KEYS[12],
  KEYS[13], KEYS[14]
local call, match, gmatch, concat, insert = redis.call, string.match, string.gmatch, table.concat, table.insert
local INF = math.huge
local SECTION_KEY = {s = SYSTEM, l = LONG, c = SHORT}

-- Once per script, so that every answer and every expiry of it speaks of the same moment.
local clock = call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

-- ARGV[1] is made by the driver of the limits of the memory; a limit that is not set is infinite.
local max_tokens, max_messages, summarize, room_tokens, room_messages, summary_tokens, overflow_tokens,
  overflow_messages, due_tokens, due_messages, target_tokens, target_messages, keep_first, keep_last, lru,
  open_group_ms, ttl, lease_ms = struct.unpack('>dddddddddddddddddd', ARGV[1])
summarize, lru = summarize == 1, lru == 1

local FIELDS = {
  'version', 'tag', 'seq', 'fence', 'created_at', 'updated_at', 'expires_at', 'access', 'policy',
  'system_tokens', 'system_messages', 'long_tokens', 'long_messages', 'short_tokens', 'short_messages',
  'pinned_tokens', 'pinned_messages', 'overflow_tokens', 'overflow_messages',
  'flush_retry_at', 'flush_at', 'flush_outcome', 'prune_at', 'ops_until',
}
local TEXT = {tag = true, policy = true, flush_outcome = true}

-- What the script loaded; save() writes the fields that differ from it.
local loaded = {}

local function load()
  local values = call('HMGET', META, 'incarnation', unpack(FIELDS))
  if not values[1] then
    return nil
  end
  local m = {incarnation = values[1]}
  for i = 1, #FIELDS do
    local name, value = FIELDS[i], values[i + 1]
    if not TEXT[name] then
      value = tonumber(value)
    end
    m[name], loaded[name] = value, value
  end
  return m
end

local function new_memory(incarnation)
  local m = {incarnation = incarnation, created_at = now}
  for _, name in ipairs(FIELDS) do
    m[name] = m[name] or (TEXT[name] and '' or 0)
  end
  m.policy = lru and 'lru' or 'fifo'
  loaded = {}
  return m
end

local function save(m)
  local changes = {}
  for _, name in ipairs(FIELDS) do
    local value = m[name]
    if value ~= loaded[name] then
      changes[#changes + 1] = name
      changes[#changes + 1] = value
    end
  end
  if loaded.version == nil then
    insert(changes, 'schema')
    insert(changes, 1)
    insert(changes, 'incarnation')
    insert(changes, m.incarnation)
  end
  if #changes > 0 then
    call('HSET', META, unpack(changes))
  end
end

local function damage(what)
  error(redis.error_reply('DAMAGED ' .. what))
end

local function check_counts(m)
  if call('HLEN', MSG) ~= m.system_messages + m.long_messages + m.short_messages + m.overflow_messages
    or call('ZCARD', SHORT) ~= m.short_messages or call('ZCARD', SYSTEM) ~= m.system_messages
    or call('ZCARD', LONG) ~= m.long_messages or call('ZCARD', OVERFLOW) ~= m.overflow_messages then
    damage('the counters disagree with the stored records')
  end
end

local function outside_tokens(m)
  return m.system_tokens + m.short_tokens
end

local function outside_messages(m)
  return m.system_messages + m.short_messages
end

local function live_tokens(m)
  return m.system_tokens + m.long_tokens + m.short_tokens
end

local function live_messages(m)
  return m.system_messages + m.long_messages + m.short_messages
end

local function flush_due(m)
  if m.overflow_messages > 0 or outside_tokens(m) >= due_tokens or outside_messages(m) >= due_messages then
    return 1
  end
  return 0
end

local function version_of(m)
  if not m then
    return 'absent'
  end
  return m.incarnation .. ':' .. m.version .. ':' .. m.tag
end

-- Calls f with slices of a list, since Lua hands only some thousand arguments to a command.
local function chunks(list, f)
  local first = 1
  while first <= #list do
    local last = math.min(first + 499, #list)
    f({unpack(list, first, last)})
    first = last + 1
  end
end

local function command_on(name, key, list)
  chunks(list, function(some)
    call(name, key, unpack(some))
  end)
end
