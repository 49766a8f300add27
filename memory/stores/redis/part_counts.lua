-- Finds damage before anything is written.
-- needs: head intact

if not intact then
  damage('the counters disagree with the stored records')
end
