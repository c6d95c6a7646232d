-- Removes from the old tables what the update has added to them, so that the rest can be compared.
ALTER TABLE reground.conversation_markers DROP COLUMN pages;
DELETE FROM reground.maintenance_tasks WHERE task = 'seal_rows';
DO $$
BEGIN
    IF (SELECT bool_and(a.user_ref IS NOT DISTINCT FROM t.user_ref) AND bool_or(a.user_ref IS NOT NULL) FROM reground.turn_archive AS a JOIN reground.turns AS t USING (turn_id)) IS NOT TRUE THEN
        RAISE EXCEPTION 'archived turns have other users than the turns';
    END IF;
END
$$;
ALTER TABLE reground.turn_archive DROP COLUMN user_ref;
DROP INDEX reground.turn_archive_conversation;
