-- The usual read, from what is stored alone: all or the newest of a memory without tool calls, of which nothing has
-- to be left out. What is stored is what is shown.
-- needs: keys limits head intact query

do
  -- parts: shares
  local usual = not by_ids and not since and not before and not prolongs and tokens_at_most == INF and not undeclared
    and redis.call('EXISTS', key.groups) == 0
    and (shares or system_tokens + long_tokens + talk_tokens <= max_tokens)
    and system_messages + long_messages + talk_messages <= max_messages
    and system_tokens <= system_room and long_tokens <= long_room and short_tokens <= short_room
  for i = 1, undeclared and 0 or #stored do
    usual = usual and stored[i][3] <= share_of[stored[i][2]]
  end
  if usual then
    -- parts: due
    local seqs, texts, lengths, names = {}, {}, {}, {'system', 'long_term', unpack(stored_names)}
    names[#names + 1] = 'short_term'
    for i = #names, 1, -1 do
      local name, first = names[i], 0
      local from = name == 'short_term' and key.short or name == 'long_term' and key.long
        or name == 'system' and key.system or KEYS[section_keys[name]]
      while #seqs < at_most and is_asked_for(name) do
        local page = redis.call('ZREVRANGE', from, first, first + math.min(at_most - #seqs, 500) - 1)
        local found = #page > 0 and redis.call('HMGET', key.msg, unpack(page)) or {}
        for j = 1, #page do
          local text = found[j] or damage('a record is missing')
          local n = #seqs + 1
          seqs[n], texts[n], lengths[n] = page[j], text, #text
        end
        if #page < 500 then
          break
        end
        first = first + 500
      end
    end
    local head = 'ok ' .. incarnation
    for i = 1, #stored do
      head = head .. ',' .. stored[i][1] .. '=' .. stored[i][2]
    end
    return head .. ' ' .. incarnation .. ':' .. version .. ':' .. last_tag .. ' ' .. waiting_messages .. ' '
      .. waiting_tokens .. (due and ' 1 back' or ' 0 back') .. (#seqs > 0 and ' ' or '') .. table.concat(seqs, ' ')
      .. '\n' .. table.concat(lengths, ' ') .. '\n' .. table.concat(texts)
  end
end
