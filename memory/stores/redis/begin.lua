-- Begins a flush: takes the lease and the next fence and notes the batch, or gives the same owner the same batch again.
-- ARGV: limits, operation of the owner, owner, batch id, force, end of the attempt.
-- parts: state expiry operations groups order batch select
local op, owner, batch_id, force, ends = ARGV[2], ARGV[3], ARGV[4], ARGV[5] == '1', tonumber(ARGV[6])
if now > ends then
  return 'expired'
end
local known = recall('f', op, '')
local m = load()
if known then
  return known == 'reused' and known or concat({'done', m and flush_due(m) or 0, known}, ' ')
end
if not m then
  return 'gone'
end
local function answer()
  local b = call('HMGET', BATCH, 'fence', 'messages', 'tokens', 'summary_max', 'id')
  return concat({'batch', m.incarnation, unpack(b)}, ' ')
end
local holder = call('GET', LEASE)
if call('HGET', BATCH, 'owner') == owner then
  if not holder or holder == owner then
    take_lease(m, owner)
  end
  return answer()
end
if holder and holder ~= owner then
  return 'busy ' .. math.max(1, call('PTTL', LEASE))
end
if m.flush_retry_at > now and not force then
  return 'busy ' .. m.flush_retry_at - now
end
local taken = select(m, force)
if taken.reason then
  return concat({'nothing', taken.reason, live_tokens(m), live_messages(m), flush_due(m)}, ' ')
end

-- The room of summaries is as large as one summary, so the old ones are always summarised along.
local summaries = call('ZRANGE', LONG, 0, -1)
local seqs = call('ZRANGE', OVERFLOW, 0, -1)
for _, seq in ipairs(taken.seqs) do
  insert(seqs, seq)
end
table.sort(seqs, function(a, b)
  return tonumber(a) < tonumber(b)
end)
m.fence = m.fence + 1
call('DEL', BATCH)
call('HSET', BATCH, 'id', batch_id, 'owner', owner, 'fence', m.fence, 'messages', #seqs, 'tokens',
  taken.tokens + m.overflow_tokens, 'summary_max', summary_tokens, 'summaries', concat(summaries, ' '))
-- A page is what one answer may carry: some hundred messages, or fewer large ones.
local page, pages, weight = {}, 0, 0
local function close_page()
  call('HSET', BATCH, 'p:' .. pages, concat(page, ' '))
  page, pages, weight = {}, pages + 1, 0
end
local first = 1
while first <= #seqs do
  local some = {unpack(seqs, first, math.min(first + 199, #seqs))}
  for i, text in ipairs(records(some)) do
    if #page > 0 and (#page >= 200 or weight + #text > 500000) then
      close_page()
    end
    insert(page, some[i])
    weight = weight + #text
  end
  first = first + 200
end
close_page()
call('HSET', BATCH, 'pages', pages)
inherit_expiry(m, {BATCH})
take_lease(m, owner)
save(m)
return answer()
