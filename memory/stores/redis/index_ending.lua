-- Notes that an owner ends, and lists its memories, each with whether every other owner has ended or is ending too. Of
-- owners that end at the same time, exactly the last one to ask is told so. Repeatable; a later register takes it back.
-- KEYS: owners. ARGV: owner. Returns pairs of memory and 0 or 1.
local owned = cjson.decode(redis.call('HGET', KEYS[1], 'o:' .. ARGV[1]) or '{}')
local answer = {}
for memory in pairs(owned) do
  local owners = cjson.decode(redis.call('HGET', KEYS[1], 'm:' .. memory) or '{}')
  owners[ARGV[1]] = false
  redis.call('HSET', KEYS[1], 'm:' .. memory, cjson.encode(owners))
  local last = 1
  for _, goes_on in pairs(owners) do
    if goes_on then
      last = 0
    end
  end
  answer[#answer + 1] = memory
  answer[#answer + 1] = last
end
return answer
