-- Lists the memories of an owner, each with whether nobody else owns it.
-- KEYS: owners. ARGV: owner. Returns pairs of memory and 0 or 1.
local owned = cjson.decode(redis.call('HGET', KEYS[1], 'o:' .. ARGV[1]) or '{}')
local answer = {}
for memory in pairs(owned) do
  local last = 1
  for owner in pairs(cjson.decode(redis.call('HGET', KEYS[1], 'm:' .. memory) or '{}')) do
    if owner ~= ARGV[1] then
      last = 0
    end
  end
  answer[#answer + 1] = memory
  answer[#answer + 1] = last
end
return answer
