-- Appends messages: all or none.
-- ARGV: limits, operation, digest, deadline, tag, incarnation for a birth, heads and payloads.
-- parts: state expiry operations groups order place
local op, digest, deadline, tag = ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]
if now > deadline then
  return 'expired'
end
local known = recall('a', op, digest)
if known then
  return known == 'reused' and known or answer_again(known)
end
local m = load()
local born = not m
if m then
  check_counts(m)
else
  m = new_memory(ARGV[6])
end
local plan, refusal = plan_messages(m, 7, born)
if not plan then
  return refusal
end
if operations_full() then
  return 'operations'
end

if born then
  call('UNLINK', LEASE, unpack(MORTAL)) -- what an earlier life left behind
end
adopt_policy(m)
local first = m.seq + 1
local touched = apply_plan(m, plan, tag)
remember(m, 'a', op, digest, deadline, m.incarnation .. ' ' .. first .. ' ' .. #plan.news)
prolong(m, touched)
save(m)
if born then
  inherit_expiry(m, {META})
end
return concat({
  'ok', m.incarnation, first, #plan.news, version_of(m), live_tokens(m), live_messages(m), flush_due(m),
  plan.evicted, plan.late, born and 1 or 0, 0,
}, ' ')
