-- Helpers of all other files. The files share this database and nothing else: each creates its own corpora and conversations.
CREATE SCHEMA regress;

-- The error of a statement, without ids that depend on earlier statements.
CREATE FUNCTION regress.refusal(statement text) RETURNS TABLE (state text, message text, hint text)
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    RETURN QUERY SELECT 'accepted', NULL::text, NULL::text;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
    message := regexp_replace(message, '\m(turn|message) \d+', '\1 N', 'g');
    hint := nullif(hint, '');
    RETURN NEXT;
END
$$;

-- The id of a turn by its number in a conversation.
CREATE FUNCTION regress.turn(conversation text, number integer DEFAULT NULL) RETURNS bigint
LANGUAGE sql STABLE AS $$
    SELECT t.turn_id FROM reground.turns AS t JOIN reground.conversations AS c USING (conversation_id)
    WHERE c.conversation_ref = $1 AND ($2 IS NULL OR t.turn_no = $2) ORDER BY t.turn_no DESC LIMIT 1
$$;

-- The memory of a conversation.
CREATE VIEW regress.sources WITH (security_invoker = true) AS
    SELECT c.conversation_ref, s.corpus, s.doc_id, s.chunk_id, round(s.carry_score::numeric, 4) AS carry_score, s.inactive_turns, s.pinned, s.cited
    FROM reground.conversation_sources AS s JOIN reground.conversations AS c USING (conversation_id);

-- The markers of a conversation.
CREATE VIEW regress.markers WITH (security_invoker = true) AS
    SELECT c.conversation_ref, m.marker, m.doc_id, m.chunk_id, m.version, m.first_turn_no, m.binding_no
    FROM reground.conversation_markers AS m JOIN reground.conversations AS c USING (conversation_id);
