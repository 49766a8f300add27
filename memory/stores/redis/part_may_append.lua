-- Refuses a caller who may only read, before anything else is looked at: the last line of defence, behind the handle.
-- needs: limits

if mode > 1 then
  return 'denied'
end
