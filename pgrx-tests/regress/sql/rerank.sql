-- Rerankers: a function of the application, or a service that the application calls between begin_turn and apply_rerank.
CREATE SCHEMA rerank;
SET search_path = rerank, public;
SELECT reground.create_corpus('rerank', dimensions => 2);
SELECT doc_id, version FROM (VALUES ('d1', 'Red apples ripen in autumn.'), ('d2', 'Green apples are sour.'), ('d3', 'Apples float on water.'), ('d4', 'Pears are no apples.')) AS v(doc_id, body),
    reground.put_document('rerank', doc_id, passages => jsonb_build_array(jsonb_build_object('content', body)));
SELECT reground.put_embeddings('rerank', ARRAY['1', '2', '3', '4'], ARRAY['[1,0]', '[0.9,0.1]', '[0.8,0.2]', '[0.7,0.3]']::vector[]);

-- A function returns one score per passage, higher is better; only the order changes.
CREATE FUNCTION shortest(query text, passages text[]) RETURNS real[] LANGUAGE sql AS $$ SELECT array_agg(-char_length(p)::real ORDER BY i) FROM unnest(passages) WITH ORDINALITY AS u(p, i) $$;
SELECT chunk_id, content FROM reground.begin_turn('rerank-1', 'apples', 'rerank', '[1,0]', settings => '{"reranker": "rerank.shortest"}');
SELECT chunk_id, marker, rerank_score FROM reground.explain_turn(regress.turn('rerank-1')) ORDER BY candidate_no;
SELECT settings -> 'reranker' AS reranker FROM reground.turns WHERE turn_id = regress.turn('rerank-1');
-- In the settings of a conversation the name is stored with its schema; a later search_path has no effect.
SELECT reground.alter_conversation('rerank-2', '{"reranker": "shortest"}');
SET search_path = public;
SELECT chunk_id FROM reground.begin_turn('rerank-2', 'apples', 'rerank', '[1,0]');
SELECT chunk_id FROM reground.begin_turn('rerank-2', 'apples', 'rerank', '[1,0]', settings => '{"reranker": "off"}');
SET search_path = rerank, public;
SELECT reground.alter_conversation('rerank-2', '{"reranker": null}');
-- Some or all passages without a score.
CREATE FUNCTION partly(query text, passages text[]) RETURNS real[] LANGUAGE sql AS $$ SELECT array_agg(CASE WHEN p LIKE '%sour%' THEN 1::real END ORDER BY i) FROM unnest(passages) WITH ORDINALITY AS u(p, i) $$;
SELECT chunk_id FROM reground.begin_turn('rerank-3', 'apples', 'rerank', '[1,0]', settings => '{"reranker": "rerank.partly"}');
CREATE FUNCTION silent(query text, passages text[]) RETURNS real[] LANGUAGE sql AS $$ SELECT NULL::real[] $$;
SELECT chunk_id FROM reground.begin_turn('rerank-4', 'apples', 'rerank', '[1,0]', settings => '{"reranker": "rerank.silent"}');
SELECT warnings FROM reground.turns WHERE turn_id = regress.turn('rerank-4');
-- Errors of the function.
CREATE FUNCTION short(query text, passages text[]) RETURNS real[] LANGUAGE sql AS $$ SELECT ARRAY[1]::real[] $$;
CREATE FUNCTION wrong(query text, passages text[]) RETURNS text[] LANGUAGE sql AS $$ SELECT passages $$;
CREATE FUNCTION fails(query text, passages text[]) RETURNS real[] LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'model is down' USING ERRCODE = '58000'; END $$;
CREATE FUNCTION infinite(query text, passages text[]) RETURNS real[] LANGUAGE sql AS $$ SELECT array_agg('NaN'::real) FROM unnest(passages) $$;
SELECT f, r.* FROM unnest(ARRAY['short', 'wrong', 'fails', 'infinite', 'nowhere', 'pg_sleep(1); --', '']) AS f,
    regress.refusal(format('SELECT * FROM reground.begin_turn(%L, %L, %L, %L, settings => %L)', 'rerank-5', 'apples', 'rerank', '[1,0]', jsonb_build_object('reranker', f))) AS r;
SELECT count(*) AS accepted FROM reground.conversations WHERE conversation_ref = 'rerank-5';
-- NaN is not a score.
SELECT chunk_id FROM reground.begin_turn('rerank-14', 'apples', 'rerank', '[1,0]', settings => '{"reranker": "rerank.infinite"}');
SELECT warnings FROM reground.turns WHERE turn_id = regress.turn('rerank-14');

-- Deferred: candidates without markers, then the result of the application by chunk_id, by index or by content.
SELECT marker, chunk_id, origin FROM reground.begin_turn('rerank-6', 'apples', 'rerank', '[1,0]', settings => '{"reranker": "deferred"}', request_id => 'r');
SELECT count(*) AS markers FROM regress.markers WHERE conversation_ref = 'rerank-6';
SELECT chunk_id FROM reground.begin_turn('rerank-6', 'apples', 'rerank', '[1,0]', settings => '{"reranker": "deferred"}', request_id => 'r');
SELECT * FROM regress.refusal($$SELECT * FROM reground.end_turn(regress.turn('rerank-6'), 'x')$$);
SELECT * FROM regress.refusal($$SELECT reground.prompt_context(regress.turn('rerank-6'))$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.apply_rerank(regress.turn('rerank-6'), '{"scores": [1]}')$$);
SELECT marker, chunk_id, origin FROM reground.apply_rerank(regress.turn('rerank-6'), '[{"index": 3, "score": 0.9}, {"index": 0, "score": 0.2}, {"index": 1, "score": 0.1}, {"index": 2, "score": 0.05}]');
SELECT * FROM regress.refusal($$SELECT * FROM reground.apply_rerank(regress.turn('rerank-6'), NULL)$$);
SELECT marker, chunk_id FROM reground.begin_turn('rerank-6', 'apples', 'rerank', '[1,0]', settings => '{"reranker": "deferred"}', request_id => 'r');
SELECT status FROM reground.end_turn(regress.turn('rerank-6'), 'Pears are no apples [A1].');

SELECT count(*) AS candidates FROM reground.begin_turn('rerank-7', 'apples', 'rerank', '[1,0]', settings => '{"reranker": "deferred"}');
SELECT marker, chunk_id FROM reground.apply_rerank(regress.turn('rerank-7'), '[{"chunk_id": "2", "score": 9}, {"chunk_id": "3", "score": 8}, {"chunk_id": "1", "score": 7}, {"chunk_id": "4", "score": 1}]');
SELECT count(*) AS candidates FROM reground.begin_turn('rerank-8', 'apples', 'rerank', '[1,0]', settings => '{"reranker": "deferred"}');
SELECT marker, chunk_id, content FROM reground.apply_rerank(regress.turn('rerank-8'), '[{"content": "Apples float on water.", "score": 9}, {"content": "Green apples are very sour.", "score": 8}, {"chunk_id": "unheard-of", "score": 7}]');
SELECT event, severity, chunk_id, returned_hash IS NOT NULL AS returned FROM reground.drift_events WHERE turn_id = regress.turn('rerank-8') ORDER BY drift_id;
SELECT warnings, reranked_count, rerank_lost_count FROM reground.turns WHERE turn_id = regress.turn('rerank-8');
-- A function that gives no score loses the passage, too.
SELECT event, severity, chunk_id FROM reground.drift_events WHERE turn_id = regress.turn('rerank-3') ORDER BY drift_id;
SELECT t.rerank_lost_count, t.reranked_count, count(e.*) AS events, min(e.severity) AS severity FROM reground.turns AS t LEFT JOIN reground.drift_events AS e USING (turn_id) WHERE t.turn_id IN (regress.turn('rerank-1'), regress.turn('rerank-4')) GROUP BY t.turn_id ORDER BY t.turn_id;
SELECT chunk_id, in_context, rerank_score, dropped_stage, drop_reason FROM reground.explain_turn(regress.turn('rerank-8')) ORDER BY candidate_no;
-- NULL: the reranker did not answer, and the fused order is used.
SELECT count(*) AS candidates FROM reground.begin_turn('rerank-9', 'apples', 'rerank', '[1,0]', settings => '{"reranker": "deferred"}');
SELECT marker, chunk_id FROM reground.apply_rerank(regress.turn('rerank-9'), NULL);
SELECT warnings FROM reground.turns WHERE turn_id = regress.turn('rerank-9');
-- Results that match no candidate give a warning.
SELECT count(*) AS candidates FROM reground.begin_turn('rerank-13', 'apples', 'rerank', '[1,0]', settings => '{"reranker": "deferred"}');
SELECT marker, chunk_id FROM reground.apply_rerank(regress.turn('rerank-13'), '[{"index": -1, "score": 9}, {"index": 4, "score": 8}, {"index": 2, "score": 7}, {"index": 2, "score": 6}, {"score": 5}]');
SELECT warnings FROM reground.turns WHERE turn_id = regress.turn('rerank-13');
-- A deferred turn is abandoned.
SELECT count(*) AS candidates FROM reground.begin_turn('rerank-10', 'apples', 'rerank', '[1,0]', settings => '{"reranker": "deferred"}');
SELECT reground.abandon_turn(regress.turn('rerank-10'));
SELECT * FROM regress.refusal($$SELECT * FROM reground.apply_rerank(regress.turn('rerank-10'), NULL)$$);

-- The reranker of a corpus runs as the role that set it.
CREATE ROLE regress_scorer IN ROLE reground_admin;
CREATE FUNCTION who(query text, passages text[]) RETURNS real[] LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'called as %, search_path %', current_user, current_setting('search_path'); RETURN array_fill(1::real, ARRAY[cardinality(passages)]); END $$;
SELECT reground.alter_corpus('rerank', settings => '{"reranker": "rerank.who"}');
GRANT USAGE ON SCHEMA rerank TO regress_scorer;
GRANT SELECT ON ALL TABLES IN SCHEMA rerank TO regress_scorer;
REVOKE ALL ON FUNCTION who FROM PUBLIC;
SET ROLE regress_scorer;
SELECT count(*) FROM reground.begin_turn('rerank-11', 'apples', 'rerank', '[1,0]');
SELECT current_user;
SELECT * FROM regress.refusal($$SELECT * FROM reground.begin_turn('rerank-12', 'apples', 'rerank', '[1,0]', settings => '{"reranker": "rerank.who"}')$$);
SELECT * FROM regress.refusal($$SELECT reground.alter_conversation('rerank-12', '{"reranker": "rerank.who"}')$$);
RESET ROLE;
-- A reranker of a call always runs as the role that began the turn; otherwise a name would run code with the rights of another role.
CREATE ROLE regress_namer IN ROLE reground_user;
GRANT USAGE ON SCHEMA rerank TO regress_namer;
GRANT SELECT ON ALL TABLES IN SCHEMA rerank TO regress_namer;
CREATE FUNCTION mine(query text, passages text[]) RETURNS real[] LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'called as %, search_path %', current_user, current_setting('search_path'); RETURN array_fill(1::real, ARRAY[cardinality(passages)]); END $$;
SET reground.tenant_from = 'app.t'; SET app.t = 'rerank';
SET ROLE regress_namer;
SELECT count(*) FROM reground.begin_turn('rerank-15', 'apples', 'rerank', '[1,0]', settings => '{"reranker": "mine"}');
SELECT turn_id AS turn, call_settings, call_role FROM reground.turns ORDER BY turn_id DESC LIMIT 1 \gset
\echo :call_settings :call_role
SELECT count(*) FROM reground.retrieve(:turn, 'pears', embedding => '[0,1]');
RESET ROLE; SET ROLE regress_scorer;
SELECT count(*) FROM reground.retrieve(:turn, 'pears', embedding => '[0,1]');
SELECT count(*) FROM reground.shadow_turn(:turn, '{}', 'as named');
SELECT count(*) FROM reground.shadow_turn(:turn, '{"reranker": "rerank.mine"}', 'named anew');
SELECT current_user, count(*) FROM reground.begin_turn('rerank-16', 'apples', 'rerank', '[1,0]', settings => '{"reranker": "off"}');
SELECT call_role FROM reground.turns ORDER BY turn_id DESC LIMIT 1;
RESET ROLE;
DROP OWNED BY regress_namer;
DROP ROLE regress_namer;
SET ROLE regress_scorer;
SELECT * FROM regress.refusal(format('SELECT * FROM reground.retrieve(%s, %L)', :turn, 'pears'));
RESET ROLE; RESET reground.tenant_from; RESET app.t;
SELECT reground.drop_corpus('rerank', true);
DROP OWNED BY regress_scorer;
DROP ROLE regress_scorer;
