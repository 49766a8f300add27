-- Who may append: the last line of defence, behind the handle.
-- needs: limits
-- gives: append_refused

-- Returns the refusal of a caller who may only read, or nil.
local function append_refused()
  return mode > 1 and 'denied' or nil
end
