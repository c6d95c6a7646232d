-- dry_run_turn returns the candidates of begin_turn; probes name the stage that loses a passage; check_coordinates detects damage.
SELECT reground.create_corpus('probed');
SELECT doc_id FROM (VALUES ('rye', 'Rye bread rises slowly in a cold kitchen.'), ('oat', 'Oat bread takes an hour in the oven.'), ('corn', 'Corn bread needs no yeast at all.')) AS v(doc_id, content)
    CROSS JOIN LATERAL reground.put_document('probed', v.doc_id, content => v.content);
SELECT count(*) FROM reground.begin_turn('probed-1', 'How does rye bread rise?', corpus => 'probed');
SELECT count(*) FROM reground.end_turn((SELECT max(turn_id) FROM reground.turns), 'Slowly [A1].');
CREATE TEMPORARY TABLE before AS SELECT (SELECT count(*) FROM reground.turns) AS turns, (SELECT sum(turn_count) FROM reground.conversations) AS counted, (SELECT count(*) FROM reground.conversation_markers) AS markers;
CREATE TEMPORARY TABLE dry_run AS SELECT * FROM reground.dry_run_turn('and in the oven?', conversation_ref => 'probed-1', settings => '{"max_sources": 2}');
SELECT b.* = (SELECT ROW((SELECT count(*) FROM reground.turns), (SELECT sum(turn_count) FROM reground.conversations), (SELECT count(*) FROM reground.conversation_markers))) AS untouched FROM before AS b;
SELECT count(*) > 0 AS any FROM reground.begin_turn('probed-1', 'and in the oven?', settings => '{"max_sources": 2}');
SELECT count(*) AS different FROM (
    (SELECT candidate_no, corpus, doc_id, chunk_id, member_chunk_ids, origin, lexical_rank, lexical_score, fused_score, relevance, carry_score, in_context, dropped_stage, drop_reason, replaced_by FROM dry_run
     EXCEPT SELECT candidate_no, corpus, doc_id, chunk_id, member_chunk_ids, origin, lexical_rank, lexical_score, fused_score, relevance, carry_score, in_context, dropped_stage, drop_reason, replaced_by
     FROM reground.explain_turn((SELECT max(turn_id) FROM reground.turns)))
    UNION ALL
    (SELECT candidate_no, corpus, doc_id, chunk_id, member_chunk_ids, origin, lexical_rank, lexical_score, fused_score, relevance, carry_score, in_context, dropped_stage, drop_reason, replaced_by
     FROM reground.explain_turn((SELECT max(turn_id) FROM reground.turns))
     EXCEPT SELECT candidate_no, corpus, doc_id, chunk_id, member_chunk_ids, origin, lexical_rank, lexical_score, fused_score, relevance, carry_score, in_context, dropped_stage, drop_reason, replaced_by FROM dry_run)) AS d;
SELECT count(*) > 1 AS several, count(*) FILTER (WHERE in_context) AS in_context, count(*) FILTER (WHERE dropped_stage = 'context') > 0 AS some_left FROM dry_run;
SELECT f, r.* FROM unnest(ARRAY[$$SELECT reground.dry_run_turn(' ')$$, $$SELECT reground.dry_run_turn('rye', conversation_ref => 'nobody')$$, $$SELECT reground.dry_run_turn('rye', 'nowhere')$$]) AS f, regress.refusal(f) AS r;
-- Dry runs work in read-only transactions.
BEGIN READ ONLY;
SELECT doc_id FROM reground.dry_run_turn('rye bread', 'probed') WHERE candidate_no = 1;
COMMIT;

-- One probe for each outcome.
SELECT reground.put_probe('found', 'probed', 'How does rye bread rise?', 'rye');
SELECT reground.put_probe('dropped', 'probed', 'How does rye bread rise?', 'oat', settings => '{"max_sources": 1}');
SELECT reground.put_probe('unfound', 'probed', 'yeast', 'rye', settings => '{"candidates": 1}');
SELECT reground.put_probe('no such document', 'probed', 'barley', 'barley');
SELECT reground.put_probe('no such passage', 'probed', 'rye', 'rye', chunk_id => '999999');
SELECT * FROM reground.run_probes('probed');
SELECT reground.delete_document('probed', 'rye') IS NOT NULL AS deleted;
SELECT probe, found, lost_stage, reason FROM reground.run_probes() WHERE probe IN ('found', 'unfound');
SELECT probe, count(*) AS runs, count(*) FILTER (WHERE found) AS found FROM reground.probe_results GROUP BY probe ORDER BY probe;
SELECT reground.drop_probe('found'), reground.drop_probe('found');
SELECT count(*) FROM reground.probe_results WHERE probe = 'found';
SELECT f, r.state, r.message, left(r.hint, 40) AS hint FROM unnest(ARRAY[$$SELECT reground.put_probe('x', 'nowhere', 'rye', 'rye')$$, $$SELECT reground.put_probe('x', 'probed', 'rye', ' ')$$, $$SELECT reground.put_probe('x', 'probed', 'rye', 'rye', settings => '{"max_source": 1}')$$,
    $$SELECT reground.put_probe('x', 'probed', 'rye', 'rye', filter => '{"nothing": 1}')$$, $$SELECT reground.put_probe(NULL, 'probed', 'rye', 'rye')$$]) AS f, regress.refusal(f) AS r;

-- Chaos: a copy in which one passage of a hundred has wrong coordinates. Exactly these are found, and none in the original.
SELECT reground.create_corpus('calm', chunk_size => 60, chunk_overlap => 15, chunk_unit => 'characters');
SELECT count(*) FROM generate_series(1, 20) AS n, LATERAL reground.put_document('calm', 'doc-' || n, content => (SELECT string_agg('Sentence ' || s || ' of document ' || n || ' says ' || md5(n || '/' || s) || '.', CASE WHEN s % 9 = 0 THEN E'\f' ELSE ' ' END ORDER BY s) FROM generate_series(1, 40) AS s)) AS p;
SELECT count(*) FROM reground.check_coordinates('calm');
SELECT reground.create_corpus('chaos', chunk_size => 60, chunk_overlap => 15, chunk_unit => 'characters');
INSERT INTO chaos_documents SELECT * FROM calm_documents;
INSERT INTO chaos (chunk_id, doc_id, version, ordinal, content, tokens, char_start, char_end, page_start, page_end, content_hash, metadata) OVERRIDING SYSTEM VALUE
    SELECT chunk_id, doc_id, version, ordinal, content, tokens, char_start, char_end, page_start, page_end, content_hash, metadata FROM calm;
SELECT count(*) FROM reground.check_coordinates('chaos');
CREATE TEMPORARY TABLE moved AS SELECT chunk_id::text, n FROM (SELECT chunk_id, row_number() OVER (ORDER BY hashtextextended(chunk_id::text, 7)) AS n, count(*) OVER () AS all_of_them FROM chaos) AS c WHERE n <= all_of_them / 100;
UPDATE chaos AS c SET char_start = CASE n % 3 WHEN 0 THEN char_start + 1 ELSE char_start END, char_end = CASE n % 3 WHEN 0 THEN char_end + 1 WHEN 1 THEN char_end + 100000 ELSE char_end END,
    page_end = CASE n % 3 WHEN 2 THEN page_start - 1 ELSE page_end END FROM moved AS m WHERE m.chunk_id = c.chunk_id::text;
SELECT count(*) > 5 AS several, count(*) = count(f.chunk_id) AS all_found, (SELECT count(*) FROM reground.check_coordinates('chaos')) = count(*) AS no_other,
       count(DISTINCT f.problem) AS kinds FROM moved AS m LEFT JOIN reground.check_coordinates('chaos') AS f USING (chunk_id);
SELECT f, r.* FROM unnest(ARRAY[$$SELECT reground.check_coordinates('nowhere')$$, $$SELECT reground.check_coordinates('')$$]) AS f, regress.refusal(f) AS r;
SELECT reground.drop_corpus('chaos', drop_tables => true), reground.drop_corpus('calm', drop_tables => true), reground.drop_corpus('probed', drop_tables => true);

-- A hidden document looks like a missing one, so ids cannot be guessed; and a broken corpus does not stop the probes of the others.
SELECT reground.create_corpus('veiled');
SELECT count(*) FROM (VALUES ('open', 'Barley soup is served on Mondays.'), ('secret', 'The merger is planned for Friday.')) AS v(doc_id, content) CROSS JOIN LATERAL reground.put_document('veiled', v.doc_id, content => v.content);
CREATE ROLE regress_prober;
GRANT reground_user TO regress_prober;
GRANT SELECT ON veiled, veiled_documents TO regress_prober;
GRANT USAGE ON SCHEMA regress TO regress_prober;
ALTER TABLE veiled ENABLE ROW LEVEL SECURITY;
CREATE POLICY open ON veiled USING (doc_id = 'open');
CREATE TABLE leaving (id integer PRIMARY KEY, body text NOT NULL, about text);
INSERT INTO leaving VALUES (1, 'Rye is sown in autumn.', 'rye'), (2, 'Oats are sown in spring.', 'oats');
SELECT reground.add_corpus('leaving', relation => 'leaving', chunk_id => 'id', content => 'body');
CREATE TABLE dropped (id integer PRIMARY KEY, body text NOT NULL);
INSERT INTO dropped VALUES (1, 'Rye is sown in autumn.');
SELECT reground.add_corpus('dropped', relation => 'dropped', chunk_id => 'id', content => 'body');
GRANT SELECT ON leaving, dropped TO regress_prober;
SET ROLE regress_prober;
SELECT reground.put_probe('there', 'veiled', 'soup', 'open'), reground.put_probe('hidden', 'veiled', 'merger', 'secret'), reground.put_probe('nowhere', 'veiled', 'merger', 'no such document');
SELECT reground.put_probe('whole', 'leaving', 'sown in autumn', '1', filter => '{"about": "rye"}'), reground.put_probe('of another', 'leaving', 'sown in autumn', '1', chunk_id => '2'), reground.put_probe('table', 'dropped', 'autumn', '1');
SELECT probe, found, lost_stage, reason FROM reground.run_probes();
RESET ROLE;
DROP TABLE dropped;
ALTER TABLE leaving DROP COLUMN about;
DELETE FROM leaving WHERE id = 2;
SET ROLE regress_prober;
SELECT reground.put_probe('removed', 'leaving', 'sown in spring', '2');
SELECT probe, found, lost_stage, reason FROM reground.run_probes() WHERE probe IN ('there', 'whole', 'table', 'removed');
RESET ROLE;
SELECT reground.drop_corpus('veiled', drop_tables => true), reground.drop_corpus('leaving'), reground.drop_corpus('dropped');
DROP TABLE leaving;
DROP OWNED BY regress_prober;
DROP ROLE regress_prober;
