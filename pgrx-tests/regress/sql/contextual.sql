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

-- A passage that is barely supported, though its citation holds, does not move the query: the distance is as without the citation.
SELECT count(*) FROM ask('clear', 'How do I reset my password?', '[1,0,0,0]', 'By a link that is sent by mail [A1].', '{"support_threshold": 0.1}');
SELECT count(*) FROM ask('barely', 'How do I reset my password?', '[1,0,0,0]', 'Neighbours ask for a link when they meet on the stairs in spring [A1].', '{"support_threshold": 0.1}');
SELECT count(*) FROM ask('uncited', 'How do I reset my password?', '[1,0,0,0]', 'Neighbours ask for a link when they meet on the stairs in spring.', '{"support_threshold": 0.1}');
SELECT conversation_ref, holds, support BETWEEN 0.1 AND 0.43 AS barely FROM reground.citation_audit WHERE conversation_ref IN ('clear', 'barely') ORDER BY 1;
SELECT count(*) FROM unnest(ARRAY['clear', 'barely', 'uncited']) AS c, ask(c, 'and for admins?', '[0.2,1,0,0]', '');
SELECT d.clear < d.uncited AS moved, d.barely = d.uncited AS as_uncited FROM (
    SELECT max(e.vector_distance) FILTER (WHERE c = 'clear') AS clear, max(e.vector_distance) FILTER (WHERE c = 'barely') AS barely, max(e.vector_distance) FILTER (WHERE c = 'uncited') AS uncited
    FROM unnest(ARRAY['clear', 'barely', 'uncited']) AS c, reground.explain_turn(regress.turn(c)) AS e WHERE e.chunk_id = '1') AS d;

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
SELECT bool_and(e.lexical_score = s.lexical_score::real) AS same FROM reground.explain_turn(regress.turn('alone')) AS e JOIN reground.search('desk', 'and invoices?') AS s USING (chunk_id) WHERE e.lexical_rank IS NOT NULL;

-- With query_from dialogue, the terms come from all questions of the user.
SELECT * FROM ask('dialogue', 'How do I reset my password?', '[1,0,0,0]', 'By a link that is sent by mail [A1].');
SELECT * FROM ask('dialogue', 'and for admins?', '[0.2,1,0,0]', '', '{"query_from": "dialogue"}');
SELECT context_dependence, terms FROM searched WHERE conversation_ref = 'dialogue' AND turn_no = 2;

-- The text to embed: the previous question and answer without citations, and the question. It follows the path of the conversation.
SELECT reground.context_text('both', 'and for guests?');
SELECT reground.context_text('both', 'and for guests?', parent_turn_id => regress.turn('both', 1));
SELECT reground.context_text('both', 'and for guests?', parent_turn_id => 0), reground.context_text('nobody', 'and for guests?');
SELECT length(reground.context_text('both', repeat('a', 5000), parent_turn_id => regress.turn('both', 1)));
SELECT * FROM regress.refusal($$SELECT reground.context_text('both', 'and for guests?', parent_turn_id => regress.turn('words', 1))$$);
SELECT * FROM regress.refusal($$SELECT reground.context_text('both', '')$$);
BEGIN;
SET LOCAL transaction_read_only = on;
SELECT reground.context_text('both', 'and for guests?', parent_turn_id => regress.turn('both', 1)) LIKE '%guests?' AS on_a_standby;
COMMIT;
SELECT count(*) > 0 AS begun FROM reground.begin_turn('context-hashed', 'How do I reset my password?', 'desk', '[1,0,0,0]', settings => '{"store_answers": "hash"}');
SELECT count(*) FROM reground.end_turn(regress.turn('context-hashed'), 'By a link that is sent by mail [A1].');
SELECT reground.context_text('context-hashed', 'and for guests?');

-- Its embedding is added to that of the question, with half of its length: the distances are those of the sum. A rewrite gets a quarter, and the terms.
CREATE FUNCTION off(turn bigint, direction vector) RETURNS TABLE (compared bigint, off bigint) LANGUAGE sql AS $$
    SELECT count(*), count(*) FILTER (WHERE abs(e.vector_distance - (d.embedding <=> direction)) > 1e-6) FROM reground.explain_turn(turn) AS e JOIN desk AS d ON d.chunk_id::text = e.chunk_id WHERE e.vector_rank IS NOT NULL $$;
SELECT count(*) > 0 AS begun FROM reground.begin_turn('both', 'and for admins?', 'desk', '[0,2,0,0]', context_embedding => '[3,0,0,0]', request_id => 'r1', settings => '{"merge_adjacent": false, "carry_over": false}');
SELECT * FROM off(regress.turn('both'), '[1,2,0,0]');
SELECT embedding, context_embedding FROM reground.turns WHERE turn_id = regress.turn('both');
-- A repeated request has another context, because its own turn is the latest.
SELECT count(*) > 0 AS again FROM reground.begin_turn('both', 'and for admins?', 'desk', '[0,2,0,0]', context_embedding => '[0,0,3,0]', request_id => 'r1', settings => '{"merge_adjacent": false, "carry_over": false}');
-- A shadow repeats the turn with its context embedding, or with another one.
SELECT count(*) > 0 AS same FROM reground.shadow_turn(regress.turn('both'), '{}', 'same');
SELECT count(*) > 0 AS other FROM reground.shadow_turn(regress.turn('both'), '{}', 'other', context_embedding => '[0,0,0,3]');
SELECT s.label, s.chunk_id, round((s.vector_distance - e.vector_distance)::numeric, 3) AS difference FROM reground.explain_turn(regress.turn('both')) AS e JOIN reground.shadow_candidates AS s ON s.chunk_id = e.chunk_id AND s.turn_id = regress.turn('both')
    WHERE s.vector_rank IS NOT NULL AND e.vector_rank IS NOT NULL AND s.chunk_id IN ('1', '7') ORDER BY 1, 2;
DELETE FROM reground.shadow_turns WHERE turn_id = regress.turn('both');
SELECT chunk_id, round(vector_distance::numeric, 3) AS distance FROM reground.dry_run_turn('and for admins?', 'desk', '[0,2,0,0]', conversation_ref => 'both', context_embedding => '[3,0,0,0]') WHERE chunk_id IN ('1', '7') AND vector_rank IS NOT NULL ORDER BY 1;
SELECT reground.abandon_turn(regress.turn('both'));
SELECT count(*) > 0 AS begun FROM reground.begin_turn('both', 'and for admins?', 'desk', '[0,4,0,0]', rewrite => 'How do admins reset a password?', context_embedding => '[3,0,0,0]', settings => '{"merge_adjacent": false, "carry_over": false}');
SELECT * FROM off(regress.turn('both'), '[1,4,0,0]');
SELECT query_expansion -> 'rewrite' AS rewrite, query_expansion -> 'terms' <> '{}' AS expanded FROM reground.turns WHERE turn_id = regress.turn('both');
SELECT reground.abandon_turn(regress.turn('both'));
-- A first turn, a new topic and query_from turn do not use it.
SELECT count(*) > 0 AS begun FROM reground.begin_turn('context-first', 'admins?', 'desk', '[0,2,0,0]', context_embedding => '[3,0,0,0]');
SELECT * FROM off(regress.turn('context-first'), '[0,1,0,0]');
SELECT count(*) > 0 AS begun FROM reground.begin_turn('both', 'New topic: object storage', 'desk', '[0,2,0,0]', context_embedding => '[3,0,0,0]');
SELECT * FROM off(regress.turn('both'), '[0,1,0,0]');
SELECT reground.abandon_turn(regress.turn('both'));
SELECT count(*) > 0 AS begun FROM reground.begin_turn('both', 'and for admins?', 'desk', '[0,2,0,0]', context_embedding => '[3,0,0,0]', settings => '{"query_from": "turn"}');
SELECT * FROM off(regress.turn('both'), '[0,1,0,0]');
SELECT reground.abandon_turn(regress.turn('both'));
-- It needs an embedding of the same length.
SELECT * FROM regress.refusal($$SELECT reground.begin_turn('both', 'and for admins?', 'desk', context_embedding => '[3,0,0,0]')$$);
SELECT * FROM regress.refusal($$SELECT reground.begin_turn('both', 'and for admins?', 'desk', '[0,2,0,0]', context_embedding => '[3,0,0]')$$);
SELECT * FROM regress.refusal($$SELECT reground.begin_turn('both', 'and for admins?', 'desk', '[0,2,0]', context_embedding => '[3,0,0]')$$);

-- A question can name sources of the conversation: by marker, or by place in the previous context. They are in the context for this turn, if the caller may read them and the filter admits them.
CREATE FUNCTION asked(conversation text, query text, settings jsonb DEFAULT NULL, filter jsonb DEFAULT NULL) RETURNS TABLE (intent text, signal text, first_sources text) LANGUAGE plpgsql AS $$
DECLARE
    first_sources text;
BEGIN
    SELECT string_agg(concat_ws(' ', b.marker, b.chunk_id, b.origin), ', ' ORDER BY b.ordinality) FILTER (WHERE b.ordinality < 3) INTO first_sources
        FROM reground.begin_turn(asked.conversation, asked.query, 'desk', settings => '{"merge_adjacent": false, "max_sources": 2}'::jsonb || coalesce(asked.settings, '{}'), filter => asked.filter) WITH ORDINALITY AS b;
    RETURN QUERY SELECT t.intent, s.signal, first_sources FROM reground.turns AS t LEFT JOIN LATERAL unnest(t.intent_signals) AS s(signal) ON s.signal LIKE 'named%' WHERE t.turn_id = regress.turn(asked.conversation);
    PERFORM FROM reground.end_turn(regress.turn(asked.conversation), 'Well.');
END
$$;
SELECT * FROM asked('context-named', 'reset a password by a link');
SELECT * FROM asked('context-named', 'object storage of the standard plan');
SELECT * FROM asked('context-named', 'all invoices, the audit log');
SELECT * FROM asked('context-named', 'What was in A1 again?');
SELECT * FROM asked('context-named', 'Und was sagt die zweite Quelle?');
SELECT * FROM asked('context-named', 'How much storage does source B1 promise?', '{"carry_over": false, "max_pinned": 0}');
SELECT * FROM asked('context-named', 'and [A1]?', '{"max_sources": 1}');
SELECT * FROM asked('context-named', 'and [A1]?', filter => '{"doc_id": "storage"}');
SELECT * FROM asked('context-named', 'Paper of size A4, the second source of income, [Z9]');
SELECT * FROM asked('context-named', 'and [A1]?', '{"strategy": "first_turn"}');
SELECT count(*) > 0 AS begun FROM reground.begin_turn('context-named', 'New in A1?', 'desk', intent => 'new_topic');
SELECT intent, intent_confidence, 'named: A1' = ANY (intent_signals) AS named FROM reground.turns WHERE turn_id = regress.turn('context-named');
SELECT reground.abandon_turn(regress.turn('context-named'));
-- Numbered markers count in brackets or after "source".
SELECT * FROM asked('context-numbers', 'reset a password by a link', '{"marker_style": "1"}');
SELECT * FROM asked('context-numbers', 'object storage of the standard plan', '{"marker_style": "1"}');
SELECT * FROM asked('context-numbers', 'and 1 invoice?', '{"marker_style": "1"}');
SELECT * FROM asked('context-numbers', 'and [1]?', '{"marker_style": "1"}');
SELECT * FROM asked('context-numbers', 'invoices, as source 1 says', '{"marker_style": "1"}');
-- Words without content are held by no passage.
SELECT count(*) FROM reground.begin_turn('context-why', 'reset a password by a link', 'desk', '[1,0,0,0]');
SELECT count(*) FROM reground.end_turn(regress.turn('context-why'), 'A password is reset under Account by a link that is sent by mail [A1].');
SELECT count(*) > 0 AS begun FROM reground.begin_turn('context-why', 'Why?', 'desk', '[0.9,0.1,0,0]');
SELECT intent, ARRAY(SELECT s FROM unnest(intent_signals) AS s WHERE s LIKE 'held%') AS held FROM reground.turns WHERE turn_id = regress.turn('context-why');

-- The index and the exact scan return the same scores.
CREATE INDEX ON desk USING reground_bm25 (content);
SELECT count(*) AS sources FROM reground.begin_turn('words', 'and for members?', 'desk', settings => '{"lexical_search": "exact", "merge_adjacent": false}');
CREATE TABLE by_pass AS SELECT chunk_id, round(lexical_score::numeric, 3) AS score FROM reground.explain_turn(regress.turn('words')) WHERE lexical_rank IS NOT NULL;
SELECT reground.abandon_turn(regress.turn('words'));
SELECT count(*) AS sources FROM reground.begin_turn('words', 'and for members?', 'desk', settings => '{"merge_adjacent": false}');
CREATE TABLE by_index AS SELECT chunk_id, round(lexical_score::numeric, 3) AS score FROM reground.explain_turn(regress.turn('words')) WHERE lexical_rank IS NOT NULL;
SELECT (SELECT count(*) FROM by_pass) AS passages, (SELECT count(*) FROM (TABLE by_pass EXCEPT TABLE by_index) AS x) AS differ;
SELECT reground.drop_corpus('desk', true);
