-- Reads a page of a batch, wherever its messages are now; the old summaries stand before the first page.
-- ARGV: limits, incarnation, fence, owner, batch id, page.
-- Returns the records behind a head `ok <next page or -1> <incarnation and names of letters> <seq ...>`.
-- parts: keys state records batch
local stopped = batch_stopped(ARGV[2], ARGV[3], ARGV[4], ARGV[5])
if stopped then
  return stopped
end
local number = tonumber(ARGV[6])
local text, pages, summaries = unpack(redis.call('HMGET', key.batch, 'p:' .. number, 'pages', 'summaries'))
local seqs = {}
for seq in string.gmatch((number == 0 and summaries .. ' ' or '') .. (text or ''), '%d+') do
  table.insert(seqs, seq)
end
local following = number + 1 < tonumber(pages) and number + 1 or -1
local texts = records(seqs)
table.insert(seqs, 1, 'ok ' .. following .. ' ' .. m.incarnation .. names_of(stored_name))
return one_text(seqs, texts)
