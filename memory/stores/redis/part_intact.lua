-- Whether the counters are those of the stored keys: if not, something else changed or evicted keys of this memory.
-- needs: keys head
-- gives: talk_tokens talk_messages intact

local talk_tokens, talk_messages = short_tokens, short_messages -- of the conversation, in all its sections
local all_pinned = pinned_messages
local intact = true
if stored_sections then
  for name, tokens, messages, pinned in string.gmatch(stored_sections, '%a (%S+) (%d+) (%d+) %d+ (%d+)') do
    talk_tokens, talk_messages, all_pinned = talk_tokens + tokens, talk_messages + messages, all_pinned + pinned
    intact = intact and redis.call('ZCARD', KEYS[section_keys[name]]) == tonumber(messages)
  end
end
if incarnation then
  intact = intact
    and redis.call('HLEN', key.msg) == system_messages + long_messages + talk_messages + waiting_messages
    and (short_messages == 0 or redis.call('ZCARD', key.short) == short_messages)
    and (system_messages == 0 or redis.call('ZCARD', key.system) == system_messages)
    and (long_messages == 0 or redis.call('ZCARD', key.long) == long_messages)
    and (all_pinned == 0 or redis.call('ZCARD', key.pinned) == all_pinned)
    and (waiting_messages == 0 or redis.call('ZCARD', key.overflow) == waiting_messages)
end
