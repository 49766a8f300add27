-- Appends messages: all or none.
-- ARGV: limits, operation, digest, deadline, tag, incarnation for a birth, heads and payloads.
-- parts: may_append call
local refused = append_refused() or deadline_refused()
if refused then
  return refused
end
-- The usual ones are answered here.
-- parts: usual_append
-- parts: keys state expiry operations order place apply
local known = recall('a', op, digest)
if known then
  return known == 'reused' and known or answer_again(known)
end
-- parts: rights
refused = rights_refused()
if refused then
  return refused
end
-- parts: counts
m = m or new_memory(ARGV[6])
adopt_policy()
local plan
plan, refused = plan_append(7, m.born)
if not plan then
  return refused
end
if operations_full() then
  return 'operations'
end

-- What an earlier incarnation left behind. Only if there is any: a full Redis lets a script pass that removes something
-- first.
if m.born and redis.call('EXISTS', key.lease, unpack(mortal())) > 0 then
  redis.call('UNLINK', key.lease, unpack(mortal()))
end
return carry_out(plan, 'a', op, digest, deadline, 0)
