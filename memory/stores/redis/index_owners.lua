-- Lists owners with what is bound to them, about as many as asked for.
-- KEYS: owners. ARGV: cursor (0 at first), how many. Returns the next cursor (0 after the last page), the time, and pairs of
-- owner and its memories.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local page = redis.call('HSCAN', KEYS[1], ARGV[1], 'MATCH', 'o:*', 'COUNT', ARGV[2])
return {page[1], now, unpack(page[2])}
