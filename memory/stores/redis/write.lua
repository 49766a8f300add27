-- Replaces everything that a memory holds, and drops a flush in progress.
-- ARGV: limits, operation, digest, deadline, tag, incarnation for a birth, if_version (empty: any), heads and payloads.
-- parts: state expiry operations groups order place
local op, digest, deadline, tag, if_version = ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5], ARGV[7]
if now > deadline then
  return 'expired'
end
local known = recall('w', op, digest)
if known then
  return known == 'reused' and known or answer_again(known)
end
local m = load()
local born = not m
if if_version ~= '' and if_version ~= version_of(m) then
  return 'conflict ' .. version_of(m)
end
m = m or new_memory(ARGV[6])
local removed = live_messages(m) + m.overflow_messages
for _, name in ipairs({'system', 'long', 'short', 'pinned', 'overflow'}) do
  m[name .. '_tokens'], m[name .. '_messages'] = 0, 0
end
local plan, refusal = plan_messages(m, 8, true)
if not plan then
  return refusal
end
if operations_full() then
  return 'operations'
end

call('UNLINK', MSG, SYSTEM, LONG, SHORT, PINNED, EVICT, GROUPS, DEPARTED, OVERFLOW, BATCH, LEASE)
m.policy = lru and 'lru' or 'fifo'
local first = m.seq + 1
local touched = apply_plan(m, plan, tag)
remember(m, 'w', op, digest, deadline, m.incarnation .. ' ' .. first .. ' ' .. #plan.news)
prolong(m, touched)
save(m)
if born then
  inherit_expiry(m, {META})
end
return concat({
  'ok', m.incarnation, first, #plan.news, version_of(m), live_tokens(m), live_messages(m), flush_due(m),
  plan.evicted, plan.late, born and 1 or 0, removed,
}, ' ')
