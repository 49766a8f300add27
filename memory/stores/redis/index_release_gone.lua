-- Forgets an owner of the memories that are gone and that its open run is not bound to.
-- KEYS: bindings, all that is registered. ARGV: owner, the open run.
-- parts: bindings
local bindings, owner, run = KEYS[1], ARGV[1], ARGV[2]
local memories, runs_of = bound_to(bindings, owner)
for _, memory in ipairs(memories) do
  if not runs_of[memory][run] and not redis.call('ZSCORE', KEYS[2], memory) then
    unbind(bindings, owner, memory)
  end
end
return 'ok'
