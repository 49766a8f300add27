-- The view: what of the blocks is shown, where not all of them are.
-- needs: limits sections ids blocks
-- gives: show_before older tail within

-- Leaves out what stands in the view from this message on. Returns whether it is one of this memory; one that is no
-- longer held counts as one of short_term.
local function show_before(id)
  local seq, _, letter, group, gone = find(id)
  if not seq and not gone then
    return false
  end
  local edge = seq and section_of(letter) or short_term
  edge.before = seq and group or gone
  for _, section in ipairs(view_order) do
    asked[section] = asked[section] and section.rank <= edge.rank
  end
  return true
end

-- The same source without what show_before leaves out.
local function older(source)
  return function(section, size, visit)
    return source(section, size, function(block)
      local edge = block.section.before
      return not (edge and block.group >= edge) and visit(block)
    end)
  end
end

local function in_view_order(blocks)
  table.sort(blocks, function(a, b)
    if a.section ~= b.section then
      return a.section.rank < b.section.rank
    end
    return a.group < b.group
  end)
  return blocks
end

-- The newest blocks that fit, a plain tail of the view.
local function tail(source, limit)
  local blocks, count = {}, 0
  if limit < 1 then
    return blocks
  end
  for i = #view_order, 1, -1 do
    local full = asked[view_order[i]] and source(view_order[i], math.min(limit, 256), function(block)
      if count + #block.seqs > limit then
        return true
      end
      count = count + #block.seqs
      blocks[#blocks + 1] = block
      return count >= limit
    end)
    if full then
      break
    end
  end
  return in_view_order(blocks)
end

-- What is needed most: system messages, pinned ones, summaries, then the conversation from the newest back to the first
-- block that does not fit; in each section by itself, where a divided budget was lowered.
-- strict: returns nil and their tokens if system and pinned messages alone do not fit.
local function within(source, tokens, messages, strict)
  local blocks, used, count, full, left = {}, {}, 0, {}, #sections
  local divided = shares and not strict
  local function fits(block, account)
    return (used[account] or 0) + block.tokens <= (divided and account.room or tokens)
      and count + #block.seqs <= messages
  end
  for _, kind in ipairs({SYSTEM, PINNED, LONG_TERM, CONVERSATION}) do
    local function visit(block)
      local account = divided and block.section or CONVERSATION
      if not asked[block.section] or full[account] or (kind == CONVERSATION and block.pinned) then
        return false
      end
      if (strict and (kind == SYSTEM or kind == PINNED)) or fits(block, account) then
        blocks[#blocks + 1] = block
        used[account], count = (used[account] or 0) + block.tokens, count + #block.seqs
      elseif kind == CONVERSATION then
        full[account], left = true, divided and left - 1 or 0
        return left == 0
      end
      return false
    end
    if asked[kind] ~= false then
      source(kind, 32, visit)
    end
    if kind == PINNED and strict and (used[CONVERSATION] or 0) > tokens then
      return nil, used[CONVERSATION]
    end
  end
  return in_view_order(blocks)
end
