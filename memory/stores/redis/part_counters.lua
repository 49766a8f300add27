-- The packed counters of a memory by their names, for who reads those of another memory.
-- needs: forms
-- gives: counters_of

local NAMES = {
  'version', 'seq', 'fence', 'created_at', 'updated_at', 'expires_at', 'access', 'system_tokens', 'system_messages',
  'long_tokens', 'long_messages', 'short_tokens', 'short_messages', 'pinned_tokens', 'pinned_messages',
  'waiting_tokens', 'waiting_messages', 'flush_retry_at', 'flush_at', 'prune_at', 'ops_until',
}

local function counters_of(packed)
  local numbers, counters = {struct.unpack(COUNTERS, packed)}, {}
  for i, name in ipairs(NAMES) do
    counters[name] = numbers[i]
  end
  return counters
end
