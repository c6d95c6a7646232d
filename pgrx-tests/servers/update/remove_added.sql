-- Removes from the old tables what the update has added to them, so that the rest can be compared.
ALTER TABLE reground.conversation_markers DROP COLUMN pages;
DELETE FROM reground.maintenance_tasks WHERE task = 'seal_rows';
