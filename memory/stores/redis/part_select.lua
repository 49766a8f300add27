-- What a flush takes: all of the overflow, and groups in the policy's order until the target holds and the least share
-- of the messages is taken. Summaries above their room go, or are made one, also alone.
-- needs: limits sections state groups order
-- gives: select_groups

local select_groups
do
  -- Returns the numbers of the newest and oldest group of short_term that keep_first and keep_last hold back, at their
  -- edge.
  local function kept_edges()
    local function edge(count, newest)
      local groups = {}
      for _, place in ipairs(count > 0 and short_term.places or {}) do
        local first, last, found = 0, nil, 0
        while found < count do
          local page = redis.call(newest and 'ZREVRANGE' or 'ZRANGE', place.order, first, first + 63, 'WITHSCORES')
          for i = 2, #page, 2 do
            if page[i] ~= last and found < count then
              found, last = found + 1, page[i]
              groups[#groups + 1] = tonumber(last)
            end
          end
          if #page < 128 then
            break
          end
          first = first + 64
        end
      end
      table.sort(groups, function(a, b)
        if newest then
          return a > b
        end
        return a < b
      end)
      return groups[math.min(count, #groups)]
    end
    return edge(keep_first, false) or -1, edge(keep_last, true) or INF
  end

  -- Returns the live groups that are taken, each with its place, numbers and tokens, how many tokens and messages they
  -- are, and why nothing can be taken.
  -- enough: stops at so many messages, whichever go first; without it, it is all that a flush takes.
  function select_groups(force, enough)
    local taken = {groups = {}, tokens = 0, messages = 0}
    if not force and flush_due() == 0 then
      taken.reason = 'below_threshold'
      return taken
    end
    local each = enough and each_in_any_order or each_at_flush
    enough = enough or INF
    local newest_first, oldest_last = kept_edges()
    local kept, gone = false, {}
    -- Takes from these places, in the policy's order, so many tokens and messages; of open groups, only if `reaches`
    -- says that nothing else reaches them.
    local function take_from(some, over_tokens, over_messages, reaches)
      if over_tokens <= 0 and over_messages <= 0 or taken.messages >= enough then
        return
      end
      local done, open = false, {}
      local function take(group, seqs, tokens, place)
        gone[group] = true
        table.insert(taken.groups, {group = group, seqs = seqs, tokens = tokens, place = place})
        taken.tokens, taken.messages = taken.tokens + tokens, taken.messages + #seqs
        over_tokens, over_messages = over_tokens - tokens, over_messages - #seqs
        return over_tokens <= 0 and over_messages <= 0 or taken.messages >= enough
      end
      each(some, gone, function(group, seqs, tokens, state, place)
        if place.section == short_term and (group <= newest_first or group >= oldest_last) then
          kept = true
        elseif state and is_open(state) then
          table.insert(open, {group, seqs, tokens, place})
        else
          done = take(group, seqs, tokens, place)
        end
        return done
      end)
      for _, waiting in ipairs(reaches and open or {}) do
        if done then
          break
        end
        done = take(unpack(waiting))
      end
    end
    for _, section in ipairs(shares and sections or {}) do
      local tokens = sum_of(section.places, 'tokens')
      -- A section is flushed when it has reached its own threshold: another one's is no reason.
      if not force and tokens >= section.due then
        take_from(section.places, tokens - section.target, 0, true)
      end
    end
    take_from(all_places, force and INF or not shares and outside_tokens() - target_tokens or 0,
      force and INF or outside_messages() - taken.messages - target_messages, not force)
    -- A share such as 0.55 is no exact number: 55 of 100 are enough.
    take_from(all_places, 0, math.ceil(oldest_share * conversation('messages') - 1e-9) - taken.messages, false)
    if taken.messages == 0 and m.waiting_messages == 0 and not summaries_over() then
      if kept then
        taken.reason = 'keep'
      elseif m.system_messages + conversation('pinned_messages') > 0 then
        taken.reason = 'pinned'
      else
        taken.reason = 'below_threshold'
      end
    end
    return taken
  end
end
