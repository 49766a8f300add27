-- The lifetime of a memory: one absolute time for all of its keys, so that they vanish together.
-- needs: keys limits state
-- gives: mortal inherit_expiry prolong

local function mortal()
  local keys = {
    key.meta, key.msg, key.system, key.long, key.short, key.pinned, key.evict, key.groups, key.departed, key.overflow,
    key.batch,
  }
  for i = FIRST_SECTION_KEY, last_key do
    keys[#keys + 1] = KEYS[i]
  end
  return keys
end

-- Gives the memory's expiry to the keys that this script may have created.
local function inherit_expiry(keys)
  if m.expires_at > 0 then
    for _, name in ipairs(keys) do
      redis.call('PEXPIREAT', name, m.expires_at, 'NX')
    end
  end
end

-- What a client's write does: the lifetime starts anew. A twentieth of it is not worth a command for each key.
local function prolong(keys)
  if ttl_ms == INF then
    if m.expires_at > 0 then
      for _, name in ipairs(mortal()) do
        redis.call('PERSIST', name)
      end
      m.expires_at = 0
    end
    return
  end
  local expires_at = now + ttl_ms
  if m.expires_at == 0 or expires_at < m.expires_at or expires_at - m.expires_at >= ttl_ms / 20 then
    m.expires_at = expires_at
    for _, name in ipairs(mortal()) do
      redis.call('PEXPIREAT', name, expires_at)
    end
  else
    inherit_expiry(keys)
  end
end
