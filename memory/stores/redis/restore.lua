-- Replaces everything that a memory holds by a backup of it, as a new incarnation: no id, version, fence or batch of
-- before counts any more.
-- ARGV: limits, operation, digest, deadline, tag, incarnation, if_version (empty: any), backup id, `look` or `go`.
-- Returns as write. Where it is only to look whether it can be done, it returns messages of the backup, one for each
-- key that encrypted any: the records behind a head `look <incarnation and names of letters> <seq ...>`.
-- parts: may_change call
local refused = change_refused() or deadline_refused()
if refused then
  return refused
end
-- parts: forms keys limits sections state expiry operations backups counters copied records
local tag, new_incarnation, if_version, backup, only_look = ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9] == 'look'
local known = recall('v', op, digest)
if known then
  return known == 'reused' and known or answer_again(known)
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

local removed = m and live_messages() + m.waiting_messages or 0
redis.call('UNLINK', key.lease, unpack(mortal()))
local ends = ttl_ms < INF and now + ttl_ms or 0
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

-- From here on the memory is that of the backup. What a flush waits for, and what is known of operations, is not.
m = counters
m.born, m.incarnation, m.tag, m.policy = true, new_incarnation, tag, string.sub(kept_life, TAG_ENDS + 1)
m.version, m.updated_at, m.expires_at = m.version + 1, now, ends
m.flush_retry_at, m.prune_at, m.ops_until = 0, 0, 0
lay_out(kept_sections, m.short_tokens, m.short_messages, m.pinned_tokens, m.pinned_messages)
remember('v', op, digest, deadline, new_incarnation .. ' 1 0')
note_due_anew()
save()
return answer_new(1, 0, 0, removed)
