-- Begins a flush: takes the lease and the next fence and notes the batch, or gives the same owner the same batch again.
-- ARGV: limits, operation of the owner, owner, batch id, force, end of the attempt.
-- parts: state expiry operations groups order batch select
local op, owner, batch_id, force, ends = ARGV[2], ARGV[3], ARGV[4], ARGV[5] == '1', tonumber(ARGV[6])
if now > ends then
  return 'expired'
end
local known = recall('f', op, '')
if known then
  return known == 'reused' and known or table.concat({'done', m and flush_due() or 0, known}, ' ')
end
if not m then
  return 'gone'
end
local function answer()
  local b = redis.call('HMGET', key.batch, 'fence', 'messages', 'tokens', 'summary_max', 'id')
  return table.concat({'batch', m.incarnation, unpack(b)}, ' ')
end
local holder = redis.call('GET', key.lease)
if redis.call('HGET', key.batch, 'owner') == owner then
  if not holder or holder == owner then
    take_lease(owner)
  end
  return answer()
end
if holder and holder ~= owner then
  return 'busy ' .. math.max(1, redis.call('PTTL', key.lease))
end
if m.flush_retry_at > now and not force then
  return 'busy ' .. m.flush_retry_at - now
end
local taken = select(force)
if taken.reason then
  return table.concat({'nothing', taken.reason, live_tokens(), live_messages(), flush_due()}, ' ')
end

-- The room of summaries is as large as one summary, so the old ones are always summarised along.
local summaries = redis.call('ZRANGE', key.long, 0, -1)
local seqs = redis.call('ZRANGE', key.overflow, 0, -1)
for _, seq in ipairs(taken.seqs) do
  table.insert(seqs, seq)
end
table.sort(seqs, function(a, b)
  return tonumber(a) < tonumber(b)
end)
m.fence = m.fence + 1
redis.call('DEL', key.batch)
redis.call('HSET', key.batch, 'id', batch_id, 'owner', owner, 'fence', m.fence, 'messages', #seqs, 'tokens',
  taken.tokens + m.overflow_tokens, 'summary_max', summary_tokens, 'summaries', table.concat(summaries, ' '))
-- A page is what one answer may carry: some hundred messages, or fewer large ones.
local page, pages, weight = {}, 0, 0
local function close_page()
  redis.call('HSET', key.batch, 'p:' .. pages, table.concat(page, ' '))
  page, pages, weight = {}, pages + 1, 0
end
local first = 1
while first <= #seqs do
  local some = {unpack(seqs, first, math.min(first + 199, #seqs))}
  for i, text in ipairs(records(some)) do
    if #page > 0 and (#page >= 200 or weight + #text > 500000) then
      close_page()
    end
    table.insert(page, some[i])
    weight = weight + #text
  end
  first = first + 200
end
close_page()
redis.call('HSET', key.batch, 'pages', pages)
inherit_expiry({key.batch})
take_lease(owner)
save()
return answer()
