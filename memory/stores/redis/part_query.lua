-- What a read asks for.
-- ARGV: limits, messages at most, tokens at most, sections (letters, then the names of user-defined ones), what
-- else (`i` by ids, `a` which is an access, `r` prolong, `v` only if not of the version that follows, `b` only what
-- stands before the message that follows), the version and the message, the ids.
-- needs: keys limits head
-- gives: at_most tokens_at_most by_ids since before prolongs is_asked_for

local at_most, tokens_at_most, wanted = tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local by_ids = string.find(ARGV[5], 'i', 1, true)
local since = string.find(ARGV[5], 'v', 1, true) and ARGV[6]
local before = string.find(ARGV[5], 'b', 1, true) and ARGV[since and 7 or 6]
-- As for a write, a twentieth of the lifetime is not worth it; a read never shortens it.
local prolongs = expires_at > 0 and ttl_ms < INF and now + ttl_ms - expires_at >= ttl_ms / 20
  and string.find(ARGV[5], 'r', 1, true)

-- Whether the caller asks for a section: the built-in ones by their letters, in front, the others by name.
local function is_asked_for(name)
  local letter = name == 'system' and 's' or name == 'long_term' and 'l' or name == 'short_term' and 'c'
  return letter and string.find(wanted, '^%a*' .. letter) or string.find(wanted .. ' ', ' ' .. name .. ' ', 1, true)
end
