-- The scores of policies: those of memory/eviction/policies.py. fifo keeps none.
-- needs: keys limits
-- gives: STEP STEPS moment_after level_now new_score

-- numbers: STEP STEPS

-- The moment after this one: later than all before it, and not before the clock.
local function moment_after(last)
  -- numbers: TICKS_PER_MS
  return math.max(last + 1, now * TICKS_PER_MS)
end

-- Under lfu: the level of a group with one access, which is now. Levels are steps of the days since 2020-01-01.
local function level_now()
  -- numbers: EPOCH_MS HALF_LIFE_MS
  return math.floor((now - EPOCH_MS) * STEPS / HALF_LIFE_MS)
end

-- The score of a group that is new to the policy, and the moment of the last access.
local function new_score(group, band, last)
  if scoring == 'lru' then
    last = moment_after(last)
    return last, last
  end
  -- numbers: BAND
  return scoring == 'lfu' and level_now() * STEP + group or band * BAND + group, last
end
