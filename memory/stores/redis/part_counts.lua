-- Finds damage before anything is read or written: the counters must be those of the stored keys.
-- parts: head
if incarnation and (redis.call('HLEN', key.msg) ~= system_messages + long_messages + short_messages + waiting_messages
  or (short_messages > 0 and redis.call('ZCARD', key.short) ~= short_messages)
  or (system_messages > 0 and redis.call('ZCARD', key.system) ~= system_messages)
  or (long_messages > 0 and redis.call('ZCARD', key.long) ~= long_messages)
  or (waiting_messages > 0 and redis.call('ZCARD', key.overflow) ~= waiting_messages)) then
  damage('the counters disagree with the stored records')
end
