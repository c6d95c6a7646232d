-- Passages that earlier turns ranked high and this turn ranks low.
CREATE SCHEMA hits;
SET search_path = hits, public;
SELECT reground.create_corpus('hits', dimensions => 2);
SELECT count(*) AS documents FROM generate_series(1, 6) AS n, reground.put_document('hits', 'd' || n, content => format('Nothing but the number %s.', n));
-- Passage n lies n * 10 degrees from the first axis.
SELECT reground.put_embeddings('hits', array_agg(n::text ORDER BY n), array_agg(format('[%s,%s]', cosd(n * 10), sind(n * 10))::vector ORDER BY n)) FROM generate_series(1, 6) AS n;
CREATE FUNCTION asked(conversation text, degrees integer, settings jsonb DEFAULT '{}') RETURNS text[] LANGUAGE sql AS $$
    SELECT array_agg(chunk_id) FROM reground.begin_turn($1, 'zzz', 'hits', format('[%s,%s]', cosd($2), sind($2))::vector, intent => 'new_topic', settings => '{"fusion": "rrf", "query_from": "turn", "max_sources": 6}' || $3) $$;
-- Queries from both ends: the rankings are 1 2 3 | 4 5 6 and 6 5 4 | 3 2 1.
SELECT asked('hits-1', 0), asked('hits-1', 70);
SELECT r.relevant, h.* FROM (VALUES ('{3}'::text[]), ('{4}'), ('{6,1}'), ('{none}'), ('{}')) AS r(relevant), reground.history_hits(regress.turn('hits-1', 2), r.relevant) AS h;
-- The first turn has no earlier turns.
SELECT * FROM reground.history_hits(regress.turn('hits-1', 1), '{5}');
-- The same counted from the trace.
WITH ranked AS (
    SELECT t.turn_no, c.chunk_id, row_number() OVER (PARTITION BY t.turn_no ORDER BY c.fused_score DESC) AS rank
    FROM reground.turn_candidates AS c JOIN reground.turns AS t USING (turn_id) JOIN reground.conversations AS v USING (conversation_id) WHERE v.conversation_ref = 'hits-1' AND c.origin = 'fresh')
SELECT bool_and((h.bottom_hit, h.history_hit) = (n.rank > 3, e.rank <= 3)) AS as_counted, count(*) AS passages
FROM ranked AS n JOIN ranked AS e ON e.chunk_id = n.chunk_id AND e.turn_no = 1, reground.history_hits(regress.turn('hits-1', 2), ARRAY[n.chunk_id]) AS h WHERE n.turn_no = 2;
-- Without relevant_chunk_ids, the citations that hold are used; an abandoned turn does not count.
SELECT marker, chunk_id, status FROM reground.end_turn(regress.turn('hits-1', 2), 'Nothing but the number 3 [C1]. Nothing but the number 6 [A1].');
SELECT * FROM reground.history_hits(regress.turn('hits-1', 2));
SELECT reground.abandon_turn(regress.turn('hits-1', 1));
SELECT * FROM reground.history_hits(regress.turn('hits-1', 2), '{3}');
-- Without stored candidates the values are NULL; an unknown turn returns no row.
SELECT cardinality(asked('hits-1', 0, '{"keep_candidates": "none"}')) AS sources;
SELECT * FROM reground.history_hits(regress.turn('hits-1', 3), '{3}');
SELECT count(*) FROM reground.history_hits(-1);
-- A passage that is pinned and found keeps its rank, and the others keep theirs.
SELECT reground.pin('hits-2', chunk_id => '6', corpus => 'hits');
SELECT asked('hits-2', 70);
SELECT chunk_id, origin, vector_rank FROM reground.turn_candidates WHERE turn_id = regress.turn('hits-2', 1) AND in_context AND vector_rank < 3 ORDER BY vector_rank;
SELECT r.relevant, h.bottom_hit, h.candidate_count FROM (VALUES ('{6}'::text[]), ('{3}')) AS r(relevant), reground.history_hits(regress.turn('hits-2', 1), r.relevant) AS h;
SELECT asked('hits-2', 0, '{"max_pinned": 0}');
SELECT r.relevant, h.bottom_hit, h.history_hit FROM (VALUES ('{6}'::text[]), ('{3}')) AS r(relevant), reground.history_hits(regress.turn('hits-2', 2), r.relevant) AS h;
-- The same for a passage that is ranked too low and returns in a reserved slot: its citation does not rest on the earlier turn alone.
SELECT asked('hits-3', 0);
SELECT marker, chunk_id, status FROM reground.end_turn(regress.turn('hits-3', 1), 'Nothing but the number 1 [A1].');
SELECT marker, chunk_id, origin FROM reground.begin_turn('hits-3', 'zzz', 'hits', '[0.342,0.94]', intent => 'drill_down',
    settings => '{"fusion": "rrf", "query_from": "turn", "max_sources": 2, "carry_threshold": 0, "reserved_slots": 1}');
SELECT chunk_id, origin, vector_rank FROM reground.turn_candidates WHERE turn_id = regress.turn('hits-3', 2) AND chunk_id = '1' AND in_context;
SELECT r.relevant, h.bottom_hit, h.history_hit, h.candidate_count FROM (VALUES ('{1}'::text[])) AS r(relevant), reground.history_hits(regress.turn('hits-3', 2), r.relevant) AS h;
SELECT marker, chunk_id, status FROM reground.end_turn(regress.turn('hits-3', 2), 'Nothing but the number 1 [A1].');
SELECT turn_no, source_count, carried_share, citation_count, carried_citation_count, refound_citation_count, history_dependence, history_effect FROM reground.conversation_health WHERE conversation_ref = 'hits-3' ORDER BY turn_no;
-- The functions run in parallel workers and in read-only transactions.
CREATE TABLE ranked AS SELECT n FROM generate_series(1, 1000) AS n;
BEGIN READ ONLY;
SELECT CASE WHEN current_setting('server_version_num')::integer < 160000 THEN 'force_parallel_mode' ELSE 'debug_parallel_query' END AS parallel \gset
SET LOCAL :parallel = on;
SET LOCAL min_parallel_table_scan_size = 0;
SET LOCAL parallel_setup_cost = 0;
SELECT count(*) FILTER (WHERE bottom) AS bottom, count(*) FILTER (WHERE history) AS history, count(*) FILTER (WHERE supplement) AS supplement
FROM ranked, reground._history_hits('[["1"], ["2"], ["3"], ["4"]]', '[[["4"], ["7"]]]', ARRAY[n::text]);
SELECT round(sum(recall)::numeric, 3) AS recall FROM ranked, reground.retrieval_metrics(ARRAY['1', n::text], '{"1": 1, "2": 1}');
SELECT count(*) FILTER (WHERE exact_match) AS exact, round(sum(token_f1)::numeric, 3) AS f1, count(rouge_l) AS scored FROM ranked, reground.text_metrics(n::text, '7');
ROLLBACK;
DROP TABLE ranked;
-- Only auditors may call the functions.
CREATE ROLE regress_hits IN ROLE reground_user;
GRANT USAGE ON SCHEMA regress TO regress_hits;
SET ROLE regress_hits;
SELECT * FROM regress.refusal('SELECT * FROM reground.history_hits(1)');
RESET ROLE;
SELECT f, r.* FROM unnest(ARRAY[$$SELECT * FROM reground._history_hits('{}', '[]', '{}')$$, $$SELECT * FROM reground._history_hits('[]', '[[1]]', '{}')$$, $$SELECT * FROM reground._history_hits(NULL, '[]', '{}')$$]) AS f, regress.refusal(f) AS r;
RESET search_path;
SELECT reground.drop_corpus('hits', true);
DROP SCHEMA hits CASCADE;
REVOKE ALL ON SCHEMA regress FROM regress_hits;
DROP ROLE regress_hits;
