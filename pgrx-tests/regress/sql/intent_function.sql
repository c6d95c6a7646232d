-- A function of the application decides the intent of later turns.
CREATE SCHEMA judging;
SET search_path = judging, public;
SELECT reground.create_corpus('judging');
SELECT doc_id, version FROM (VALUES ('tea', 'Green tea steeps for two minutes.'), ('rye', 'Rye bread rises slowly.')) AS v(doc_id, body),
    reground.put_document('judging', doc_id, passages => jsonb_build_array(jsonb_build_object('content', body)));
CREATE VIEW judged AS SELECT t.turn_no, t.intent, t.intent_confidence AS confidence, t.intent_signals[array_upper(t.intent_signals, 1)] AS last_signal
    FROM reground.turns AS t JOIN reground.conversations AS c USING (conversation_id) WHERE c.conversation_ref = current_setting('judging.conversation');
CREATE FUNCTION ask(conversation text, query text, settings jsonb, intent text DEFAULT NULL) RETURNS SETOF judged LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('judging.conversation', conversation, false);
    PERFORM reground.end_turn(b.turn_id, 'Two minutes [A1].') FROM reground.begin_turn(conversation, query, 'judging', settings => settings, intent => ask.intent) AS b LIMIT 1;
    RETURN QUERY SELECT * FROM judging.judged ORDER BY turn_no DESC LIMIT 1;
END $$;

-- The function receives the earlier turns and is not called for a first turn. An intent of the caller has priority.
CREATE FUNCTION model(query text, earlier jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    RAISE NOTICE 'after %', (SELECT jsonb_agg(e -> 'query') FROM jsonb_array_elements(earlier) AS e);
    RETURN CASE WHEN query LIKE '%?' THEN '{"intent": "same_sources", "confidence": 0.75, "dependency": "hard"}'::jsonb END;
END $$;
SELECT * FROM ask('judging-1', 'How long does green tea steep?', '{"intent_function": "judging.model"}');
SELECT * FROM ask('judging-1', 'Does rye bread rise?', '{"intent_function": "judging.model"}');
SELECT * FROM ask('judging-1', 'Does rye bread rise?', '{"intent_function": "judging.model"}', 'new_topic');
-- NULL leaves the decision to the cues; with off, the function is not called.
SELECT intent, last_signal FROM ask('judging-1', 'By the way, rye bread', '{"intent_function": "judging.model"}');
SELECT intent, last_signal FROM ask('judging-1', 'Does rye bread rise?', '{"intent_function": "off"}');
-- Each member of a comparison is searched separately.
CREATE FUNCTION compares(query text, earlier jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{"intent": "compare", "entities": ["green tea", "rye bread"]}'::jsonb $$;
SELECT * FROM ask('judging-2', 'How long does green tea steep?', '{}');
SELECT * FROM ask('judging-2', 'Which of them takes longer?', '{"intent_function": "judging.compares"}');
SELECT doc_id, in_context FROM reground.explain_turn(regress.turn('judging-2')) ORDER BY candidate_no;

-- Errors of the function: no turn begins.
CREATE FUNCTION wordless(query text, earlier jsonb) RETURNS text LANGUAGE sql AS $$ SELECT 'drill_down' $$;
CREATE FUNCTION unsure(query text, earlier jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{"intent": "drill_down", "confidence": 2}'::jsonb $$;
CREATE FUNCTION chats(query text, earlier jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{"intent": "chat"}'::jsonb $$;
CREATE FUNCTION bare(query text, earlier jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '"drill_down"'::jsonb $$;
CREATE FUNCTION partly(query text, earlier jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{"intent": "drill_down", "confidence": null, "entities": null}'::jsonb $$;
CREATE FUNCTION listed(query text, earlier jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '["drill_down", 0.5, null, []]'::jsonb $$;
CREATE FUNCTION nothing(query text, earlier jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT 'null'::jsonb $$;
CREATE FUNCTION fails(query text, earlier jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'model is down' USING ERRCODE = '58000'; END $$;
SELECT f, r.* FROM unnest(ARRAY['wordless', 'unsure', 'chats', 'bare', 'listed', 'fails', 'nowhere', '']) AS f,
    regress.refusal(format('SELECT * FROM reground.begin_turn(%L, %L, %L, settings => %L)', 'judging-1', 'Does rye bread rise?', 'judging', jsonb_build_object('intent_function', 'judging.' || f))) AS r;
SELECT intent, confidence FROM ask('judging-1', 'Does rye bread rise?', '{"intent_function": "judging.partly"}');
SELECT count(*) AS turns FROM reground.turns AS t JOIN reground.conversations AS c USING (conversation_id) WHERE c.conversation_ref = 'judging-1';
SELECT intent, last_signal FROM ask('judging-1', 'By the way, rye bread', '{"intent_function": "judging.nothing"}');

-- Each function runs as the role that set it.
CREATE ROLE regress_judge IN ROLE reground_admin;
CREATE FUNCTION who(query text, earlier jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'judged as %', current_user; RETURN NULL; END $$;
CREATE FUNCTION ranks(query text, passages text[]) RETURNS real[] LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'ranked as %', current_user; RETURN NULL; END $$;
GRANT USAGE, CREATE ON SCHEMA judging TO regress_judge;
GRANT SELECT ON ALL TABLES IN SCHEMA judging TO regress_judge;
REVOKE ALL ON FUNCTION who FROM PUBLIC;
SELECT reground.alter_corpus('judging', settings => '{"intent_function": " who "}');
SELECT settings -> 'intent_function' AS stored, intent_role = current_user::regrole AS mine, reranker_role FROM reground.corpora WHERE corpus = 'judging';
SET ROLE regress_judge;
SELECT count(*) FROM reground.begin_turn('judging-3', 'green tea', 'judging', settings => '{"reranker": "judging.ranks"}');
SELECT count(*) FROM reground.begin_turn('judging-3', 'and rye bread?', 'judging', settings => '{"reranker": "judging.ranks"}');
-- A blank name is no function: the function of the corpus still runs as the role that set it.
SELECT count(*) FROM reground.begin_turn('judging-3', 'and oats?', 'judging', settings => '{"reranker": "judging.ranks", "intent_function": " "}');
SELECT * FROM regress.refusal($$SELECT reground.alter_conversation('judging-3', '{"intent_function": "judging.who"}')$$);
SELECT reground.alter_conversation('judging-3', '{"reranker": "judging.ranks"}') AS settings;
RESET ROLE;
SELECT intent_role, reranker_role FROM reground.conversations WHERE conversation_ref = 'judging-3' AND tenant = 'regress_judge';
SELECT reground.alter_corpus('judging', settings => '{"intent_function": ""}');
SELECT settings ->> 'intent_function' AS stored, intent_role FROM reground.corpora WHERE corpus = 'judging';
RESET search_path;
SELECT reground.drop_corpus('judging', true);
DELETE FROM reground.conversations WHERE tenant = 'regress_judge';
DROP OWNED BY regress_judge;
DROP ROLE regress_judge;
