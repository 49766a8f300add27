-- Counts the language-model tokens of a resource and a day. The limit 0 is none; the day 0 is today.
-- KEYS: spent. ARGV: tokens (may be negative), limit, day.
-- Answers the day that was counted for, or 0 if nothing was, and the sum of today.
local tokens, limit, wanted = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local today = math.floor(tonumber(redis.call('TIME')[1]) / 86400)
local day, sum = unpack(redis.call('HMGET', KEYS[1], 'day', 'tokens'))
sum = tonumber(day) == today and tonumber(sum) or 0
if (wanted > 0 and wanted ~= today) or (limit > 0 and sum + tokens > limit) then
  return {0, sum}
end
if tokens ~= 0 then
  sum = math.max(0, sum + tokens)
  redis.call('HSET', KEYS[1], 'day', today, 'tokens', sum)
  redis.call('EXPIRE', KEYS[1], 172800)
end
return {today, sum}
