-- What the record of operations keeps: ids for so long after their deadline, and at most so many.
-- gives: KEPT_AFTER_DEADLINE_MS MOST_OPEN

-- numbers: KEPT_AFTER_DEADLINE_MS MOST_OPEN
