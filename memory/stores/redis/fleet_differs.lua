-- Returns how many workers of a queue declare something else.
-- KEYS: the hash of the workers, each with the time until which it is noted and its fingerprint. ARGV: fingerprint.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local others = 0
for _, note in ipairs(redis.call('HVALS', KEYS[1])) do
  local noted_until, declarations = string.match(note, '^(%d+) (.*)$')
  if tonumber(noted_until) > now and declarations ~= ARGV[1] then
    others = others + 1
  end
end
return others
