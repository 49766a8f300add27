-- Refuses a caller who may not change or remove what is stored, before anything else is looked at.
-- parts: head
if mode > 0 then
  return 'denied'
end
