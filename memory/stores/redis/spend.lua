-- Counts the language-model tokens of a resource and a day: reserves those of a request, or settles them.
-- What a request has reserved stands in the hash until it is settled, so that a script which comes twice counts nothing
-- more. There are never more of them than the limit pays for, and they go with their day.
-- KEYS: spent. ARGV: request (empty to ask for the sum alone), tokens, limit, day. The day is 0 to reserve tokens, and
-- that of the reservation to settle them.
-- Answers the day that was counted for, or 0 if nothing was, and the sum of today.
local request, tokens, limit, wanted = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local today = math.floor(tonumber(redis.call('TIME')[1]) / 86400)
local day, sum, known = unpack(redis.call('HMGET', KEYS[1], 'day', 'tokens', 'r:' .. request))
if tonumber(day) ~= today then
  sum, known = 0, nil
end
sum = tonumber(sum) or 0
if request == '' or (wanted == 0 and known) then
  return {today, sum}
end
if wanted > 0 then
  if wanted ~= today or not known then
    return {0, sum}
  end
  sum = math.max(0, sum + tokens - tonumber(known))
  redis.call('HDEL', KEYS[1], 'r:' .. request)
else
  if sum + tokens > limit then
    return {0, sum}
  end
  sum = sum + tokens
  if tonumber(day) ~= today then
    redis.call('DEL', KEYS[1])
  end
  redis.call('HSET', KEYS[1], 'r:' .. request, tokens)
end
redis.call('HSET', KEYS[1], 'day', today, 'tokens', sum)
redis.call('EXPIRE', KEYS[1], 172800)
return {today, sum}
