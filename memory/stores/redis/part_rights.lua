-- Whether a script can go on to its end, once it has begun to write.
-- Redis rolls no script back: what it refused in the middle would stay half done, and the record of operations would
-- tell the repetition that it is done.
-- gives: rights_refused

-- Returns the refusal of a user who may not run every command that follows a script's first write, or of a server that
-- has not all of them; or nil.
local function rights_refused()
  local needed = {
    'HSET', 'HSETNX', 'HDEL', 'ZADD', 'ZREM', 'UNLINK', 'DEL', 'SET', 'COPY', 'PEXPIREAT', 'PERSIST', 'PEXPIRETIME',
    'EXISTS', 'HGET', 'HMGET', 'ZRANGE', 'ZRANGEBYSCORE', 'ZCOUNT',
  }
  local asked = 0
  local known, allowed = pcall(function()
    for i, name in ipairs(needed) do
      asked = i
      if not redis.acl_check_cmd(name, KEYS[1], KEYS[1], KEYS[1], KEYS[1]) then
        return false
      end
    end
    return true
  end)
  local name = string.lower(needed[asked])
  if not known then
    return redis.error_reply("ERR unknown command '" .. name .. "'")
  elseif not allowed then
    return redis.error_reply("NOPERM this user has no permission to run the '" .. name .. "' command")
  end
  return nil
end
