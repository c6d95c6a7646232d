-- A follow-up without a subject keeps the subject of the turn before; a complete question is searched as it is.
SET client_min_messages = error;
CREATE SCHEMA contextual;
SET search_path = contextual, public;
SELECT reground.create_corpus('desk', dimensions => 4);
SELECT doc_id, p.added FROM (VALUES
    ('passwords', '[{"content": "A password is reset under Account by a link that is sent by mail."}, {"content": "Administrators reset the password of a member from the console, without the link."}]'),
    ('admins',    '[{"content": "Admins invite members."}, {"content": "Admins see all invoices of the team."}, {"content": "Admins export the audit log."}]'),
    ('billing',   '[{"content": "Invoices are sent on the first of each month, for admins too."}]'),
    ('storage',   '[{"content": "The standard plan includes fifty gigabytes of object storage."}]')) AS v(doc_id, passages),
    reground.put_document('desk', doc_id, passages => v.passages::jsonb) AS p;
SELECT reground.put_embeddings('desk', ARRAY['1', '2', '3', '4', '5', '6', '7'],
    ARRAY['[1,0,0,0]', '[0.9,0.3,0,0]', '[0,1,0,0]', '[0,0.9,0.1,0]', '[0.1,0.9,0,0]', '[0,0.3,0.9,0]', '[0,0,0,1]']::vector[]);
CREATE FUNCTION ask(conversation text, query text, embedding vector, answer text, settings jsonb DEFAULT NULL, rewrite text DEFAULT NULL) RETURNS TABLE (place bigint, chunk_id text)
LANGUAGE plpgsql AS $$
BEGIN
    CREATE TEMPORARY TABLE shown ON COMMIT DROP AS SELECT * FROM reground.begin_turn(ask.conversation, ask.query, 'desk', ask.embedding, rewrite => ask.rewrite,
        settings => '{"merge_adjacent": false, "carry_over": false}'::jsonb || coalesce(ask.settings, '{}')) WITH ORDINALITY AS t;
    PERFORM FROM reground.end_turn((SELECT max(turn_id) FROM shown), ask.answer);
    RETURN QUERY SELECT s.ordinality, s.chunk_id FROM shown AS s ORDER BY 1 LIMIT 2;
    DROP TABLE shown;
END
$$;
CREATE FUNCTION ask_wide(conversation text, query text, embedding vector, answer text, settings jsonb) RETURNS TABLE (chunk_id text, origin text)
LANGUAGE plpgsql AS $$
BEGIN
    CREATE TEMPORARY TABLE shown ON COMMIT DROP AS SELECT * FROM reground.begin_turn(ask_wide.conversation, ask_wide.query, 'desk', ask_wide.embedding,
        settings => '{"merge_adjacent": false, "max_sources": 3}'::jsonb || ask_wide.settings) WITH ORDINALITY AS t;
    PERFORM FROM reground.end_turn((SELECT max(turn_id) FROM shown), ask_wide.answer);
    RETURN QUERY SELECT s.chunk_id, s.origin FROM shown AS s ORDER BY ordinality;
    DROP TABLE shown;
END
$$;
CREATE VIEW searched AS SELECT c.conversation_ref, t.turn_no, t.query_expansion ->> 'context_dependence' AS context_dependence, ARRAY(SELECT jsonb_object_keys(t.query_expansion -> 'terms') ORDER BY 1) AS terms
    FROM reground.turns AS t JOIN reground.conversations AS c USING (conversation_id) WHERE t.corpus = 'desk';

-- With words alone, and with embeddings that only represent "admins".
SELECT * FROM ask('words', 'How do I reset my password?', NULL, 'By a link that is sent by mail [A1].');
SELECT * FROM ask('words', 'and for admins?', NULL, '');
SELECT * FROM ask('both', 'How do I reset my password?', '[1,0,0,0]', 'By a link that is sent by mail [A1].');
SELECT * FROM ask('both', 'and for admins?', '[0.2,1,0,0]', '', '{"history_weight": 3}');
-- The words of the user alone find the other document.
SELECT * FROM ask('turn', 'How do I reset my password?', '[1,0,0,0]', 'By a link that is sent by mail [A1].');
SELECT * FROM ask('turn', 'and for admins?', '[0.2,1,0,0]', '', '{"query_from": "turn"}');
SELECT * FROM searched ORDER BY conversation_ref COLLATE "C", turn_no;

-- If the expansion does not find it, one slot is reserved for the document of the last citation, unless one of its passages is found anyway.
SELECT chunk_id, origin FROM ask_wide('kept', 'How do I reset my password?', '[1,0,0,0]', 'By a link that is sent by mail [A1].', '{}');
SELECT chunk_id, origin FROM ask_wide('kept', 'and for admins?', '[0,1,0,0]', '', '{"query_from": "turn"}');
SELECT chunk_id, dropped_stage, drop_reason FROM reground.explain_turn(regress.turn('kept')) WHERE origin = 'carried' AND NOT in_context;
SELECT chunk_id, origin FROM ask_wide('kept', 'and is there a password?', '[0.9,0.5,0,0]', '', '{"query_from": "turn"}');

-- Weights of the expansion terms: 0.1 for words of the user, 0.15 tf / (tf + 1) for words of the answer.
SELECT w.key AS lexeme, w.value AS weight FROM reground.turns AS t JOIN reground.conversations AS c USING (conversation_id), jsonb_each(t.query_expansion -> 'terms') AS w
    WHERE c.conversation_ref = 'words' AND t.turn_no = 2 ORDER BY w.key COLLATE "C";

-- A rewrite, another subject and a weight of 0 add no terms. The scores are then those of the words of the query.
SELECT * FROM ask('alone', 'How do I reset my password?', NULL, 'By a link that is sent by mail [A1].');
SELECT * FROM ask('alone', 'and for admins?', NULL, '', rewrite => 'How do admins reset a password?');
SELECT * FROM ask('alone', 'New topic: how much object storage does the standard plan include?', NULL, '');
SELECT * FROM ask('alone', 'and invoices?', NULL, '', '{"history_weight": 0}');
SELECT context_dependence, terms FROM searched WHERE conversation_ref = 'alone' ORDER BY turn_no;
SELECT bool_and(e.lexical_score = s.lexical_score) AS same FROM reground.explain_turn(regress.turn('alone')) AS e JOIN reground.search('desk', 'and invoices?') AS s USING (chunk_id) WHERE e.lexical_rank IS NOT NULL;

-- With query_from dialogue, the terms come from all questions of the user.
SELECT * FROM ask('dialogue', 'How do I reset my password?', '[1,0,0,0]', 'By a link that is sent by mail [A1].');
SELECT * FROM ask('dialogue', 'and for admins?', '[0.2,1,0,0]', '', '{"query_from": "dialogue"}');
SELECT context_dependence, terms FROM searched WHERE conversation_ref = 'dialogue' AND turn_no = 2;

-- The index and the exact scan return the same scores.
CREATE INDEX ON desk USING reground_bm25 (content);
SELECT count(*) AS sources FROM reground.begin_turn('words', 'and for members?', 'desk', settings => '{"lexical_search": "exact", "merge_adjacent": false}');
CREATE TABLE by_pass AS SELECT chunk_id, round(lexical_score::numeric, 3) AS score FROM reground.explain_turn(regress.turn('words')) WHERE lexical_rank IS NOT NULL;
SELECT reground.abandon_turn(regress.turn('words'));
SELECT count(*) AS sources FROM reground.begin_turn('words', 'and for members?', 'desk', settings => '{"merge_adjacent": false}');
CREATE TABLE by_index AS SELECT chunk_id, round(lexical_score::numeric, 3) AS score FROM reground.explain_turn(regress.turn('words')) WHERE lexical_rank IS NOT NULL;
SELECT (SELECT count(*) FROM by_pass) AS passages, (SELECT count(*) FROM (TABLE by_pass EXCEPT TABLE by_index) AS x) AS differ;
SELECT reground.drop_corpus('desk', true);
