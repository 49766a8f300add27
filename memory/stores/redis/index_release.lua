-- Forgets an owner of some memories in both directions, of those only that are noted as ending.
-- KEYS: bindings. ARGV: owner, memories.
-- parts: bindings
local bindings, owner = KEYS[1], ARGV[1]
for i = 2, #ARGV do
  if not redis.call('ZSCORE', bindings, 'm:' .. ARGV[i] .. ' ' .. owner) then
    unbind(bindings, owner, ARGV[i])
  end
end
return 'ok'
