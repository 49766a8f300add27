-- What may be the name of a user-defined section, and the id of a backup. Only something else leaves others behind, and
-- no caller could give the keys that belong to them.
-- gives: is_section_name is_backup_id

local function is_section_name(text)
  return #text < 65 and string.find(text, '^[a-z0-9][a-z0-9_-]*$')
end

local function is_backup_id(text)
  return #text == 16 and not string.find(text, '[^0-9a-f]')
end
