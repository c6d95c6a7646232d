-- search and begin_turn use a BM25 index where possible, and return the same rows as without it.
CREATE SCHEMA lexical;
CREATE ROLE regress_seer LOGIN IN ROLE reground_user;
SET search_path = lexical, public;
SET client_min_messages = error;
CREATE TABLE makers (maker integer PRIMARY KEY, name text, country text);
CREATE TABLE notes (id integer PRIMARY KEY, maker integer, body text, owner text DEFAULT 'regress_seer');
INSERT INTO makers SELECT n, 'Maker ' || n, (ARRAY['Finland', 'Chile', 'Ghana'])[1 + n % 3] FROM generate_series(0, 9) AS n;
-- No text has more than 40 words, so the index stores exact lengths.
INSERT INTO notes SELECT n, n % 10, (SELECT string_agg((ARRAY['saw', 'boat', 'oak', 'glue', 'sail', 'mast', 'rope', 'keel', 'the', 'of'])[1 + (hashint4(n * 100 + w) & 2147483647) % 10] || CASE WHEN w % 7 = 0 THEN n % 50 || '' ELSE '' END, ' ')
    FROM generate_series(1, 1 + n % 38) AS w) FROM generate_series(1, 600) AS n;
SET client_min_messages = notice;
SELECT reground.add_corpus('notes', relation => 'notes', chunk_id => 'id', doc_id => 'maker', content => 'body', documents => 'makers', documents_doc_id => 'maker', title => 'name');
SET client_min_messages = error;
CREATE VIEW asked AS SELECT q, f FROM unnest(ARRAY['boats', 'oak and glue', 'sail28 mast', 'the rope of the keel', 'saw saw saw boat', 'nothing', 'oak35 keel21 rope', 'of']) AS q,
    unnest(ARRAY[NULL, '{"country": "Chile"}', '{"id": {">": 300}}']::jsonb[]) AS f;
CREATE FUNCTION found() RETURNS TABLE (q text, f jsonb, rows bigint, ranks text, scores numeric[]) LANGUAGE sql AS $$
    SELECT a.q, a.f, count(s), string_agg(s.chunk_id, ' ' ORDER BY s.lexical_rank), array_agg(round(s.lexical_score::numeric, 9) ORDER BY s.lexical_rank)
    FROM lexical.asked AS a LEFT JOIN LATERAL reground.search('notes', a.q, max_results => 40, filter => a.f) AS s ON true GROUP BY a.q, a.f
$$;
-- Scans of an index that this session has counted but not yet reported; it reports between transactions.
CREATE FUNCTION by_index(index text) RETURNS bigint LANGUAGE sql AS $$ SELECT pg_stat_get_xact_numscans(to_regclass(index)) $$;
CREATE TABLE exactly AS SELECT * FROM found();
SELECT sum(rows) > 500 AS many, count(*) FROM exactly;
SELECT item, status, hint FROM reground.check_corpus('notes') WHERE item = 'lexical index';
-- The warnings of a turn, and the scores of its found and remembered sources.
CREATE FUNCTION remembered(conversation text) RETURNS TABLE (warnings text[], chunk_id text, origin text, score numeric) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM reground.begin_turn(conversation, 'oak28 keel and rope', 'notes');
    PERFORM reground.end_turn(regress.turn(conversation), 'Ropes are long [A1] and keels are deep [A2].');
    PERFORM reground.begin_turn(conversation, 'and the rope?', intent => 'drill_down');
    RETURN QUERY SELECT n.warnings, p, o, round(l::numeric, 9) FROM reground.turn_traces AS t JOIN reground.turns AS n USING (turn_id),
        unnest(t.chunk_ids, t.origins, t.lexical_scores) AS u (p, o, l) WHERE t.turn_id = regress.turn(conversation, 2);
END
$$;
CREATE TABLE remembered_exactly AS SELECT * FROM remembered('lexical-1');
SELECT warnings, origin, count(*) > 1 AS several, count(score) > 1 AS scored FROM remembered_exactly GROUP BY 1, 2 ORDER BY 2;

-- Indexes that cannot be used: another configuration, a partial index, an expression.
CREATE INDEX ON notes USING reground_bm25 (body) WITH (text_config = 'simple');
CREATE INDEX ON notes USING reground_bm25 (body) WHERE id > 5;
CREATE INDEX ON notes USING reground_bm25 (lower(body));
SELECT status FROM reground.check_corpus('notes') WHERE item = 'lexical index';
CREATE INDEX notes_body ON notes USING reground_bm25 (body) WITH (text_config = 'english');
SELECT status, detail FROM reground.check_corpus('notes') WHERE item = 'lexical index';

BEGIN;
SELECT by_index('notes_body') AS before \gset
CREATE TABLE indexed AS SELECT * FROM found();
SELECT by_index('notes_body') - :before AS asked_of_the_index;
COMMIT;
SELECT count(*) AS differ FROM (TABLE exactly EXCEPT TABLE indexed UNION ALL (TABLE indexed EXCEPT TABLE exactly)) AS d;
CREATE TABLE remembered_by_index AS SELECT * FROM remembered('lexical-2');
SELECT DISTINCT warnings FROM remembered_by_index;
SELECT count(*) AS differ FROM (SELECT chunk_id, origin, score FROM remembered_exactly EXCEPT SELECT chunk_id, origin, score FROM remembered_by_index) AS d;

-- After ALTER INDEX with another configuration, the index keeps the configuration of its build and is still used.
ALTER INDEX notes_body SET (text_config = german);
SELECT status FROM reground.check_corpus('notes') WHERE item = 'lexical index';
ALTER INDEX notes_body SET (text_config = english);

-- With the statistics of the visible rows, the index is not used under row-level security.
SELECT reground.alter_corpus('notes', settings => '{"lexical_statistics": "visible"}');
GRANT USAGE ON SCHEMA lexical TO regress_seer;
GRANT SELECT ON ALL TABLES IN SCHEMA lexical TO regress_seer;
UPDATE notes SET owner = 'somebody' WHERE id % 3 = 0;
CREATE POLICY own ON notes USING (owner = current_user);
ALTER TABLE notes ENABLE ROW LEVEL SECURITY;
SET ROLE regress_seer;
SELECT status, detail FROM reground.check_corpus('notes') WHERE item = 'lexical index';
BEGIN;
SELECT by_index('lexical.notes_body') AS before \gset
CREATE TEMPORARY TABLE seen AS SELECT * FROM found();
SELECT by_index('lexical.notes_body') - :before AS asked_of_the_index;
COMMIT;
RESET ROLE;
ALTER TABLE notes DISABLE ROW LEVEL SECURITY;
DROP INDEX notes_body;
DELETE FROM notes WHERE owner = 'somebody';
SELECT count(*) AS differ FROM (TABLE seen EXCEPT SELECT * FROM found()) AS d;
SELECT sum(rows) > 300 AS many FROM seen;

-- A managed corpus has an index, which follows its text search configuration. After VACUUM and a merge it counts only current rows.
SELECT reground.create_corpus('herbs', schema => 'lexical');
SELECT sum(added) FROM generate_series(1, 30) AS n, reground.put_document('herbs', 'd' || n, content => 'Der Salbei ' || n || ' wächst neben den Kräutern.') AS p;
SELECT status, detail FROM reground.check_corpus('herbs') WHERE item = 'lexical index';
SELECT count(*) FROM reground.search('herbs', 'Kraut');
SELECT reground.alter_corpus('herbs', text_config => 'german');
SELECT status, detail, (SELECT reloptions FROM pg_class WHERE oid = c.detail::regclass) FROM reground.check_corpus('herbs') AS c WHERE item = 'lexical index';
SELECT count(*) FROM reground.search('herbs', 'Kräuter wachsen', max_results => 100);
SELECT doc_id FROM reground.search('herbs', '17') ORDER BY lexical_rank LIMIT 1;
SELECT sum(removed) FROM generate_series(1, 15) AS n, reground.put_document('herbs', 'd' || n, content => 'Thymian.') AS p;
SELECT count(*) FROM reground.search('herbs', 'Salbei', max_results => 100);
VACUUM (FREEZE, INDEX_CLEANUP on) herbs;
SELECT reground.bm25_merge('herbs_array_idx');
CREATE TABLE herbs_found AS SELECT chunk_id, round(lexical_score::numeric, 9) AS score FROM reground.search('herbs', 'Salbei 20', max_results => 100);
DROP INDEX herbs_array_idx;
SELECT count(*) AS found FROM herbs_found;
SELECT count(*) AS differ FROM (TABLE herbs_found EXCEPT SELECT chunk_id, round(lexical_score::numeric, 9) FROM reground.search('herbs', 'Salbei 20', max_results => 100)) AS d;

-- In a comparison, passages that only the vector search finds are scored by the words of the turn and not by those of a member, with and without an index.
SELECT reground.create_corpus('versus', dimensions => 2);
SELECT count(*) FROM generate_series(1, 6) AS n, LATERAL reground.put_document('versus', 'd' || n, content => CASE n % 2 WHEN 0 THEN 'Rye bread and more rye.' ELSE 'Oat bread and more oat.' END);
SELECT count(*) FROM reground.put_document('versus', 'far', content => 'Whatever is baked of oat rises in an oven, slowly or fast.');
UPDATE versus SET embedding = CASE doc_id WHEN 'far' THEN '[1,0]' ELSE '[0,1]' END::vector;
CREATE FUNCTION pg_temp.compared(way text) RETURNS TABLE (doc_id text, lexical_rank integer, lexical_score numeric) LANGUAGE sql AS $$
    SELECT r.doc_id, r.lexical_rank, round(r.lexical_score::numeric, 9) FROM reground.dry_run_turn('compare oat with rye', 'versus', '[1,0]', settings => jsonb_build_object('lexical_search', way, 'candidates', 2, 'collapse_twins', false)) AS r $$;
SELECT count(*) AS different FROM ((SELECT * FROM pg_temp.compared('exact') EXCEPT ALL SELECT * FROM pg_temp.compared('auto')) UNION ALL (SELECT * FROM pg_temp.compared('auto') EXCEPT ALL SELECT * FROM pg_temp.compared('exact'))) AS d;
SELECT c.lexical_rank, c.lexical_score = (SELECT s.lexical_score::real::numeric FROM reground.search('versus', 'compare oat with rye', settings => '{"lexical_search": "exact"}') AS s WHERE s.doc_id = 'far') AS of_the_turn FROM pg_temp.compared('exact') AS c WHERE c.doc_id = 'far';
SELECT reground.drop_corpus('versus', drop_tables => true);
