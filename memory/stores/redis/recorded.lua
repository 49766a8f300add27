-- What a repetition of an append, or of a restore, would be answered; nothing if there was none. Writes nothing.
-- ARGV: limits, operation, its kind.
-- parts: state expiry operations
local known = recall(ARGV[3], ARGV[2], '')
if not known then
  return 'none'
end
return known == 'reused' and known or answer_again(known)
