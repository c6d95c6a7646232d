-- A shadow is a turn with other settings that is not served: with the same settings it equals the turn, with others the result of begin_turn.
SELECT reground.create_corpus('shade');
SELECT count(*) FROM (VALUES ('rye', 'Rye bread rises slowly in a cold kitchen.'), ('oat', 'Oat bread takes an hour in the oven.'), ('corn', 'Corn bread needs no yeast at all.'),
    ('wheat', 'Wheat bread rises fast in a warm kitchen.'), ('spelt', 'Spelt bread rises in a cold oven.')) AS v(doc_id, content) CROSS JOIN LATERAL reground.put_document('shade', v.doc_id, content => v.content);
-- Two equal conversations; their third turns stay open.
SELECT count(*) FROM unnest(ARRAY['shaded-1', 'shaded-2']) AS c, LATERAL (SELECT turn_id FROM reground.begin_turn(c, 'How does rye bread rise?', corpus => 'shade') LIMIT 1) AS t, LATERAL reground.end_turn(t.turn_id, 'Slowly [A1].');
SELECT count(*) FROM unnest(ARRAY['shaded-1', 'shaded-2']) AS c, LATERAL (SELECT turn_id FROM reground.begin_turn(c, 'and in the oven?') LIMIT 1) AS t, LATERAL reground.end_turn(t.turn_id, 'It takes an hour [B1].');
SELECT count(*) > 0 AS begun FROM reground.begin_turn('shaded-1', 'what of it in a kitchen?', rewrite => 'oat bread in a kitchen', settings => '{"max_sources": 4}');
CREATE TEMPORARY TABLE standing AS SELECT regress.turn('shaded-1', 3) AS turn, regress.turn('shaded-1', 2) AS ended;
CREATE TEMPORARY TABLE before AS SELECT (SELECT jsonb_agg(to_jsonb(v) ORDER BY v.conversation_id) FROM reground.conversations AS v) AS conversations, (SELECT jsonb_agg(to_jsonb(s) ORDER BY s.*::text) FROM reground.conversation_sources AS s) AS sources,
    (SELECT count(*) FROM reground.conversation_markers) AS markers, (SELECT count(*) FROM reground.turns) AS turns, (SELECT count(*) FROM reground.turn_traces) AS traces;
CREATE FUNCTION pg_temp.differences(one text, other text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    columns text := 'candidate_no, corpus, doc_id, chunk_id, member_chunk_ids, origin, lexical_rank, lexical_score, vector_rank, fused_score, relevance, carry_score, in_context, dropped_stage, drop_reason, replaced_by';
    many bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM ((SELECT %1$s FROM %2$s EXCEPT SELECT %1$s FROM %3$s) UNION ALL (SELECT %1$s FROM %3$s EXCEPT SELECT %1$s FROM %2$s)) AS d', columns, one, other) INTO many;
    RETURN many;
END $$;

SELECT count(*) > 3 AS several FROM reground.shadow_turn((SELECT turn FROM standing), '{}', 'same');
SELECT pg_temp.differences(format('reground.explain_turn(%s)', turn), format('(SELECT * FROM reground.shadow_candidates WHERE turn_id = %s AND label = ''same'') AS s', turn)) AS different FROM standing;
SELECT label, source_count = shadow_source_count AND source_count = shared_source_count AND context_tokens = shadow_context_tokens AS same, citation_count IS NULL AS unanswered FROM reground.shadow_audit WHERE turn_id = (SELECT turn FROM standing);
-- Other settings: equal to the turn of the second conversation with these settings.
SELECT count(*) > 0 AS any FROM reground.shadow_turn((SELECT turn FROM standing), '{"max_sources": 1, "fusion": "rrf", "carry_over": false}', 'narrow');
SELECT count(*) FROM reground.begin_turn('shaded-2', 'what of it in a kitchen?', rewrite => 'oat bread in a kitchen', settings => '{"max_sources": 1, "fusion": "rrf", "carry_over": false}');
SELECT pg_temp.differences(format('reground.explain_turn(%s)', regress.turn('shaded-2', 3)), format('(SELECT * FROM reground.shadow_candidates WHERE turn_id = %s AND label = ''narrow'') AS s', turn)) AS different FROM standing;
SELECT s.settings = t.settings AS same_settings FROM reground.shadow_turns AS s, reground.turns AS t WHERE s.label = 'narrow' AND s.turn_id = (SELECT turn FROM standing) AND t.turn_id = regress.turn('shaded-2', 3);
-- With another rewrite, the shadow searches for other words.
SELECT count(*) > 0 AS any FROM reground.shadow_turn((SELECT turn FROM standing), '{}', 'reworded', rewrite => 'corn yeast');
SELECT doc_id FROM reground.shadow_candidates WHERE label = 'reworded' AND lexical_rank = 1;
-- Nothing else has changed, except for the turn of the second conversation.
SELECT b.sources = (SELECT jsonb_agg(to_jsonb(s) ORDER BY s.*::text) FROM reground.conversation_sources AS s) AS same_sources, (SELECT count(*) FROM reground.turns) - b.turns AS turns, (SELECT count(*) FROM reground.turn_traces) - b.traces AS traces,
    (SELECT jsonb_agg(to_jsonb(v) ORDER BY v.conversation_id) FROM reground.conversations AS v WHERE conversation_ref <> 'shaded-2') = (SELECT jsonb_agg(v ORDER BY (v ->> 'conversation_id')::bigint) FROM jsonb_array_elements(b.conversations) AS v WHERE v ->> 'conversation_ref' <> 'shaded-2') AS same_conversations FROM before AS b;
-- Without stored candidates of the turn, its shadow stores only the context, which comparisons need.
SELECT count(*) > count(*) FILTER (WHERE in_context) AS more_returned FROM reground.shadow_turn((SELECT turn FROM standing), '{"max_sources": 2, "keep_candidates": "none"}', 'bare');
SELECT count(*), bool_and(in_context) AS of_the_context FROM reground.shadow_candidates WHERE label = 'bare';
DELETE FROM reground.shadow_turns WHERE label = 'bare';
-- The same label again: the later shadow replaces the first.
SELECT count(*) FILTER (WHERE in_context) AS in_context FROM reground.shadow_turn((SELECT turn FROM standing), '{"max_sources": 2}', 'same');
SELECT label, count(*) FILTER (WHERE in_context) AS in_context FROM reground.shadow_candidates WHERE turn_id = (SELECT turn FROM standing) GROUP BY label ORDER BY label;

-- The citations of the answer, compared with each shadow in SQL.
CREATE TEMPORARY TABLE served AS SELECT e ->> 'marker' AS marker, e #>> '{passage,doc_id}' AS doc_id, e #>> '{passage,content}' AS text FROM reground.turns AS t, jsonb_array_elements(t.context) AS e WHERE t.turn_id = (SELECT turn FROM standing);
SELECT count(*) FROM reground.end_turn((SELECT turn FROM standing), (SELECT string_agg(rtrim(text, '.') || ' [' || marker || '].', ' ' ORDER BY doc_id) FROM served) || ' And pigs fly [Z9].', model => 'shady');
SELECT a.label, a.citation_count = (SELECT count(*) FROM served) AS all_hold,
    a.covered_count = (SELECT count(*) FROM served AS v WHERE EXISTS (SELECT FROM reground.shadow_candidates AS c WHERE c.turn_id = a.turn_id AND c.label = a.label AND c.in_context AND c.doc_id = v.doc_id)) AS covered_right,
    a.covered_count = a.document_covered_count AS as_documents, a.covered_count < a.citation_count AS some_lost, a.covered_count = a.shared_source_count AS as_shared
FROM reground.shadow_audit AS a WHERE a.turn_id = (SELECT turn FROM standing) ORDER BY a.label;
SELECT c.label, c.turns, c.answered, c.citations, c.covered, c.rate = c.covered::double precision / c.citations AS rate, c.low < c.rate AND c.rate <= c.high AS within, c.shared_source_share, c.mean_context_tokens > c.mean_shadow_context_tokens AS smaller
FROM reground.compare_shadows(since => now() - interval '1 hour') AS c ORDER BY c.label;
SELECT count(*) FROM reground.compare_shadows(until => now() - interval '1 hour');
-- The shadow of a turn over several corpora uses all of them.
SELECT reground.create_corpus('shade-3');
SELECT count(*) FROM reground.put_document('shade-3', 'oven', content => 'The oven must be hot for rye bread.');
SELECT count(DISTINCT corpus) AS corpora FROM reground.begin_turn('shaded-4', 'rye bread oven', corpora => '{shade, shade-3}');
SELECT count(*) > 3 AS several FROM reground.shadow_turn(regress.turn('shaded-4'), '{}', 'of both');
SELECT pg_temp.differences(format('reground.explain_turn(%s)', regress.turn('shaded-4')), format('(SELECT * FROM reground.shadow_candidates WHERE turn_id = %s AND label = ''of both'') AS s', regress.turn('shaded-4'))) AS different;
DELETE FROM reground.shadow_turns WHERE label = 'of both';
-- Another corpus has other passages, so only documents can be compared.
SELECT reground.create_corpus('shade-2');
SELECT count(*) FROM (VALUES ('rye', 'Rye.'), ('oat', 'Oat bread rises in any kitchen.')) AS v(doc_id, content) CROSS JOIN LATERAL reground.put_document('shade-2', v.doc_id, content => v.content);
SELECT count(*) > 0 AS begun FROM reground.begin_turn('shaded-3', 'rye bread in a cold kitchen', corpus => 'shade', settings => '{"max_sources": 1}');
SELECT doc_id FROM reground.shadow_turn(regress.turn('shaded-3'), '{"max_sources": 5}', 'elsewhere', corpus => 'shade-2') WHERE in_context ORDER BY doc_id;
SELECT count(*) FROM reground.end_turn(regress.turn('shaded-3'), 'Rye bread rises slowly in a cold kitchen [A1].');
SELECT shadow_corpus, citation_count, covered_count, document_covered_count FROM reground.shadow_audit WHERE label = 'elsewhere';

-- After a turn has ended, or a later one began, the memory has changed, so shadows are refused.
SELECT count(*) > 0 AS begun FROM reground.begin_turn('shaded-3', 'and of oats?');
SELECT count(*) > 0 AS begun FROM reground.begin_turn('shaded-3', 'and of corn?');
SELECT count(*) > 0 AS any FROM reground.shadow_turn(regress.turn('shaded-3', 2), '{}');
SELECT count(*) FROM reground.end_turn(regress.turn('shaded-3', 3), 'It needs no yeast.');
SELECT f, regexp_replace(r.message, '[0-9]+', 'N') AS message, r.state, left(r.hint, 60) AS hint FROM unnest(ARRAY[$$SELECT reground.shadow_turn(regress.turn('shaded-3', 2), '{}')$$, $$SELECT reground.shadow_turn(regress.turn('shaded-3', 1), '{}')$$, $$SELECT reground.shadow_turn(0, '{}')$$,
    $$SELECT reground.shadow_turn(NULL, '{}')$$, $$SELECT reground.shadow_turn(regress.turn('shaded-3', 1), '{"max_source": 1}')$$, $$SELECT reground.shadow_turn(regress.turn('shaded-3', 1), '{}', ' ')$$]) AS f, regress.refusal(f) AS r;
-- A turn that waits for its rerank can have a shadow.
SELECT count(*) > 0 AS begun FROM reground.begin_turn('shaded-4', 'rye bread', corpus => 'shade', settings => '{"reranker": "deferred"}');
SELECT count(*) FILTER (WHERE in_context) > 0 AS any FROM reground.shadow_turn(regress.turn('shaded-4'), '{"reranker": "off"}');
-- A shadow is deleted with its turn, and after the retention of traces.
BEGIN;
SELECT relation, rows > 3 AS several, action FROM reground.run_retention(now() + interval '91 days') WHERE relation = 'shadow_turns';
SELECT count(*) FROM reground.shadow_turns;
ROLLBACK;
SELECT reground.drop_corpus('shade', drop_tables => true), reground.drop_corpus('shade-2', drop_tables => true);
