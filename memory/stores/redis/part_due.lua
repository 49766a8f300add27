-- Whether a flush is due, in numbers alone; flush_due() of part_state.lua says the same of objects. It stands where the
-- numbers are, since a function would refer to all of them, and where each section that holds something has a share.
-- needs: limits head intact shares
-- gives: due

local due = waiting_messages > 0 or system_tokens + talk_tokens >= due_tokens
  or system_messages + talk_messages >= due_messages or short_tokens >= short_due
  or summarize and (max_messages - long_messages < room_messages
    or long_tokens > (shares and long_room or max_tokens - room_tokens))
for i = 1, #stored do
  due = due or stored[i][3] >= due_of[stored[i][2]]
end
