-- Tells whether an append would be refused now: its checks, in its order. Writes nothing.
-- ARGV: as of append; the payloads may be empty.
-- Returns `fits`, also for an append that was applied before, or the refusal.
-- parts: may_append call
local refused = append_refused() or deadline_refused()
if refused then
  return refused
end
-- parts: state operations order place
local known = recall('a', op, digest)
if known then
  return known == 'reused' and known or 'fits'
end
-- parts: counts
m = m or new_memory(ARGV[6])
preview_policy()
local plan
plan, refused = plan_append(7, m.born)
if not plan then
  return refused
end
return operations_full() and 'operations' or 'fits'
