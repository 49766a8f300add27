-- Finds damage before anything is read or written: the counters must be those of the stored keys.
-- parts: head
local extra_messages = 0
if stored_sections then
  local order_of = {}
  for i = 15, #KEYS, 2 do
    order_of[string.match(KEYS[i], '[^:]*$')] = KEYS[i]
  end
  for name, messages in string.gmatch(stored_sections, '%a (%S+) %d+ (%d+) %d+ %d+') do
    extra_messages = extra_messages + messages
    if redis.call('ZCARD', order_of[name]) ~= tonumber(messages) then
      damage('the counters disagree with the stored records')
    end
  end
end
if incarnation and (redis.call('HLEN', key.msg) ~= system_messages + long_messages + short_messages + waiting_messages
    + extra_messages
  or (short_messages > 0 and redis.call('ZCARD', key.short) ~= short_messages)
  or (system_messages > 0 and redis.call('ZCARD', key.system) ~= system_messages)
  or (long_messages > 0 and redis.call('ZCARD', key.long) ~= long_messages)
  or (waiting_messages > 0 and redis.call('ZCARD', key.overflow) ~= waiting_messages)) then
  damage('the counters disagree with the stored records')
end
