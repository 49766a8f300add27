-- Who may change or remove what is stored.
-- needs: limits rights
-- gives: change_refused

-- Returns the refusal of a caller who may not, or nil.
local function change_refused()
  return mode > 0 and 'denied' or rights_refused()
end
