-- Replaces everything that a memory holds, and drops a flush in progress.
-- ARGV: limits, operation, digest, deadline, tag, incarnation for a birth, if_version (empty: any), heads and payloads.
-- parts: may_change call
local refused = change_refused() or deadline_refused()
if refused then
  return refused
end
-- parts: keys limits sections state operations place apply
local if_version = ARGV[7]
local known = recall('w', op, digest)
if known then
  return known == 'reused' and known or answer_again(known)
end
if if_version ~= '' and if_version ~= version_of() then
  return 'conflict ' .. version_of()
end
m = m or new_memory(ARGV[6])
local removed = live_messages() + m.waiting_messages
m.system_tokens, m.system_messages = 0, 0
m.long_tokens, m.long_messages = 0, 0
m.waiting_tokens, m.waiting_messages = 0, 0
for _, place in ipairs(all_places) do
  place.tokens, place.messages, place.pinned_tokens, place.pinned_messages = 0, 0, 0, 0
end
local plan
plan, refused = plan_append(8, true)
if not plan then
  return refused
end
if operations_full() then
  return 'operations'
end

redis.call('UNLINK', key.msg, key.system, key.long, key.pinned, key.groups, key.departed, key.overflow, key.batch,
  key.lease)
for _, place in ipairs(all_places) do
  redis.call('UNLINK', place.order, place.evict)
end
if m.born then
  redis.call('UNLINK', key.meta) -- of an incarnation that ends in this millisecond
end
m.policy = scoring
return carry_out(plan, 'w', op, digest, deadline, removed)
