-- Begins a flush: takes the lease and the next fence and notes the batch, or gives the same owner the same batch again.
-- ARGV: limits, operation of the owner, owner, batch id, force, end of the attempt, messages at most.
-- parts: may_change
local refused = change_refused()
if refused then
  return refused
end
-- parts: keys limits state expiry operations records batch order select bound
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
    redis.call('HSET', key.batch, 'lease_ms', lease_ms)
  end
  return answer()
end
if holder and holder ~= owner then
  -- By the declaration of its holder, who renews at a third of that: maybe later than a lease of ours would end.
  local given = tonumber(redis.call('HGET', key.batch, 'lease_ms') or lease_ms)
  local left = redis.call('PTTL', key.lease)
  if left > given then
    -- The server that gave it out had another clock.
    redis.call('PEXPIREAT', key.lease, now + given)
    left = given
  end
  return 'busy ' .. math.max(1, math.min(left, lease_ms))
end
-- A failure that lies in the future was noted by a server with another clock: nobody waits for that moment.
if m.flush_retry_at > now and m.flush_at <= now and not force then
  return 'busy ' .. m.flush_retry_at - now
end
adopt_policy()
local taken = select_groups(force)
bound(taken, tonumber(ARGV[7]))
if taken.reason then
  return table.concat({'nothing', taken.reason, live_tokens(), live_messages(), flush_due()}, ' ')
end

local summaries, seqs = summaries_along(), seqs_of(taken)
-- A page is what one answer may carry: some hundred messages, or fewer large ones.
local pages, weight, tokens = {{}}, 0, 0
for i, text in ipairs(records(seqs)) do
  if #pages[#pages] >= 200 or weight + #text > 500000 and #pages[#pages] > 0 then
    pages[#pages + 1], weight = {}, 0
  end
  table.insert(pages[#pages], seqs[i])
  weight, tokens = weight + #text, tokens + tokens_of(text)
end

m.fence = m.fence + 1
-- First, since a full Redis refuses it: else a model would be asked for a summary that finds no room. Only where the
-- policy has changed, and the old order was removed, does a full Redis let the script pass.
take_lease(owner)
redis.call('DEL', key.batch)
redis.call('HSET', key.batch, 'id', batch_id, 'owner', owner, 'fence', m.fence, 'messages', #seqs, 'tokens', tokens,
  'summary_max', summary_tokens, 'summaries', table.concat(summaries, ' '), 'pages', #pages, 'lease_ms', lease_ms)
for i, page in ipairs(pages) do
  redis.call('HSET', key.batch, 'p:' .. i - 1, table.concat(page, ' '))
end
inherit_expiry({key.batch})
save()
return answer()
