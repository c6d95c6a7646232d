-- Lexical search under row-level security: the policy hides rows, the index gives the order, and its figures are those of all rows.
CREATE SCHEMA hidden;
CREATE ROLE regress_viewer LOGIN IN ROLE reground_user;
SET search_path = hidden, public;
SET client_min_messages = warning;
-- No text has more than 40 words, so the index stores exact lengths.
CREATE TABLE made AS SELECT n AS id, n % 10 AS tenant, (ARRAY['oak', 'Boote', 'rope', 'keels', NULL])[1 + n % 5] AS title, (ARRAY['german', 'english', NULL])[1 + n % 3] AS lang,
    (SELECT string_agg((ARRAY['saw', 'boats', 'oaks', 'glue', 'Segeln', 'mast', 'ropes', 'keel', 'the'])[1 + (hashint4(n * 100 + w) & 2147483647) % 9], ' ') FROM generate_series(1, 1 + n % 30) AS w) AS body
    FROM generate_series(1, 600) AS n;
CREATE TABLE plain (LIKE made, PRIMARY KEY (id));
CREATE TABLE titled (LIKE made, PRIMARY KEY (id));
CREATE TABLE tongues (LIKE made, PRIMARY KEY (id));
CREATE TABLE parts (LIKE made, PRIMARY KEY (id, tenant)) PARTITION BY LIST (tenant);
CREATE TABLE parts_few PARTITION OF parts FOR VALUES IN (0, 1, 2);
CREATE TABLE parts_many PARTITION OF parts DEFAULT;
CREATE INDEX ON plain USING reground_bm25 (body);
CREATE INDEX ON titled USING reground_bm25 ((ARRAY[title, body])) WITH (weights = '2,1');
CREATE INDEX ON tongues USING reground_bm25 (reground.in_language(ARRAY[title, body], lang)) WITH (weights = '2,1');
CREATE INDEX ON parts USING reground_bm25 (body);
SELECT reground.add_corpus('plain', relation => 'plain', chunk_id => 'id', content => 'body');
SELECT reground.add_corpus('titled', relation => 'titled', chunk_id => 'id', content => 'body', title => 'title');
SELECT reground.add_corpus('tongues', relation => 'tongues', chunk_id => 'id', content => 'body', title => 'title', text_config_column => 'lang');
SELECT reground.add_corpus('parts', relation => 'parts', chunk_id => 'id', content => 'body');
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['plain', 'titled', 'tongues', 'parts'] LOOP
        EXECUTE format('INSERT INTO %I SELECT * FROM made', name);
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format($p$CREATE POLICY own ON %I USING (tenant <= current_setting('app.most')::int)$p$, name);
        EXECUTE format('ANALYZE %I', name);
    END LOOP;
END
$$;
GRANT USAGE ON SCHEMA hidden, regress TO regress_viewer;
GRANT SELECT ON ALL TABLES IN SCHEMA hidden TO regress_viewer;

-- BM25 in plain SQL: the figures of all rows, then the visible ones.
CREATE TABLE corpora AS SELECT * FROM (VALUES ('plain', 0, false), ('titled', 2, false), ('tongues', 2, true), ('parts', 0, false)) AS c (corpus, title_weight, in_language);
CREATE TABLE asked AS SELECT q FROM unnest(ARRAY['boats', 'oak and glue', 'Segel mast', 'the rope of the keel', 'saw saw boat', 'nothing', 'Boote']) AS q;
CREATE FUNCTION scores(corpus text, query text) RETURNS TABLE (id integer, tenant integer, score numeric) LANGUAGE sql AS $$
    WITH c AS (SELECT * FROM hidden.corpora AS c WHERE c.corpus = $1),
        words AS (SELECT m.id, t.lexeme, sum(f.weight * cardinality(t.positions))::float8 AS tf
            FROM hidden.made AS m, c, LATERAL (VALUES (title, c.title_weight), (body, 1)) AS f (content, weight),
                unnest(to_tsvector(CASE WHEN c.in_language THEN coalesce(m.lang, 'english') ELSE 'english' END::regconfig, f.content)) AS t WHERE f.weight > 0 GROUP BY 1, 2),
        lengths AS (SELECT m.id, m.tenant, coalesce(sum(tf), 0) AS length FROM hidden.made AS m LEFT JOIN words AS w USING (id) GROUP BY 1, 2),
        query AS (SELECT t.lexeme, max(cardinality(t.positions)) AS times FROM c, unnest(CASE WHEN c.in_language THEN '{english,german}' ELSE '{english}' END::text[]) AS l, unnest(to_tsvector(l::regconfig, $2)) AS t GROUP BY 1)
    SELECT l.id, l.tenant, round(sum(q.times * ln(1 + (a.n - f.df + 0.5) / (f.df + 0.5)) * w.tf / (w.tf + 1.2 * (0.25 + 0.75 * l.length / a.mean)))::numeric, 9)
    FROM query AS q JOIN words AS w USING (lexeme) JOIN lengths AS l USING (id), (SELECT count(*)::float8, avg(length) FROM lengths) AS a (n, mean),
        LATERAL (SELECT count(*) FROM words AS o WHERE o.lexeme = q.lexeme) AS f (df)
    GROUP BY 1, 2
$$;
CREATE TABLE expected AS SELECT c.corpus, a.q, s.* FROM corpora AS c, asked AS a, LATERAL scores(c.corpus, a.q) AS s;
CREATE VIEW best AS SELECT m.most, e.corpus, e.q, e.id::text AS chunk_id, e.score, row_number() OVER (PARTITION BY m.most, e.corpus, e.q ORDER BY e.score DESC, e.id::text COLLATE "C") AS rank
    FROM expected AS e JOIN unnest(ARRAY[0, 3, 9]) AS m (most) ON e.tenant <= m.most;
-- app.most is set before the search reads the table.
CREATE FUNCTION found(corpus text, q text, most integer, settings jsonb DEFAULT NULL) RETURNS TABLE (chunk_id text, score numeric, rank integer) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('app.most', most::text, false);
    RETURN QUERY SELECT s.chunk_id, round(s.lexical_score::numeric, 9), s.lexical_rank FROM reground.search(corpus, q, max_results => 20, settings => settings) AS s;
END
$$;
CREATE VIEW results AS SELECT m.most, c.corpus, a.q, f.chunk_id, f.score, f.rank FROM corpora AS c, asked AS a, unnest(ARRAY[0, 3, 9]) AS m (most), LATERAL found(c.corpus, a.q, m.most) AS f;
GRANT SELECT ON ALL TABLES IN SCHEMA hidden TO regress_viewer;
-- Views run as their owner otherwise, who sees every row.
ALTER VIEW results SET (security_invoker = true);
SET ROLE regress_viewer;
CREATE TEMPORARY TABLE r AS TABLE results;
SELECT r.corpus, r.most, count(*) > 40 AS many,
    count(*) FILTER (WHERE b.score IS DISTINCT FROM r.score) AS other_score, count(*) FILTER (WHERE b.rank IS DISTINCT FROM r.rank) AS other_rank
FROM r LEFT JOIN best AS b USING (most, corpus, q, chunk_id) GROUP BY 1, 2 ORDER BY 1, 2;
SELECT count(*) AS missing FROM best AS b LEFT JOIN r USING (most, corpus, q, chunk_id) WHERE b.rank <= 20 AND r.chunk_id IS NULL;

-- The operator is an index condition, also for rows in several languages; every plan gives the same rows.
CREATE FUNCTION pg_temp.by_sql(corpus text, q text, most integer, cheap text) RETURNS TABLE (chunk_id text, score numeric) LANGUAGE plpgsql AS $$
DECLARE
    indexed text := CASE corpus WHEN 'plain' THEN 'body' WHEN 'parts' THEN 'body' WHEN 'titled' THEN 'ARRAY[title, body]' ELSE 'reground.in_language(ARRAY[title, body], lang)' END;
    configs text := CASE corpus WHEN 'tongues' THEN '{english,german}' END;
    ways text[] := ARRAY['indexscan', 'bitmapscan', 'seqscan'];
    way text;
BEGIN
    PERFORM set_config('app.most', most::text, false);
    FOREACH way IN ARRAY ways LOOP
        PERFORM set_config('enable_' || way, CASE WHEN way = cheap THEN 'on' ELSE 'off' END, true);
    END LOOP;
    RETURN QUERY EXECUTE format('SELECT id::text, round((-(%1$s <@> q))::numeric, 9) FROM %2$I, reground.bm25_query(%3$L, %2$L, text_configs => %4$L) AS q WHERE %1$s @@@ q ORDER BY %1$s <@> q, id LIMIT 20', indexed, corpus, q, configs);
    FOREACH way IN ARRAY ways LOOP
        PERFORM set_config('enable_' || way, 'on', true);
    END LOOP;
END
$$;
CREATE TEMPORARY TABLE planned AS SELECT p.cheap, m.most, c.corpus, a.q, s.* FROM unnest(ARRAY['indexscan', 'bitmapscan', 'seqscan']) AS p (cheap), corpora AS c, asked AS a,
    unnest(ARRAY[0, 3, 9]) AS m (most), LATERAL pg_temp.by_sql(c.corpus, a.q, m.most, p.cheap) AS s;
SELECT p.cheap, count(*) > 500 AS many, count(*) FILTER (WHERE b.score IS DISTINCT FROM p.score) AS other_score FROM planned AS p LEFT JOIN best AS b USING (most, corpus, q, chunk_id) GROUP BY 1 ORDER BY 1;
SELECT count(*) AS missing FROM best AS b, unnest(ARRAY['indexscan', 'bitmapscan', 'seqscan']) AS c (cheap) WHERE b.rank <= 20 AND b.score > (SELECT min(w.score) FROM best AS w WHERE (w.most, w.corpus, w.q) = (b.most, b.corpus, b.q) AND w.rank <= 20)
    AND NOT EXISTS (SELECT FROM planned AS p WHERE (p.cheap, p.most, p.corpus, p.q, p.chunk_id) = (c.cheap, b.most, b.corpus, b.q, b.chunk_id));
SET app.most = 0;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM titled WHERE ARRAY[title, body] @@@ reground.bm25_query('oak', 'titled') ORDER BY ARRAY[title, body] <@> reground.bm25_query('oak', 'titled') LIMIT 5;
EXPLAIN (COSTS OFF) SELECT id FROM tongues WHERE reground.in_language(ARRAY[title, body], lang) @@@ reground.bm25_query('oak', 'tongues') ORDER BY reground.in_language(ARRAY[title, body], lang) <@> reground.bm25_query('oak', 'tongues') LIMIT 5;
RESET enable_seqscan;
RESET enable_bitmapscan;

-- Lossy pages of a bitmap recheck the operator before the policy: no notice and no error about a hidden row.
RESET ROLE;
INSERT INTO tongues SELECT n, 9, 'hidden', (ARRAY['german', 'no such configuration', E'a"b', 'simple', ''])[1 + n % 5], repeat(chr(1 + n % 200), 3000) || ' keel' FROM generate_series(10001, 10200) AS n ;
INSERT INTO tongues SELECT n, 0, NULL, NULL, 'keel ' || n FROM generate_series(20001, 24000) AS n;
ANALYZE tongues;
SET ROLE regress_viewer;
SET client_min_messages = notice;
SET enable_indexscan = off;
SET enable_seqscan = off;
SET work_mem = '64kB';
SELECT count(*), max(tenant) FROM tongues WHERE reground.in_language(ARRAY[title, body], lang) @@@ reground.bm25_query('keel', 'tongues');
RESET enable_indexscan;
RESET enable_seqscan;
RESET work_mem;
SET client_min_messages = warning;
RESET ROLE;
DELETE FROM tongues WHERE id > 10000;

-- What the statistics reveal. A score of an own row depends on the hidden rows that contain its words; nothing shows their text, their ids or a figure itself.
CREATE TABLE own_score (step text, score numeric);
GRANT INSERT, SELECT ON own_score TO regress_viewer;
INSERT INTO plain VALUES (700, 0, NULL, NULL, 'zither and lute');
SET ROLE regress_viewer;
INSERT INTO own_score SELECT 'alone', score FROM found('plain', 'zither', 0);
INSERT INTO own_score SELECT 'alone, visible', score FROM found('plain', 'zither', 0, '{"lexical_statistics": "visible"}');
SELECT lexeme, frequency, document_frequency, documents, length, average_length, weight, score > 0 AS scored FROM reground.bm25_explain('zither', reground.bm25_query('zither', 'plain'));
RESET ROLE;
INSERT INTO plain SELECT n, 9, NULL, NULL, 'zither ' || n FROM generate_series(701, 710) AS n;
SET ROLE regress_viewer;
INSERT INTO own_score SELECT 'ten hidden rows', score FROM found('plain', 'zither', 0);
INSERT INTO own_score SELECT 'ten hidden rows, visible', score FROM found('plain', 'zither', 0, '{"lexical_statistics": "visible"}');
SELECT step, round(score, 2) AS score FROM own_score;
SELECT string_agg(chunk_id, ' ') AS found FROM found('plain', 'zither 705', 0);
-- A text of the caller's own is scored with the figures of all rows, so it reveals whether a word occurs in hidden rows.
SELECT reground.bm25_score('lyre', reground.bm25_query('lyre', 'plain')) > reground.bm25_score('zither', reground.bm25_query('zither', 'plain')) AS reveals_a_word;
RESET ROLE;
SELECT document_frequency, documents FROM reground.bm25_explain('zither', reground.bm25_query('zither', 'plain'));

-- The vector branch also finds visible rows behind more hidden ones than a scan of its index reads.
CREATE TABLE near (id integer PRIMARY KEY, tenant integer, body text, embedding vector(2));
INSERT INTO near SELECT n, 9, 'hidden', ARRAY[1, n / 10000.0]::vector FROM generate_series(1, 2000) AS n;
INSERT INTO near SELECT n, 0, 'visible', ARRAY[n - 3000, 1]::vector FROM generate_series(3001, 3005) AS n;
CREATE INDEX ON near USING hnsw (embedding vector_cosine_ops);
CREATE POLICY own ON near USING (tenant <= current_setting('app.most')::int);
ALTER TABLE near ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON near TO regress_viewer;
SELECT reground.add_corpus('near', relation => 'near', chunk_id => 'id', content => 'body', embedding => 'embedding');
SET app.most = 0;
-- pgvector 0.7 has no iterative scans.
DO $$BEGIN PERFORM set_config(name, '1', false) FROM pg_settings WHERE name = 'hnsw.max_scan_tuples'; END$$;
SET ROLE regress_viewer;
BEGIN;
SET LOCAL enable_seqscan = off;
SELECT count(*) AS by_the_index FROM (SELECT FROM near ORDER BY embedding <=> '[1, 0]' LIMIT 5) AS n;
COMMIT;
SELECT string_agg(chunk_id, ' ' ORDER BY vector_rank) FROM unnest(ARRAY['auto', 'index', 'exact']) AS v, reground.search('near', NULL, embedding => '[1, 0]', settings => jsonb_build_object('vector_search', v)) GROUP BY v;
RESET ROLE;
DO $$BEGIN PERFORM set_config(name, reset_val, false) FROM pg_settings WHERE name = 'hnsw.max_scan_tuples'; END$$;
SELECT reground.drop_corpus('near');

-- The owner's choice of the visible statistics holds in every call, and check_corpus says which search runs.
SELECT status, detail, hint FROM reground.check_corpus('plain') WHERE item = 'lexical index';
SELECT reground.alter_corpus('plain', settings => '{"lexical_statistics": "visible"}');
SELECT status, detail, hint FROM reground.check_corpus('plain') WHERE item = 'lexical index';
SET ROLE regress_viewer;
SET reground.lexical_statistics = 'all';
SELECT round(f.score, 2) AS score, f.score = o.score AS same FROM found('plain', 'zither', 0, '{"lexical_statistics": "all"}') AS f, own_score AS o WHERE o.step = 'ten hidden rows, visible';
SELECT * FROM regress.refusal($$SELECT * FROM reground.search('plain', 'zither', settings => '{"lexical_statistics": "none"}')$$);
RESET reground.lexical_statistics;
-- A table without policies uses its index also with these statistics: nothing is hidden.
RESET ROLE;
SELECT reground.alter_corpus('titled', settings => '{"lexical_statistics": "visible"}');
ALTER TABLE titled DISABLE ROW LEVEL SECURITY;
SET ROLE regress_viewer;
BEGIN;
SELECT pg_stat_get_xact_numscans('titled_array_idx'::regclass) AS before \gset
SELECT count(*) FROM reground.search('titled', 'oak', max_results => 3);
SELECT pg_stat_get_xact_numscans('titled_array_idx'::regclass) - :before AS scans;
COMMIT;

-- A large corpus that is read has a warning in each turn, and search has one notice in a session.
RESET ROLE;
INSERT INTO plain SELECT n, 0, NULL, NULL, 'ballast' FROM generate_series(20001, 30000) AS n;
SET ROLE regress_viewer;
SET client_min_messages = notice;
SELECT count(*) FROM reground.search('plain', 'zither');
SELECT count(*) FROM reground.search('plain', 'zither');
SET client_min_messages = warning;
SELECT count(*) FROM reground.begin_turn('hidden-1', 'zither?', 'plain');
SELECT warnings FROM reground.turns WHERE turn_id = regress.turn('hidden-1');
RESET ROLE;
SELECT reground.drop_corpus(corpus) FROM corpora;
DROP OWNED BY regress_viewer;
DROP ROLE regress_viewer;
