-- Who saw a document, reports of users, erasure of a user, and the cost of answers.
CREATE ROLE regress_shop_a;
CREATE ROLE regress_shop_b;
CREATE ROLE regress_shop_auditor;
GRANT reground_user TO regress_shop_a, regress_shop_b;
GRANT reground_auditor TO regress_shop_auditor;
GRANT USAGE ON SCHEMA regress TO regress_shop_a, regress_shop_b, regress_shop_auditor;
SELECT reground.create_corpus('larder'), reground.create_corpus('other larder');
SELECT count(*) FROM (VALUES ('tea', 'Green tea is kept in the cellar of the house.'), ('coffee', 'Roasted coffee is kept in the attic of the house.'), ('cocoa', 'Cocoa is not sold.')) AS v(doc_id, content)
    CROSS JOIN (VALUES ('larder'), ('other larder')) AS k(corpus) CROSS JOIN LATERAL reground.put_document(k.corpus, v.doc_id, content => v.content);
GRANT SELECT ON larder, larder_documents, "other larder", "other larder_documents" TO regress_shop_a, regress_shop_b;
SET ROLE regress_shop_a;
SELECT marker IS NOT NULL AS found FROM reground.begin_turn('talk', 'Where is green tea kept?', corpus => 'larder', user_ref => 'ann', settings => '{"max_sources": 1}');
SELECT status FROM reground.end_turn((SELECT max(turn_id) FROM reground.turns), 'Green tea is kept in the cellar [A1].', model => 'small', usage => '{"prompt_tokens": 1000, "completion_tokens": 200}');
SELECT count(*) FROM reground.begin_turn('talk', 'And roasted coffee in the attic?', user_ref => 'ben', settings => '{"reserved_slots": 1}');
SELECT count(*) FROM reground.end_turn((SELECT max(turn_id) FROM reground.turns), 'I do not know.', model => 'large', usage => '{"input_tokens": "many", "output_tokens": -1}');
SELECT count(*) FROM reground.end_turn((SELECT max(turn_id) FROM reground.turns), 'In the attic.', model => 'large', message_ref => 'again');
SELECT count(*) FROM reground.begin_turn('elsewhere', 'Where is tea kept?', corpus => 'other larder', user_ref => 'ann');
SELECT count(*) FROM reground.record_turn('imported', 'Where was tea?', 'In the cellar [1].', passages => '[{"content": "Tea was in the cellar.", "doc_id": "tea"}]', model => 'small', user_ref => 'cat', at => '2026-03-01 10:00+00');
SELECT conversation_ref, turn_no, user_ref FROM reground.turn_audit GROUP BY 1, 2, 3 ORDER BY 1, 2;
SET ROLE regress_shop_b;
SELECT count(*) FROM reground.begin_turn('talk', 'Where is green tea kept?', corpus => 'larder', user_ref => 'ann');
RESET ROLE;

-- The same request of another user is another request.
SET ROLE regress_shop_b;
SELECT count(*) FROM reground.begin_turn('repeated', 'Where is tea?', corpus => 'larder', user_ref => 'ann', request_id => 'r');
SELECT f, r.* FROM unnest(ARRAY[$$SELECT reground.begin_turn('repeated', 'Where is tea?', corpus => 'larder', user_ref => 'ben', request_id => 'r')$$, $$SELECT reground.begin_turn('talk', 'tea', user_ref => ' ')$$,
    $$SELECT reground.record_turn('talk', 'tea', 'tea', user_ref => '')$$, $$SELECT reground.record_turns('[{"conversation_ref": "talk", "query": "tea", "answer": "tea", "user_ref": ""}]')$$]) AS f, regress.refusal(f) AS r;

-- who_saw agrees with the contexts, whether cited or not, within the corpus, the tenant and the period.
CREATE FUNCTION pg_temp.oracle(corpus text, doc_id text) RETURNS TABLE (turn_id bigint) LANGUAGE sql AS
    $$ SELECT DISTINCT t.turn_id FROM reground.turns AS t, jsonb_array_elements(t.context) AS e WHERE e #>> '{passage,corpus}' = oracle.corpus AND e #>> '{passage,doc_id}' = oracle.doc_id $$;
SELECT d, count(w.turn_id) > 0 AS some, (SELECT array_agg(o.turn_id ORDER BY o.turn_id) FROM pg_temp.oracle('larder', d) AS o) IS NOT DISTINCT FROM array_agg(w.turn_id) FILTER (WHERE w.turn_id IS NOT NULL) AS same
FROM unnest(ARRAY['tea', 'coffee', 'cocoa', 'none']) AS d LEFT JOIN LATERAL reground.who_saw('larder', d) AS w ON true GROUP BY d ORDER BY d;
SET ROLE regress_shop_a;
SELECT conversation_ref, turn_no, user_ref, cardinality(chunk_ids) AS chunks, cardinality(markers) AS markers, citations, holding FROM reground.who_saw('larder', 'tea');
SELECT conversation_ref, turn_no, user_ref FROM reground.who_saw('other larder', 'tea');
SELECT conversation_ref, turn_no, user_ref, citations FROM reground.who_saw('', 'tea');
SELECT count(*) FROM reground.who_saw('larder', 'tea', until => '2020-01-01');
SELECT count(*) FROM reground.who_saw('larder', 'tea', chunk_id => '0');
RESET ROLE;
SELECT chunk_id AS tea FROM larder WHERE doc_id = 'tea' \gset
SET ROLE regress_shop_a;
SELECT count(*) FROM reground.who_saw('larder', 'tea', chunk_id => :'tea');
SET ROLE regress_shop_auditor;
SELECT tenant, conversation_ref, turn_no, user_ref FROM reground.who_saw('larder', 'tea') WHERE tenant LIKE 'regress_shop_%' ORDER BY tenant, turn_id;
RESET ROLE;
-- It works without traces, and after the document was forgotten. A document that is hidden from the caller hides its turns.
DELETE FROM reground.turn_traces WHERE tenant LIKE 'regress_shop_%';
SELECT count(*) > 0 AS forgotten FROM reground.forget_document('other larder', 'tea');
SET ROLE regress_shop_a;
SELECT (SELECT count(*) FROM reground.who_saw('larder', 'tea')) AS tea, (SELECT count(*) FROM reground.who_saw('other larder', 'tea')) AS forgotten;
RESET ROLE;
ALTER TABLE larder ENABLE ROW LEVEL SECURITY;
CREATE POLICY no_tea ON larder USING (doc_id <> 'tea');
SET ROLE regress_shop_a;
SELECT count(*) FROM reground.who_saw('larder', 'tea');
RESET ROLE;
ALTER TABLE larder DISABLE ROW LEVEL SECURITY;
-- Among many turns, the index on the documents of the contexts is used.
BEGIN;
INSERT INTO reground.turns (tenant, conversation_id, turn_no, state, request_hash, query, corpus, intent, intent_confidence, intent_signals, query_expansion, settings, query_tokens, retrieved, context)
    SELECT tenant, conversation_id, 100 + n, 'ended', '', 'q', 'larder', 'new_topic', 1, '{}', '{}', '{}', 1, true, jsonb_build_array(jsonb_build_object('marker', 'B1', 'member_chunk_ids', '["1"]'::jsonb, 'passage', jsonb_build_object('corpus', 'larder', 'doc_id', 'filler ' || n % 500)))
    FROM reground.conversations, generate_series(1, 5000) AS n WHERE (tenant, conversation_ref) = ('regress_shop_b', 'talk');
ANALYZE reground.turns;
SELECT pg_stat_get_xact_numscans('reground.turns_documents'::regclass) AS scans \gset
SELECT count(*) FROM reground.who_saw('larder', 'filler 7');
SELECT pg_stat_get_xact_numscans('reground.turns_documents'::regclass) > :scans AS used;
ROLLBACK;

-- Reports of users on answers and citations, and their review.
SET ROLE regress_shop_a;
SELECT min(message_id) AS first, max(message_id) AS last, (SELECT min(citation_id) FROM reground.message_citations) AS citation FROM reground.messages \gset
SELECT reground.report_citation(:citation, 'it is in the attic', 'ann'), reground.report_answer(:first, 'too short', 'ben'), reground.report_answer(:last, 'wrong');
SELECT f, r.* FROM unnest(ARRAY[$$SELECT reground.report_answer(-1, 'wrong')$$, $$SELECT reground.report_answer(1, ' ')$$, $$SELECT reground.report_answer(NULL, 'wrong')$$]) AS f, regress.refusal(f) AS r;
SELECT min(report_id) AS report FROM reground.citation_reports \gset
SELECT reground.review_report(:report, true);
SET ROLE regress_shop_b;
SELECT count(*) FROM reground.citation_reports;
SELECT r.state FROM regress.refusal('SELECT reground.report_answer(' || :first || ', ''of another tenant'')') AS r;
SET ROLE regress_shop_auditor;
SELECT reground.review_report(:report, true, 'the cellar is full', 'eve'), reground.review_report(:report + 1, false, reviewed_by => 'eve');
SELECT citation_id IS NOT NULL AS of_citation, reported_by, justified, note, reviewed_by, reviewed_role, reviewed_at IS NOT NULL AS reviewed FROM reground.citation_reports WHERE report_id >= :report ORDER BY report_id;
SELECT f, r.* FROM unnest(ARRAY[$$SELECT reground.review_report(-1, true)$$, $$SELECT reground.review_report(1, NULL)$$]) AS f, regress.refusal(f) AS r;
SET ROLE regress_shop_a;
SELECT value, answers, reported, reported_share, reports, reviewed, justified, justified_share, round(low::numeric, 3) AS low, round(high::numeric, 3) AS high FROM reground.report_rates();
SELECT value, answers, reports, justified FROM reground.report_rates('conversation') ORDER BY value;
RESET ROLE;

-- The cost of an answer: the price that was valid then, the tokens of the API, otherwise those that were counted.
INSERT INTO reground.model_prices VALUES ('small', '-infinity', 1, 4), ('small', '2026-03-01', 2, 10), ('small', '2100-01-01', 100, 100);
SET ROLE regress_shop_a;
SELECT conversation_ref, turn_no, user_ref, model, superseded, origin, is_estimated, CASE WHEN NOT is_estimated THEN input_tokens END AS input_tokens, CASE WHEN NOT is_estimated THEN output_tokens END AS output_tokens,
       cost = CASE model WHEN 'small' THEN (input_tokens * 2 + output_tokens * 10) / 1e6 END AS as_computed FROM reground.answer_costs ORDER BY message_id;
SELECT c.input_tokens = t.context_tokens + t.query_tokens + t.history_tokens AS input, c.output_tokens = m.answer_tokens AS output FROM reground.answer_costs AS c JOIN reground.turns AS t USING (turn_id) JOIN reground.messages AS m USING (message_id) WHERE c.model = 'large';
SELECT user_ref, model, count(*) AS answers, sum(cost) IS NOT NULL AS priced FROM reground.answer_costs GROUP BY 1, 2 ORDER BY 1, 2;
SELECT day FROM reground.answer_costs WHERE conversation_ref = 'imported';
INSERT INTO reground.model_prices VALUES ('mine', now(), 1, 1);
RESET ROLE;
-- Cached tokens are counted apart by some APIs, and within the input by others. They have a price of their own.
INSERT INTO reground.model_prices VALUES ('cached', '-infinity', 10, 100, 1);
INSERT INTO reground.model_prices VALUES ('endless', '-infinity', 'NaN', 1);
INSERT INTO reground.model_prices VALUES ('endless', '-infinity', 1, 'Infinity');
SET ROLE regress_shop_a;
SELECT count(*) FROM generate_series(1, 6) AS n, reground.record_turn('cached', 'Where is tea? ' || n, 'In the cellar.', model => 'cached');
RESET ROLE;
UPDATE reground.messages AS m SET usage = v.usage::jsonb FROM reground.turns AS t JOIN reground.conversations AS c USING (conversation_id) JOIN (VALUES
    (1, '{"input_tokens": 1000, "cache_read_input_tokens": 5000, "cache_creation_input_tokens": 200, "output_tokens": 10}'), (2, '{"prompt_tokens": 1000, "prompt_tokens_details": {"cached_tokens": 800}, "completion_tokens": 10}'),
    (3, '{"input_tokens": 1000, "input_tokens_details": {"cached_tokens": 9000}, "output_tokens": 10}'), (4, '{"cachedContentTokenCount": 5}'),
    (6, '{"prompt_tokens": 98805, "prompt_tokens_details": {"cached_tokens": 66360}, "cache_read_input_tokens": 66360, "cache_creation_input_tokens": 32435, "completion_tokens": 0}'), (5, '{"input_tokens": 1000, "output_tokens": 10}')) AS v(turn_no, usage) USING (turn_no) WHERE m.turn_id = t.turn_id AND c.conversation_ref = 'cached';
SET ROLE regress_shop_a;
SELECT turn_no, CASE WHEN NOT is_estimated THEN input_tokens END AS input_tokens, cached_tokens, is_estimated, CASE WHEN NOT is_estimated THEN round(cost * 1000000) END AS cost FROM reground.answer_costs WHERE conversation_ref = 'cached' ORDER BY turn_no;
RESET ROLE;
SELECT k, reground._usage_tokens(u, '{a,b}') FROM (VALUES (1, '{"a": 3}'::jsonb), (2, '{"b": 4, "a": null}'), (3, '{"a": 1e400}'), (4, '[1]'), (5, '"a"'), (6, '{"a": {"a": 1}, "b": 2.6}'), (7, NULL)) AS v(k, u) ORDER BY k;

-- Erasure of a user: the conversations in which the user asked, and the reports.
SET ROLE regress_shop_a;
SELECT reground.report_answer((SELECT max(message_id) FROM reground.messages), 'mine', 'ann');
SELECT relation, erased FROM reground.forget_user('ann') WHERE relation IN ('reground.conversations'::regclass, 'reground.turns', 'reground.messages', 'reground.citation_reports') ORDER BY relation::text;
SELECT conversation_ref FROM reground.conversations;
SELECT reported_by FROM reground.citation_reports;
SELECT f, r.* FROM unnest(ARRAY[$$SELECT reground.forget_user('ann')$$, $$SELECT reground.forget_user('')$$]) AS f, regress.refusal(f) AS r;
SET ROLE regress_shop_b;
SELECT count(*) FROM reground.turns WHERE user_ref = 'ann';
RESET ROLE;
DELETE FROM reground.model_prices;
SELECT count(*) > 0 AS forgotten FROM reground.forget_tenant('regress_shop_a');
SELECT count(*) > 0 AS forgotten FROM reground.forget_tenant('regress_shop_b');
SELECT reground.drop_corpus('larder', drop_tables => true), reground.drop_corpus('other larder', drop_tables => true);
DROP OWNED BY regress_shop_a, regress_shop_b, regress_shop_auditor;
DROP ROLE regress_shop_a, regress_shop_b, regress_shop_auditor;
