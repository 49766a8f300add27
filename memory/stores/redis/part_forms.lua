-- The forms of what is packed: to read and write numbers one by one takes longer than all else in an append.
-- gives: LIMITS MODE INCARNATION_ENDS TAG_ENDS COUNTERS SCHEMA

-- ARGV[1] of each script of a memory: the limits, as part_limits.lua names them.
local LIMITS = '>dddddddddddddddddddd'
local MODE = 19 -- which of them says what the caller may do

-- In :meta, `life` is the incarnation, the tag of the last mutation and the policy of the scores; the first two end
-- here.
local INCARNATION_ENDS, TAG_ENDS = 16, 20
-- `counters` are those that part_head.lua names.
local COUNTERS = '>ddddddddddddddddddddd'
-- `schema` says that all of it has the form that these scripts know; a later one has a higher number.
local SCHEMA = 1
