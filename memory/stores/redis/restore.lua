-- Replaces everything that a memory holds by a backup of it, as a new incarnation: no id, version, fence or batch of
-- before counts any more.
-- ARGV: limits, operation, digest, deadline, tag, incarnation, if_version (empty: any), backup id, `look` or `go`.
-- Returns `ok <messages that were replaced>`, or `again`. Where it is only to look whether it can be done, it returns
-- messages of the backup, one for each key that encrypted any: the records behind a head `look <incarnation and names of
-- letters> <seq ...>`.
-- parts: may_change call forms keys limits sections state expiry operations backups counters copied records
local tag, life, if_version, backup, only_look = ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9] == 'look'
local known = recall('v', op, digest)
if known then
  return known == 'reused' and known or 'again'
end
if if_version ~= '' and if_version ~= version_of() then
  return 'conflict ' .. version_of()
end
local kind = redis.call('TYPE', copies.meta).ok
if not backup_ends(backup) or kind == 'none' then
  return 'backup'
elseif kind ~= 'hash' then
  return 'lost'
end
local kept_life, kept_counters, kept_sections, kept_schema =
  unpack(redis.call('HMGET', copies.meta, 'life', 'counters', 'sections', 'schema'))
if (tonumber(kept_schema) or 0) > SCHEMA then
  error(redis.error_reply('NEWER'))
end
if #(kept_life or '') <= TAG_ENDS or #(kept_counters or '') < struct.size(COUNTERS) then
  return 'lost'
end
local unknown = {}
for name in string.gmatch(kept_sections or '', '%a (%S+) %d+ %d+ %d+ %d+') do
  if not copies['order:' .. name] then
    unknown[#unknown + 1] = name
  end
end
if #unknown > 0 then
  return 'sections ' .. table.concat(unknown, ' ')
end
if operations_full() then
  return 'operations'
end
local counters = counters_of(kept_counters)
if not sizes_are_whole(counters, kept_sections or '') then
  return 'lost'
end
if only_look then
  local seqs, texts = look_into()
  if not seqs then
    return 'lost'
  end
  local names = string.sub(kept_life, 1, INCARNATION_ENDS)
  for letter, name in string.gmatch(kept_sections or '', '(%a) (%S+) %d+ %d+ %d+ %d+') do
    names = names .. ',' .. letter .. '=' .. name
  end
  return one_text({'look', names, unpack(seqs)}, texts)
end

local removed = m and live_messages() + m.overflow_messages or 0
redis.call('UNLINK', key.lease, unpack(mortal()))
local ends = ttl < INF and now + ttl or 0
each_copy(function(name, copy)
  if redis.call('COPY', copy, name) == 0 then
    return
  end
  if ends > 0 then
    redis.call('PEXPIREAT', name, ends)
  else
    redis.call('PERSIST', name)
  end
end)
counters.version, counters.updated_at, counters.expires_at = counters.version + 1, now, ends
-- What a flush waits for, and what is known of operations, is not that of the backup.
counters.flush_retry_at, counters.prune_at, counters.ops_until = 0, 0, 0
redis.call('HSET', key.meta, 'life', life .. tag .. string.sub(kept_life, TAG_ENDS + 1),
  'counters', packed_counters(counters))

-- Whether a flush is due is asked of what is held now, by the sections of the backup.
m = {
  system_tokens = counters.system_tokens, system_messages = counters.system_messages,
  long_tokens = counters.long_tokens, long_messages = counters.long_messages,
  overflow_messages = counters.waiting_messages,
}
local function hold(place, tokens, messages, pinned_tokens, pinned_messages)
  place.tokens, place.messages = tonumber(tokens), tonumber(messages)
  place.pinned_tokens, place.pinned_messages = tonumber(pinned_tokens), tonumber(pinned_messages)
end
for _, place in ipairs(all_places) do
  hold(place, 0, 0, 0, 0)
end
hold(places.c, counters.short_tokens, counters.short_messages, counters.pinned_tokens, counters.pinned_messages)
for name, a, b, c, d in string.gmatch(kept_sections or '', '%a (%S+) (%d+) (%d+) (%d+) (%d+)') do
  local place = place_named(name)
  if not place then
    place = {name = name}
    all_places[#all_places + 1] = place
    table.insert(short_term.places, place)
  end
  hold(place, a, b, c, d)
end
note_due_anew()
m = nil -- what is known of operations is not that of the backup
remember('v', op, digest, deadline, life .. ' 1 0')
return 'ok ' .. removed
