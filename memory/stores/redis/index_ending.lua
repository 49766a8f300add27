-- Notes that an owner ends, as far as only these runs of it are bound, and lists those memories, each with whether every
-- other owner has ended or is ending too. Of owners that end at the same time, exactly the last one to ask is told so.
-- Repeatable; a later register takes it back.
-- KEYS: owners. ARGV: owner, runs. Returns pairs of memory and 0 or 1.
local owner, ends = ARGV[1], {}
for i = 2, #ARGV do
  ends[ARGV[i]] = true
end

local function all_end(runs)
  for run in pairs(runs) do
    if not ends[run] then
      return false
    end
  end
  return true
end

local answer = {}
for memory, runs in pairs(cjson.decode(redis.call('HGET', KEYS[1], 'o:' .. owner) or '{}')) do
  if all_end(runs) then
    local owners = cjson.decode(redis.call('HGET', KEYS[1], 'm:' .. memory) or '{}')
    if owners[owner] ~= false then
      owners[owner] = false
      redis.call('HSET', KEYS[1], 'm:' .. memory, cjson.encode(owners))
    end
    local last = 1
    for _, goes_on in pairs(owners) do
      if goes_on then
        last = 0
      end
    end
    answer[#answer + 1] = memory
    answer[#answer + 1] = last
  end
end
return answer
