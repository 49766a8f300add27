-- What a repetition of an append would be answered; nothing if there was none. Writes nothing.
-- ARGV: limits, operation.
-- parts: state expiry operations
local known = recall('a', ARGV[2], '')
if not known then
  return 'none'
end
return known == 'reused' and known or answer_again(known)
