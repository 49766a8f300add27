-- Refuses a caller who may not change or remove what is stored, before anything else is looked at.
-- needs: limits

if mode > 0 then
  return 'denied'
end
-- parts: rights
