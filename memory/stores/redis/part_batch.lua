-- The flush in progress: which messages and summaries a commit will replace, in pages, and the draft of their summary.
-- needs: keys limits head state
-- gives: drop_batch each_page drop_batch_with batch_stopped take_lease

local function drop_batch()
  redis.call('UNLINK', key.batch, key.lease)
end

-- Calls f with the sequence numbers of each page, summaries included.
local function each_page(f)
  local sums, pages = unpack(redis.call('HMGET', key.batch, 'summaries', 'pages'))
  for page = 0, (tonumber(pages) or 0) - 1 do
    local seqs, text = {}, redis.call('HGET', key.batch, 'p:' .. page) or damage('a page of the batch is missing')
    for seq in string.gmatch(text, '%d+') do
      seqs[#seqs + 1] = seq
    end
    f(seqs)
  end
  return sums or ''
end

-- A batch that lost one of its messages is dropped: its summary would bring back what was removed.
local function drop_batch_with(seqs)
  if redis.call('EXISTS', key.batch) == 0 then
    return
  end
  local removed, held = {}, false
  for _, seq in ipairs(seqs) do
    removed[tostring(seq)] = true
  end
  local function look(page)
    for _, seq in ipairs(page) do
      held = held or removed[seq]
    end
  end
  local sums = each_page(look)
  for seq in string.gmatch(sums, '%d+') do
    look({seq})
  end
  if held then
    drop_batch()
  end
end

-- Who wants to work on a batch names all of it. Returns nil if it is the memory's batch, else why not.
local function batch_stopped(incarnation, fence, owner, id)
  if not m then
    return 'gone'
  end
  local batch = redis.call('HMGET', key.batch, 'fence', 'owner', 'id')
  if m.incarnation ~= incarnation or tostring(m.fence) ~= fence or batch[1] ~= fence or batch[2] ~= owner
    or batch[3] ~= id then
    return 'stale'
  end
  return nil
end

local function take_lease(owner)
  local lifetime = lease_ms
  if m.expires_at > 0 then
    lifetime = math.max(1, math.min(lifetime, m.expires_at - now))
  end
  redis.call('SET', key.lease, owner, 'PX', lifetime)
end
