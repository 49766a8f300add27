-- Writes nothing, and is refused where the user lacks a right that a script which writes to this memory needs.
-- parts: rights
return rights_refused() or 1
