-- The origin of a citation, the citations of a document, and stale citations.
CREATE SCHEMA provenance;
SET search_path = provenance, public;
SELECT reground.create_corpus('provenance', dimensions => 2);
SELECT doc_id, version FROM (VALUES ('tea', 'Green tea steeps for two minutes.', 4), ('rye', 'Rye bread rises slowly in the cold.', NULL), ('oats', 'Oats are rolled flat before they dry.', NULL)) AS v(doc_id, body, pages),
    reground.put_document('provenance', doc_id, passages => jsonb_build_array(jsonb_build_object('content', body)), title => initcap(doc_id));
SELECT reground.put_embeddings('provenance', ARRAY['1', '2', '3'], ARRAY['[1,0]', '[0,1]', '[-1,0.2]']::vector[]);
CREATE FUNCTION ranks(query text, passages text[]) RETURNS real[] LANGUAGE sql AS $$ SELECT array_agg(char_length(p)::real ORDER BY i) FROM unnest(passages) WITH ORDINALITY AS u(p, i) $$;
CREATE FUNCTION traced(conversation text, turn_no integer, citation_no integer) RETURNS TABLE (hop integer, stage_no integer, kind text, activity text, doc_id text, chunk_id text, version integer, hashed boolean, described boolean, dropped_stage text) LANGUAGE sql STABLE AS $$
    SELECT t.hop, t.stage_no, t.kind, t.activity, t.doc_id, t.chunk_id, t.version, t.hash IS NOT NULL, jsonb_strip_nulls(t.details) <> '{}', coalesce(t.details ->> 'dropped_stage', t.details ->> 'lost_stage')
    FROM reground.citation_audit AS a, reground.trace_citation(a.citation_id) AS t WHERE (a.conversation_ref, a.turn_no, a.citation_no) = ($1, $2, $3) AND NOT a.superseded ORDER BY t.hop, t.node $$;

-- A source that a search found and a reranker ranked: five hops.
SELECT marker, doc_id FROM reground.begin_turn('provenance-1', 'How long does green tea steep?', 'provenance', '[1,0]', settings => '{"reranker": "provenance.ranks", "max_sources": 2}');
SELECT marker, status FROM reground.end_turn(regress.turn('provenance-1'), 'Oats are rolled flat before they dry [A1]. Rye bread rises slowly in the cold [B1]. Pigs fly [Z9]. Green tea steeps for two minutes [Source: tea].', model => 'small', tags => '{"team": "blue"}');
SELECT * FROM traced('provenance-1', 1, 1);
SELECT * FROM traced('provenance-1', 1, 2);
-- The hashes are those of the texts.
SELECT t.kind, t.hash = CASE t.kind WHEN 'document' THEN (SELECT d.content_hash FROM reground.documents AS d JOIN reground.corpora AS k USING (corpus_id) WHERE k.corpus = t.corpus AND d.doc_id = t.doc_id)
        ELSE encode(sha256('Oats are rolled flat before they dry.'), 'hex') END AS same
FROM reground.citation_audit AS a, reground.trace_citation(a.citation_id) AS t WHERE (a.conversation_ref, a.turn_no, a.citation_no) = ('provenance-1', 1, 1) ORDER BY t.hop;
-- A citation that resolves to nothing is one row; the trace of a lost passage names the stage and ends at its document.
SELECT * FROM traced('provenance-1', 1, 3);
SELECT * FROM traced('provenance-1', 1, 4);
-- The longest trace has five hops, and each resolved citation ends at its document.
SELECT max(hops) AS longest, bool_and(ends = (doc_id IS NOT NULL)) AS complete FROM (
    SELECT a.doc_id, max(t.hop) AS hops, bool_or(t.stage_no = 0) AS ends FROM reground.citation_audit AS a, reground.trace_citation(a.citation_id) AS t WHERE a.conversation_ref LIKE 'provenance-%' GROUP BY a.citation_id, a.doc_id) AS all_of_them;
-- The graph of a turn is acyclic: both ends of an edge are nodes, and all edges but memory go to a lower stage.
CREATE FUNCTION graph(conversation text) RETURNS TABLE (edges boolean, strays bigint, upwards bigint) LANGUAGE sql STABLE AS $$
    SELECT count(*) > 0, count(*) FILTER (WHERE n.node IS NULL OR d.node IS NULL), count(*) FILTER (WHERE d.stage_no >= n.stage_no)
    FROM reground.provenance_edges AS e LEFT JOIN reground.provenance_nodes AS n USING (turn_id, node) LEFT JOIN reground.provenance_nodes AS d ON d.turn_id = e.turn_id AND d.node = e.derived_from
    WHERE e.turn_id = regress.turn(conversation) AND e.activity <> 'memory' $$;
SELECT * FROM graph('provenance-1');
SELECT kind, count(*) FROM reground.provenance_nodes WHERE turn_id = regress.turn('provenance-1') GROUP BY kind, stage_no ORDER BY stage_no;
-- Without a reranker there is one hop less; a carried source is its passage.
SELECT marker, origin FROM reground.begin_turn('provenance-1', 'And is it cold?', 'provenance', '[0,1]', settings => '{"candidates": 1, "carry_threshold": 0, "reserved_slots": 2, "query_from": "turn", "fusion": "rrf"}');
SELECT marker, status FROM reground.end_turn(regress.turn('provenance-1'), 'Oats are rolled flat before they dry [A1].');
SELECT * FROM traced('provenance-1', 2, 1);
SELECT node LIKE 'context:%' AS node, derived_from LIKE 'context:%' AS derived_from, relation, activity FROM reground.provenance_edges WHERE turn_id = regress.turn('provenance-1') AND activity = 'memory';
SELECT * FROM graph('provenance-1');
-- Without a stored trace, the context still leads to the document.
SELECT marker FROM reground.begin_turn('provenance-2', 'green tea', 'provenance', '[1,0]', settings => '{"keep_candidates": "none", "candidates": 1}');
SELECT status FROM reground.end_turn(regress.turn('provenance-2'), 'Green tea steeps for two minutes [A1].');
SELECT * FROM traced('provenance-2', 1, 1);
SELECT * FROM graph('provenance-2');
SELECT count(*) AS nothing FROM reground.trace_citation(-1);
-- A citation of another page under a marker leads to the passage of that page; ids with separators do not collide.
SELECT reground.create_corpus('provenance/b', dimensions => 2);
SELECT (reground.put_document('provenance/b', 'x', passages => '[{"content": "Zebras graze on dry grass.", "page_start": 1, "page_end": 1}, {"content": "Quartz clocks keep time by a crystal.", "page_start": 9, "page_end": 9}]')).version;
SELECT (reground.put_document('provenance', 'b/x', passages => '[{"content": "Maple syrup is boiled sap."}]')).version;
SELECT reground.put_embeddings('provenance/b', ARRAY['1', '2'], ARRAY['[1,0]', '[0.9,0.1]']::vector[]);
SELECT marker, chunk_id FROM reground.begin_turn('provenance-3', 'Where do zebras graze?', 'provenance/b', '[1,0]', settings => '{"max_sources": 1, "merge_adjacent": false}');
SELECT status FROM reground.end_turn(regress.turn('provenance-3'), 'Zebras graze on dry grass [A1]. Quartz clocks keep time by a crystal [A1, p. 9].');
SELECT * FROM traced('provenance-3', 1, 1);
SELECT * FROM traced('provenance-3', 1, 2);
SELECT reground._node('document', 'provenance/b', 'x') <> reground._node('document', 'provenance', 'b/x') AS apart;
SELECT reground.drop_corpus('provenance/b', true);
SELECT reground.delete_document('provenance', 'b/x');

-- Citations of a document; a changed text makes them stale.
SELECT conversation_ref, turn_no, marker, status, source_version, source_state FROM reground.trace_document('provenance', 'tea');
SELECT count(*) AS stale FROM reground.stale_citations WHERE corpus = 'provenance';
SELECT reground.put_document('provenance', 'tea', passages => '[{"content": "Green tea steeps for three minutes."}]', title => 'Tea');
SELECT reground.delete_document('provenance', 'rye');
SELECT conversation_ref, turn_no, doc_id, source_state, source_version, current_version, staleness >= interval '0' AS aged, staleness IS NULL AS unknown FROM reground.stale_citations WHERE corpus = 'provenance' ORDER BY citation_id;
SELECT count(*) AS since_tomorrow FROM reground.trace_document('provenance', 'tea', now() + interval '1 day');

-- Only auditors read provenance.
CREATE ROLE regress_reader IN ROLE reground_user;
CREATE ROLE regress_checker IN ROLE reground_auditor;
GRANT USAGE ON SCHEMA regress, provenance TO regress_reader, regress_checker;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA regress TO regress_reader, regress_checker;
SET ROLE regress_reader;
SELECT f, r.state FROM unnest(ARRAY['SELECT * FROM reground.trace_citation(1)', 'SELECT * FROM reground.provenance_nodes', 'SELECT * FROM reground.provenance_edges', 'SELECT * FROM reground.stale_citations',
    'SELECT * FROM reground.sample_for_review()', $$SELECT reground.label_citation(1, 'accurate')$$]) AS f, regress.refusal(f) AS r;
SELECT count(*) AS of_others FROM reground.trace_document('provenance', 'tea');
RESET ROLE;
SET ROLE regress_checker;
SELECT kind, doc_id FROM provenance.traced('provenance-1', 1, 1);
SELECT count(*) > 0 AS stale FROM reground.stale_citations WHERE corpus = 'provenance';

-- Labels, reports, and the share of citations that hold.
SELECT citation_id = (SELECT citation_id FROM reground.sample_for_review(1, seed => 'x')) AS same FROM reground.sample_for_review(1, seed => 'x');
CREATE TEMPORARY TABLE mine AS SELECT citation_id, citation_no FROM reground.citation_audit WHERE conversation_ref = 'provenance-1' AND turn_no = 1;
GRANT SELECT ON mine TO regress_reader;
SELECT count(reground.label_citation(citation_id, CASE citation_no WHEN 1 THEN 'accurate' ELSE 'hallucinated' END, labelled_by => 'ann')) AS labelled FROM mine WHERE citation_no IN (1, 3);
SELECT reground.label_citation(citation_id, 'partial', 'it is two, not three') FROM mine WHERE citation_no = 1;
SELECT reground.label_citation(citation_id, 'accurate', labelled_by => 'bob') FROM mine WHERE citation_no = 1;
SELECT c.citation_no, l.labelled_by, l.labelled_role, l.label, l.note FROM reground.citation_labels AS l JOIN mine AS c USING (citation_id) ORDER BY 1, 2;
SELECT count(*) FILTER (WHERE citation_id IN (SELECT citation_id FROM mine WHERE citation_no IN (1, 3))) AS drawn_again FROM reground.sample_for_review(1000);
SELECT f, r.* FROM unnest(ARRAY[$$SELECT reground.label_citation(-1, 'accurate')$$, $$SELECT reground.label_citation(1, 'fine')$$, $$SELECT reground.label_citation(1, NULL)$$, $$SELECT reground.label_citation(1, 'accurate', labelled_by => ' ')$$,
    $$SELECT * FROM reground.citation_quality('colour')$$, $$SELECT * FROM reground.citation_quality('tag:')$$]) AS f, regress.refusal(f) AS r;
-- Without rows, and with any plan, an invalid dimension is refused.
PREPARE grouped(text) AS SELECT count(*) FROM reground.citation_quality($1, since => 'infinity');
SET plan_cache_mode = force_generic_plan;
EXECUTE grouped('model');
EXECUTE grouped(NULL);
EXECUTE grouped('colour');
SET plan_cache_mode = force_custom_plan;
EXECUTE grouped('colour');
RESET plan_cache_mode;
DEALLOCATE grouped;
RESET ROLE;
SELECT reground.report_citation(citation_id, 'the pigs do not fly', 'user 7') FROM mine WHERE citation_no = 3;
SELECT f, r.* FROM unnest(ARRAY[$$SELECT reground.report_citation(-1, 'x')$$, $$SELECT reground.report_citation(1, ' ')$$, $$SELECT reground.report_citation(NULL, 'x')$$]) AS f, regress.refusal(f) AS r;
SET ROLE regress_reader;
SELECT r.state, replace(r.message, m.id::text, 'of another') AS message, r.hint FROM (SELECT min(citation_id) AS id FROM mine) AS m, regress.refusal(format('SELECT reground.report_citation(%s, %L)', m.id, 'not mine')) AS r;
RESET ROLE;
SELECT value, citations, judged, holding, round(rate::numeric, 3) AS rate, round(low::numeric, 3) AS low, round(high::numeric, 3) AS high, labelled, labelled_accurate, reported FROM reground.citation_quality('model') WHERE value = 'small';
SELECT value, citations, holding FROM reground.citation_quality('tag:team') WHERE value IS NOT NULL;
SELECT q.value, q.citations = (SELECT count(*) FROM reground.citation_audit AS a JOIN reground.turns AS t USING (turn_id) WHERE NOT a.superseded AND t.settings ->> 'strategy' = q.value) AS same FROM reground.citation_quality('strategy') AS q;
SELECT h.hallucination_mode, h.citations = (SELECT count(*) FROM reground.citation_audit AS a WHERE NOT a.superseded AND a.hallucination_mode = h.hallucination_mode) AS same,
    round(h.share::numeric, 3) = round(h.citations / (SELECT nullif(count(a.hallucination_mode), 0)::numeric FROM reground.citation_audit AS a WHERE NOT a.superseded), 3) AS share, h.low <= h.share AND h.share <= h.high AS within, h.published_share FROM reground.hallucination_mix() AS h;
SELECT sum(citations) > 0 AS some, sum(citations) = (SELECT count(a.hallucination_mode) FROM reground.citation_audit AS a JOIN reground.turns AS t USING (turn_id) WHERE NOT a.superseded AND t.corpus = 'provenance') AS same FROM reground.hallucination_mix('provenance');
SELECT hallucination_mode, citations, share FROM reground.hallucination_mix(since => 'infinity');
-- The figures equal plain counts, for every dimension.
SELECT d.dimension, bool_and((q.citations, q.judged, q.holding) IS NOT DISTINCT FROM (p.citations, p.judged, p.holding)) AS same, sum(q.citations) = (SELECT count(*) FROM reground.citation_audit WHERE NOT superseded) AS all_counted
FROM unnest(ARRAY['model', 'corpus', 'document', 'conversation', 'turn_no', 'status', 'form', 'hallucination_mode', 'lost_stage', 'day']) AS d(dimension)
CROSS JOIN LATERAL reground.citation_quality(d.dimension) AS q
LEFT JOIN LATERAL (
    SELECT count(*) AS citations, count(a.holds) AS judged, count(*) FILTER (WHERE a.holds) AS holding FROM reground.citation_audit AS a
    WHERE NOT a.superseded AND CASE d.dimension WHEN 'model' THEN a.model WHEN 'corpus' THEN a.corpus WHEN 'document' THEN a.doc_id WHEN 'conversation' THEN a.conversation_ref WHEN 'turn_no' THEN a.turn_no::text WHEN 'status' THEN a.status
        WHEN 'form' THEN a.form WHEN 'hallucination_mode' THEN a.hallucination_mode WHEN 'lost_stage' THEN a.lost_stage ELSE to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') END IS NOT DISTINCT FROM q.value) AS p ON true
GROUP BY d.dimension ORDER BY d.dimension;
-- Survival of each stage equals the counts of the citations; every dimension has the same totals.
SELECT s.stage, (s.reached, s.survived) = (SELECT count(f), count(*) FILTER (WHERE f = 1) FROM reground.message_citations AS c JOIN reground.messages AS m USING (message_id)
    CROSS JOIN LATERAL (SELECT CASE s.stage WHEN 'coordinates' THEN factor_coordinates WHEN 'retrieval' THEN factor_retrieval WHEN 'rerank' THEN factor_rerank WHEN 'context' THEN factor_context ELSE factor_generation END) AS v(f)
    WHERE NOT m.superseded) AS same, s.rate = s.survived::float8 / s.reached AS rate, s.low <= s.rate AND s.rate <= s.high AS bounded FROM reground.stage_survival() AS s ORDER BY s.stage_no;
SELECT count(*) AS values, sum(reached) = (SELECT reached FROM reground.stage_survival() WHERE stage_no = 5) AS same FROM reground.stage_survival('status') WHERE stage_no = 5;
-- The indicators equal the counts of the rows; without samples the values are NULL.
SELECT s.indicator, s.target, s.met = CASE s.indicator WHEN 'parse_failures' THEN s.value < s.target ELSE s.value >= s.target END AS fits, s.samples = CASE s.indicator
    WHEN 'cfs_p1' THEN (SELECT count(cfs) FROM reground.turn_audit WHERE NOT superseded) WHEN 'parse_failures' THEN (SELECT count(*) FROM reground.citation_audit WHERE NOT superseded)
    ELSE (SELECT reached FROM reground.stage_survival() WHERE stage = 'rerank') END AS all_counted FROM reground.sli() AS s;
SELECT indicator, value, met, samples FROM reground.sli(now() + interval '1 day');
SELECT doc_id, contexts, citations, holding, conversations FROM reground.source_usage() WHERE corpus = 'provenance';
-- Two models are compared: the result equals the test on their scores.
SELECT count(*) AS turns FROM generate_series(1, 12) AS n, LATERAL (SELECT min(b.turn_id) AS turn_id FROM reground.begin_turn('compare-' || n, 'green tea', 'provenance', '[1,0]') AS b) AS b,
    LATERAL (SELECT count(*) FROM reground.end_turn(b.turn_id, CASE WHEN n % 3 = 0 THEN 'Pigs fly [Z9]. ' ELSE '' END || 'Green tea steeps for three minutes [A1].', model => CASE WHEN n % 2 = 0 THEN 'even' ELSE 'odd' END, tags => jsonb_build_object('canary', n < 5))) AS e;
-- Scores by the U test: 6 answers of each model, 2 of each with a score of 0.5. Shares are compared by answer.
SELECT c.* FROM reground.compare('cfs', 'model', 'odd', 'even') AS c;
SELECT answers_a, answers_b, samples_a, samples_b, mean_a = (SELECT avg(c.holds::int) FROM reground.citation_audit AS c WHERE c.model = 'odd' AND c.holds IS NOT NULL)::float8 AS mean, difference, low < difference AND difference < high AS bounded,
    effect, effect_size, test, p_value FROM reground.compare('holding', 'model', 'odd', 'even');
SELECT answers_a, answers_b, round(mean_a::numeric, 3) AS mean_a, test FROM reground.compare('support', 'tag:canary', 'true', 'false');
-- Every figure can be compared by period; the means are those of plain SQL. An answer in both periods counts in the first.
SELECT min(created_at) AS boundary FROM reground.messages WHERE model IN ('odd', 'even') \gset
WITH x AS (SELECT m.created_at < :'boundary' AS early, jsonb_build_object('cfs', m.cfs, 'stage_cfs', m.stage_cfs, 'grounded_cfs', m.grounded_cfs, 'answer_tokens', m.answer_tokens, 'context_tokens', t.context_tokens, 'search_ms', t.search_us / 1000.0,
        'answer_ms', CASE m.origin WHEN 'live' THEN extract(epoch FROM m.created_at - t.begun_at) * 1000 END, 'cited', (m.citation_count > 0)::int, 'support', (SELECT avg(c.support) FROM reground.message_citations AS c WHERE c.message_id = m.message_id)) AS figures
    FROM reground.messages AS m JOIN reground.turns AS t USING (turn_id) WHERE NOT m.superseded
    UNION ALL SELECT m.created_at < :'boundary', jsonb_build_object('holding', c.holds::int, 'malformed', (c.status = 'malformed')::int) FROM reground.messages AS m JOIN reground.message_citations AS c USING (message_id) WHERE NOT m.superseded),
    plain AS (SELECT e.key AS figure, avg(e.value::float8) FILTER (WHERE x.early) AS mean_a, avg(e.value::float8) FILTER (WHERE NOT x.early) AS mean_b FROM x, jsonb_each_text(x.figures) AS e GROUP BY 1)
SELECT p.figure, abs(c.mean_a - p.mean_a) < 1e-9 * greatest(1, p.mean_a) AND abs(c.mean_b - p.mean_b) < 1e-9 * greatest(1, p.mean_b) AS same, c.low <= c.difference AND c.difference <= c.high AND c.p_value BETWEEN 0 AND 1 AS sane
FROM plain AS p, reground.compare(p.figure, 'period', format('(,%s)', :'boundary'), format('[%s,)', :'boundary')) AS c ORDER BY p.figure;
SELECT answers_a, answers_b, mean_a, p_value FROM reground.compare('cfs', 'model', 'odd', 'nobody');
SELECT answers_a, answers_b FROM reground.compare('holding', 'version:reranker', '1', '2');
SELECT f, r.* FROM unnest(ARRAY['SELECT * FROM reground.compare(''cfs'', ''status'', ''a'', ''b'')', 'SELECT * FROM reground.compare(''speed'', ''model'', ''a'', ''b'')', 'SELECT * FROM reground.compare(''cfs'', NULL, ''a'', ''b'')', 'SELECT * FROM reground.compare(''holding'', NULL, ''a'', ''b'')',
    'SELECT * FROM reground.compare(''holding'', ''model'', ''a'', NULL)', 'SELECT * FROM reground.compare(''holding'', ''period'', ''today'', ''tomorrow'')',
    'SELECT * FROM reground.compare(''holding'', ''model'', ''a'', ''a'')', 'SELECT * FROM reground.compare(''holding'', ''period'', ''(,2026-02-01)'', ''[2026-01-01,)'')']) AS f, regress.refusal(f) AS r;
-- A canary always contains the same share of conversations.
SELECT count(*) FILTER (WHERE reground.in_canary(n::text)) BETWEEN 400 AND 600 AS about_a_twentieth, count(*) FILTER (WHERE reground.in_canary(n::text) AND NOT reground.in_canary(n::text, 0.5)) AS not_nested,
    count(*) FILTER (WHERE reground.in_canary(n::text, 1)) AS all, count(*) FILTER (WHERE reground.in_canary(n::text, 0)) AS none, count(*) FILTER (WHERE reground.in_canary(n::text) AND reground.in_canary(n::text, salt => 'b')) < 100 AS others
FROM generate_series(1, 10000) AS n;
SELECT reground.in_canary('a', 'NaN') AS nan, reground.in_canary('a', 2) AS more, reground.in_canary('a', -1) AS less;
-- Metrics for evaluations; the expected values come from trec_eval, SQuAD and rouge_score.
SELECT round(ndcg::numeric, 6) AS ndcg, recall, "precision", reciprocal_rank, round(average_precision::numeric, 6) AS map FROM reground.retrieval_metrics('{x,a,b,a}', '{"a": 2, "b": 1, "c": 1, "x": 0}', 3);
SELECT * FROM reground.retrieval_metrics('{a}', '{}', 3);
SELECT exact_match, token_f1, rouge_l_precision, rouge_l_recall, round(rouge_l::numeric, 6) AS rouge_l FROM reground.text_metrics('The cat sat on a mat.', 'the cat on the mat');
SELECT f, r.* FROM unnest(ARRAY['SELECT * FROM reground.retrieval_metrics(''{a}'', ''[1]'')', 'SELECT * FROM reground.retrieval_metrics(''{a}'', ''{"a": "x"}'')', 'SELECT * FROM reground.retrieval_metrics(''{a}'', ''{}'', 0)', 'SELECT * FROM reground.text_metrics(NULL, ''x'')']) AS f, regress.refusal(f) AS r;
SELECT count(*) AS before FROM reground.citation_quality(until => '2020-01-01');
SELECT * FROM reground._wilson_interval(0, 0);
SELECT round(low::numeric, 6) AS low, round(high::numeric, 6) AS high FROM reground._wilson_interval(8, 10);
SELECT f, r.* FROM unnest(ARRAY['SELECT * FROM reground._wilson_interval(3, 2)', 'SELECT * FROM reground._wilson_interval(-1, 2)', 'SELECT * FROM reground._wilson_interval(1, 2, 1)']) AS f, regress.refusal(f) AS r;
RESET search_path;
SELECT reground.drop_corpus('provenance', true);
DROP SCHEMA provenance CASCADE;
REVOKE ALL ON SCHEMA regress FROM regress_reader, regress_checker;
DROP OWNED BY regress_reader, regress_checker;
DROP ROLE regress_reader, regress_checker;
