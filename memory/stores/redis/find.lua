-- Reads messages by their ids wherever they are: live, in a group that waits for a result, or in the overflow.
-- ARGV: limits, ids. Returns the records that were found, in the order of the ids, behind a head
-- `<incarnation and names of letters> <seq ...>`.
-- parts: state records ids
local seqs, texts = {}, {}
for i = 2, m and #ARGV or 0 do
  local seq, text = find(ARGV[i])
  if seq then
    seqs[#seqs + 1], texts[#texts + 1] = seq, text
  end
end
return #seqs == 0 and '' or one_text({m.incarnation .. names_of(stored_name), unpack(seqs)}, texts)
