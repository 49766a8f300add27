-- The forms of what is packed: to read and write numbers one by one takes longer than all else in an append.
-- gives: LIMITS MODE INCARNATION_ENDS TAG_ENDS COUNTERS SCHEMA

-- ARGV[1] of each script of a memory begins with its limits, `counters` in :meta are its counters. MODE is which of the
-- limits says what the caller may do.
-- numbers: LIMITS COUNTERS MODE

-- In :meta, `life` is the incarnation, the tag of the last mutation and the policy of the scores; the first two end
-- here.
local INCARNATION_ENDS, TAG_ENDS = 16, 20
-- `schema` says that all of it has the form that these scripts know; a later one has a higher number.
local SCHEMA = 1
