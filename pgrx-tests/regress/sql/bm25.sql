-- The access method reground_bm25, compared with BM25 in plain SQL.
\c -
CREATE SCHEMA bm25;
SET search_path = bm25, public;
SET client_min_messages = warning;

-- Sentences from a small vocabulary in which some words are frequent; computed from a number.
CREATE FUNCTION word(n integer) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT substr(translate(md5(n::text), '0123456789', 'ghijklmnop'), 1, 3 + n % 6) $$;
CREATE FUNCTION sentence(n integer) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT string_agg(word((300 / (1 + (hashint4(n * 97 + w) & 1023)::integer % 300))), ' ') FROM generate_series(1, 1 + n % 61) AS w
$$;
CREATE TABLE docs (id integer PRIMARY KEY, body text);
INSERT INTO docs SELECT n, sentence(n) FROM generate_series(1, 2000) AS n;
INSERT INTO docs VALUES (2001, NULL), (2002, ''), (2003, 'the of and'), (2004, repeat('shoe ', 5000));
CREATE INDEX docs_body ON docs USING reground_bm25 (body);

-- The oracle: lengths rounded as the index stores them, statistics of all rows with a text.
CREATE FUNCTION kept(length bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN length < 40 THEN length ELSE 24 + (((length - 24) >> s) << s) END FROM (SELECT greatest(floor(log(2, greatest(length - 24, 1)))::integer - 3, 0) AS s) AS x
$$;
CREATE VIEW words AS
    SELECT d.id, w.lexeme, sum(1) AS tf FROM docs AS d, ts_parse('default', d.body) AS t, unnest(ts_lexize('english_stem', t.token)) AS w (lexeme)
    WHERE t.tokid = 1 GROUP BY d.id, w.lexeme;
CREATE MATERIALIZED VIEW counted AS SELECT * FROM words;
CREATE MATERIALIZED VIEW lengths AS SELECT d.id, kept(coalesce(t.length, 0)) AS length
    FROM docs AS d LEFT JOIN (SELECT id, sum(tf)::bigint AS length FROM counted GROUP BY id) AS t USING (id) WHERE d.body IS NOT NULL;
CREATE INDEX ON counted (lexeme);
CREATE FUNCTION oracle(query text) RETURNS TABLE (id integer, score double precision) LANGUAGE sql STABLE AS $$
    WITH total AS (SELECT count(*)::double precision AS n, sum(length)::double precision / count(*) AS average FROM lengths),
    asked AS (SELECT w.lexeme, count(*) AS qf FROM ts_parse('default', query) AS t, unnest(ts_lexize('english_stem', t.token)) AS w (lexeme) GROUP BY w.lexeme),
    weighed AS (SELECT a.lexeme, a.qf * ln(1 + (n - df + 0.5) / (df + 0.5)) AS weight FROM asked AS a, total, LATERAL (SELECT count(*) AS df FROM counted AS c WHERE c.lexeme = a.lexeme) AS f)
    SELECT c.id, sum(weight * tf / (tf + 1.2 * (0.25 + 0.75 * l.length / average)))::double precision
    FROM weighed JOIN counted AS c USING (lexeme) JOIN lengths AS l USING (id), total GROUP BY c.id
$$;
-- OFFSET 0: the query is made once, not for each row.
CREATE FUNCTION found(query text) RETURNS TABLE (id integer, score double precision) LANGUAGE sql STABLE AS $$
    SELECT d.id, reground.bm25_score(d.body, a.asked) FROM (SELECT reground.bm25_query(query, 'docs') AS asked OFFSET 0) AS a, docs AS d WHERE d.body @@@ a.asked
$$;
CREATE FUNCTION best(query text, most integer) RETURNS TABLE (id integer, score double precision) LANGUAGE sql STABLE AS $$
    SELECT d.id, -(d.body <@> reground.bm25_query(query, 'docs')) FROM docs AS d ORDER BY d.body <@> reground.bm25_query(query, 'docs') LIMIT most
$$;
-- Queries of one to nine words.
CREATE VIEW queries AS SELECT q, (SELECT string_agg(word(1 + (hashint4(q * 31 + w) & 255)::integer), ' ') FROM generate_series(1, 1 + q % 9) AS w) AS query FROM generate_series(1, 60) AS q;
-- Queries whose rows or scores differ from the oracle. The top rows come from an index scan, the first comparison from scores.
CREATE FUNCTION wrong() RETURNS TABLE (what text, count bigint) LANGUAGE plpgsql AS $$
BEGIN
    REFRESH MATERIALIZED VIEW counted;
    REFRESH MATERIALIZED VIEW lengths;
    ANALYZE counted, lengths;
    CREATE TEMPORARY TABLE expected ON COMMIT DROP AS SELECT q.q, o.id, o.score FROM queries AS q, LATERAL oracle(q.query) AS o;
    CREATE TEMPORARY TABLE given ON COMMIT DROP AS SELECT q.q, f.id, f.score FROM queries AS q, LATERAL found(q.query) AS f;
    RETURN QUERY SELECT 'rows or scores', count(*) FROM expected AS e FULL JOIN given AS g USING (q, id)
        WHERE e.score IS NULL OR g.score IS NULL OR abs(e.score - g.score) > 1e-9 * e.score;
    RETURN QUERY SELECT 'best ' || most, count(*) FROM queries AS q, unnest(ARRAY[1, 10, 100]) AS most,
        LATERAL (SELECT array_agg(round(score::numeric, 8) ORDER BY score DESC) AS scores FROM (SELECT e.score FROM expected AS e WHERE e.q = q.q ORDER BY e.score DESC LIMIT most) AS o) AS o,
        LATERAL (SELECT array_agg(round(score::numeric, 8)) AS scores FROM best(q.query, most)) AS b
        WHERE o.scores IS DISTINCT FROM b.scores GROUP BY most;
    RETURN QUERY SELECT 'faults', count(*) FROM reground.bm25_check('docs_body', heapallindexed => true);
    RETURN QUERY SELECT 'compared, of 5000', least(count(*), 5000) FROM expected;
    DROP TABLE expected, given;
END
$$;
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM docs ORDER BY body <@> reground.bm25_query('gkb', 'docs') LIMIT 5;
EXPLAIN (COSTS OFF) SELECT id FROM docs WHERE body @@@ reground.bm25_query('gkb', 'docs') ORDER BY body <@> reground.bm25_query('gkb', 'docs') LIMIT 5;
SELECT * FROM wrong();
SELECT round(max(score)::numeric, 6) AS shoes FROM best('shoes', 1);

-- Expansion terms: each adds its weight to the query, and of 60 terms only the 40 with the highest possible score count.
CREATE VIEW lent AS SELECT lexeme, (1 + hashint4(ascii(lexeme) * 31 + length(lexeme)) & 63)::double precision / 100 AS weight
    FROM (SELECT DISTINCT (ts_lexize('english_stem', word(w)))[1] AS lexeme FROM generate_series(1, 60) AS w) AS w WHERE lexeme IS NOT NULL;
CREATE FUNCTION asked(query text) RETURNS reground.bm25query LANGUAGE sql STABLE AS $$
    SELECT reground.bm25_query(query, 'docs', (SELECT jsonb_object_agg(lexeme, weight) FROM lent))
$$;
CREATE FUNCTION oracle_borrowing(query text) RETURNS TABLE (id integer, score double precision) LANGUAGE sql STABLE AS $$
    WITH total AS (SELECT count(*)::double precision AS n, sum(length)::double precision / count(*) AS average FROM lengths),
    idf AS (SELECT lexeme, ln(1 + (n - count(*) + 0.5) / (count(*) + 0.5)) AS idf FROM counted, total GROUP BY lexeme, n),
    asked AS (
        SELECT w.lexeme, count(*)::double precision AS weight FROM ts_parse('default', query) AS t, unnest(ts_lexize('english_stem', t.token)) AS w (lexeme) GROUP BY w.lexeme
        UNION ALL (SELECT lexeme, weight FROM lent JOIN idf USING (lexeme) ORDER BY weight * idf DESC, lexeme COLLATE "C" LIMIT 40))
    SELECT c.id, sum(weight * idf * tf / (tf + 1.2 * (0.25 + 0.75 * l.length / average)))
    FROM asked JOIN idf USING (lexeme) JOIN counted AS c USING (lexeme) JOIN lengths AS l USING (id), total GROUP BY c.id
$$;
SELECT count(*) > 40 AS lent_more_than_count FROM lent;
SELECT count(*) AS wrong FROM queries AS q, LATERAL (SELECT asked(q.query) AS asked OFFSET 0) AS a, LATERAL (
    SELECT FROM (SELECT id, score FROM oracle_borrowing(q.query)) AS e
        FULL JOIN (SELECT d.id, reground.bm25_score(d.body, a.asked) AS score FROM docs AS d WHERE d.body @@@ a.asked) AS g USING (id)
    WHERE e.score IS NULL OR g.score IS NULL OR abs(e.score - g.score) > 1e-9 * e.score) AS x WHERE q.q <= 20;
SELECT count(*) AS wrong FROM queries AS q, LATERAL (SELECT asked(q.query) AS asked OFFSET 0) AS a,
    LATERAL (SELECT array_agg(round(score::numeric, 8) ORDER BY score DESC) AS scores FROM (SELECT score FROM oracle_borrowing(q.query) ORDER BY score DESC LIMIT 10) AS o) AS o,
    LATERAL (SELECT array_agg(round(score::numeric, 8)) AS scores FROM (SELECT -(body <@> a.asked) AS score FROM docs ORDER BY body <@> a.asked LIMIT 10) AS b) AS b
    WHERE q.q <= 20 AND o.scores IS DISTINCT FROM b.scores;
EXPLAIN (COSTS OFF) SELECT id FROM docs ORDER BY body <@> reground.bm25_query('gkb', 'docs', '{"shoe": 0.5}') LIMIT 5;
SELECT lexeme, query_frequency, expansion_weight, frequency, round((weight / ln(1 + (documents - document_frequency + 0.5) / (document_frequency + 0.5)))::numeric, 6) AS counts
FROM reground.bm25_explain('A shoe.', reground.bm25_query('shoes', 'docs', '{"shoe": 0.5, "sock": 2}'));
SELECT reground.bm25_query('red: shoes', 'docs', '{"a \"b\": c": 0.25, "boot": 1}') AS query;
SELECT ('+{"a \"b\": c":0.25,"boot":1.0} docs: red: shoes'::reground.bm25query)::text AS again;
SELECT reground.bm25_query(NULL, 'docs') IS NULL AS nothing, reground.bm25_query('red', 'docs', '{}') AS plain;
SELECT reground.bm25_query('red', 'docs', '[1]');
SELECT reground.bm25_query('red', 'docs', '{"boot": 0}');
SELECT reground.bm25_query('red', 'docs', '{"boot": "much"}');
SELECT reground.bm25_query('red', 'docs', (SELECT jsonb_object_agg(n, 1) FROM generate_series(1, 1001) AS n));
SELECT '+{"boot": 1 docs: red'::reground.bm25query;
SELECT '+7 docs: red'::reground.bm25query;

-- All plans return the same rows and scores.
CREATE FUNCTION by_plan(index text, bitmap text, sequential text) RETURNS TABLE (rows bigint, digest text) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('enable_indexscan', index, true), set_config('enable_bitmapscan', bitmap, true), set_config('enable_seqscan', sequential, true);
    RETURN QUERY SELECT count(*), md5(string_agg(x.id || ' ' || x.score, ',' ORDER BY q.q, x.score DESC, x.id)) FROM queries AS q,
        LATERAL (SELECT d.id, d.body <@> reground.bm25_query(q.query, 'docs') AS score FROM docs AS d WHERE d.body @@@ reground.bm25_query(q.query, 'docs')
                 ORDER BY d.body <@> reground.bm25_query(q.query, 'docs'), d.id LIMIT 50) AS x;
END
$$;
SELECT count(*) > 1000 AS many, count(DISTINCT digest) AS answers FROM (VALUES ('on', 'off', 'off'), ('off', 'on', 'off'), ('off', 'off', 'on')) AS p (i, b, s), LATERAL by_plan(i, b, s), generate_series(1, rows);

-- Inserts, updates and deletes. Removed rows count until VACUUM, so the oracle compares after a merge.
INSERT INTO docs SELECT n, sentence(n) FROM generate_series(3001, 9000) AS n;
SELECT * FROM wrong();
-- A build with less memory than its words need.
SET maintenance_work_mem = '1MB';
REINDEX INDEX docs_body;
RESET maintenance_work_mem;
SELECT * FROM wrong();
UPDATE docs SET body = sentence(id + 7) WHERE id % 5 = 0;
DELETE FROM docs WHERE id % 7 = 0;
VACUUM (FREEZE, INDEX_CLEANUP on) docs;
SELECT reground.bm25_merge('docs_body');
SELECT * FROM wrong();
SELECT segments, documents = (SELECT count(*) FROM docs WHERE body IS NOT NULL) AS all_there, removed FROM reground.bm25_indexes WHERE index = 'bm25.docs_body'::regclass;
SELECT count(*) FROM reground.bm25_segments('docs_body');

-- New options take effect with REINDEX only; bm25_check reports the difference.
ALTER INDEX docs_body SET (k1 = 0.9, b = 0.4, text_config = german);
SELECT * FROM reground.bm25_check('docs_body');
ALTER INDEX docs_body RESET (k1, b, text_config);
SELECT * FROM reground.bm25_check('docs_body');

-- A row is deleted and vacuumed, and another row takes its place: the old word does not find it.
INSERT INTO docs VALUES (10001, 'xylophone');
SELECT id FROM best('xylophone', 5);
DELETE FROM docs WHERE id = 10001;
VACUUM (FREEZE, INDEX_CLEANUP on) docs;
INSERT INTO docs SELECT n, 'marimba' FROM generate_series(10002, 10100) AS n;
SELECT count(*) FROM best('xylophone', 5);
SELECT count(*) FROM best('marimba', 500);

-- Two indexes on one column: a query names its index, whichever index the planner lists first.
CREATE TABLE two (id integer, body text);
INSERT INTO two SELECT n, 'the cars number ' || n FROM generate_series(1, 2000) AS n;
INSERT INTO two VALUES (0, 'a car');
CREATE INDEX two_stemmed ON two USING reground_bm25 (body);
CREATE INDEX two_plain ON two USING reground_bm25 (body) WITH (text_config = simple);
ANALYZE two;
SELECT count(*) FROM two WHERE body @@@ reground.bm25_query('car', 'two_stemmed');
SELECT count(*) FROM two WHERE body @@@ reground.bm25_query('car', 'two_plain');
EXPLAIN (COSTS OFF) SELECT id FROM two ORDER BY body <@> reground.bm25_query('car', 'two_stemmed') LIMIT 2;
EXPLAIN (COSTS OFF) SELECT id FROM two WHERE body @@@ reground.bm25_query('car', 'two_plain');
SELECT id FROM two ORDER BY body <@> reground.bm25_query('car', 'two') LIMIT 2;

-- Rows of a rolled-back transaction or savepoint are not found.
BEGIN;
INSERT INTO docs VALUES (20001, 'glockenspiel one');
SAVEPOINT s;
INSERT INTO docs VALUES (20002, 'glockenspiel two');
INSERT INTO docs VALUES (20002, 'glockenspiel three');
ROLLBACK TO s;
SELECT id FROM best('glockenspiel', 5);
ROLLBACK;
SELECT count(*) FROM best('glockenspiel', 5);

-- Two scans in one statement, a rescan for each row, a generic plan, PL/pgSQL, and a cursor that is read in steps.
SELECT a.id = b.id AS same FROM (SELECT id FROM docs ORDER BY body <@> reground.bm25_query('marimba', 'docs') LIMIT 1) AS a,
    (SELECT id FROM docs ORDER BY body <@> reground.bm25_query('shoe', 'docs') LIMIT 1) AS b;
SELECT q.q, b.id FROM (VALUES (1, 'shoe'), (2, 'xylophone'), (3, 'shoe'), (4, NULL)) AS q (q, query)
    LEFT JOIN LATERAL (SELECT id FROM docs ORDER BY body <@> reground.bm25_query(q.query, 'docs') LIMIT 1) AS b ON true ORDER BY 1;
SET plan_cache_mode = force_generic_plan;
PREPARE ask (text) AS SELECT id FROM docs ORDER BY body <@> reground.bm25_query($1, 'docs') LIMIT 2;
EXPLAIN (COSTS OFF) EXECUTE ask ('shoe');
EXECUTE ask ('shoe');
EXECUTE ask ('nothing of the kind');
RESET plan_cache_mode;
-- A scan finds the rows of a known LIMIT at once. Under a generic plan, which does not know the query, it first searches again after
-- its first rows, and then finds as many rows at once as the statement has fetched before.
CREATE FUNCTION blocks(statement text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ' || statement INTO plan;
    RETURN (plan #>> '{0,Plan,Shared Hit Blocks}')::bigint + (plan #>> '{0,Plan,Shared Read Blocks}')::bigint;
END
$$;
PREPARE many (text) AS SELECT id FROM docs ORDER BY body <@> reground.bm25_query($1, 'docs') LIMIT 300;
SELECT word AS frequent, ndoc > 500 AS is_frequent FROM ts_stat('SELECT to_tsvector(''english'', body) FROM docs') ORDER BY ndoc DESC, word LIMIT 1 \gset
SELECT word AS other, ndoc > 500 AS is_too FROM ts_stat('SELECT to_tsvector(''english'', body) FROM docs') ORDER BY ndoc DESC, word OFFSET 1 LIMIT 1 \gset
SET plan_cache_mode = force_generic_plan;
SELECT :'is_frequent' AS is_frequent, :'is_too' AS is_too, blocks(format('EXECUTE many (%L)', :'frequent')) > 0 AS is_warm;
-- The word is in a setting, so that both statements have the same text.
SET bm25.word = :'frequent';
SELECT blocks(format('EXECUTE many (%L)', current_setting('bm25.word'))) AS first \gset
SET bm25.word = :'other';
SELECT blocks(format('EXECUTE many (%L)', current_setting('bm25.word'))) AS first \gset again_
SET plan_cache_mode = force_custom_plan;
SELECT blocks(format('EXECUTE many (%L)', :'frequent')) AS custom, blocks(format('EXECUTE many (%L)', :'other')) AS custom_other \gset
RESET plan_cache_mode;
SELECT :custom < :first AS searches_once, :again_first = :custom_other AS again_too;
DEALLOCATE many;
DO $$ DECLARE n integer := 0; r record; BEGIN FOR r IN SELECT id FROM docs ORDER BY body <@> reground.bm25_query('marimba', 'docs') LOOP n := n + 1; END LOOP; RAISE WARNING '% marimbas', n; END $$;
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM docs ORDER BY body <@> reground.bm25_query('marimba', 'docs');
FETCH 2 FROM c;
INSERT INTO docs SELECT n, 'marimba marimba' FROM generate_series(11001, 12000) AS n;
MOVE FORWARD ALL FROM c;
ROLLBACK;

-- A document of several megabytes, with more words than a page holds.
INSERT INTO docs SELECT 30001, string_agg('huge' || n, ' ') || ' hugeness hugeness' FROM generate_series(1, 300000) AS n;
SELECT id FROM best('huge299999', 5);
SELECT frequency, document_frequency FROM docs AS d, reground.bm25_explain(d.body, reground.bm25_query('hugeness', 'docs')) WHERE d.id = 30001;
SELECT item, problem FROM reground.bm25_check('docs_body', true);
DELETE FROM docs WHERE id = 30001;

-- Row-level security hides rows, and the index is still used. Scores use the statistics of all rows, as documented.
CREATE TABLE held (id integer PRIMARY KEY, tenant text, body text);
INSERT INTO held SELECT n, CASE WHEN n % 2 = 0 THEN 'even' ELSE 'odd' END, 'note ' || n || CASE WHEN n % 2 = 1 THEN ' secret' ELSE '' END FROM generate_series(1, 400) AS n;
CREATE INDEX held_body ON held USING reground_bm25 (body);
ALTER TABLE held ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON held USING (tenant = current_setting('app.tenant', true));
CREATE ROLE regress_even NOLOGIN IN ROLE reground_user;
GRANT USAGE ON SCHEMA bm25 TO regress_even;
GRANT SELECT ON held TO regress_even;
SET app.tenant = 'even';
SET ROLE regress_even;
EXPLAIN (COSTS OFF) SELECT id FROM held WHERE body @@@ reground.bm25_query('note', 'held') ORDER BY body <@> reground.bm25_query('note', 'held') LIMIT 5;
SELECT count(*) FROM held WHERE body @@@ reground.bm25_query('secret', 'held');
-- The operator is LEAKPROOF: it may read hidden rows first, and reveals nothing about them.
RESET ROLE;
INSERT INTO held VALUES (1001, 'odd', repeat('x', 5000) || ' secret');
SET ROLE regress_even;
SET client_min_messages = notice;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SELECT count(*) FROM held WHERE body @@@ reground.bm25_query('secret', 'held');
RESET enable_indexscan;
RESET enable_bitmapscan;
SET client_min_messages = warning;
SELECT count(*), bool_and(id % 2 = 0) AS own FROM (SELECT id FROM held ORDER BY body <@> reground.bm25_query('note secret', 'held') LIMIT 300) AS x;
RESET ROLE;
DROP OWNED BY regress_even;
DROP ROLE regress_even;

-- The words of a text are those of to_tsvector, with the same frequencies, for all kinds of tokens: a configuration whose words are cached,
-- one with a dictionary of phrases, one with a filtering dictionary, one of another language.
CREATE TEXT SEARCH DICTIONARY synonyms (TEMPLATE = pg_catalog.thesaurus, DictFile = thesaurus_sample, Dictionary = pg_catalog.english_stem);
CREATE TEXT SEARCH CONFIGURATION several (COPY = pg_catalog.english);
ALTER TEXT SEARCH CONFIGURATION several ALTER MAPPING FOR asciiword WITH synonyms, english_stem;
CREATE TABLE texts (id serial, body text);
INSERT INTO texts (body) VALUES ('See https://example.org/a/b?c=d&e=f#g or mail a.b-c@example.co.uk, host db1.example.org:5432, /usr/local/bin/psql -U postgres'),
    ('well-known state-of-the-art e-mail pre-2019 2019-2020 3.14 -5 +7 1e10 6.02e23 0x1f 1,000.50 v2.0.1 C++ C# .NET AT&T'),
    ('<p class="x">Bold <b>tags</b> &amp; entities &#8364;</p> <!-- gone -->'), ('rock''n''roll can''t won''t O''Brien''s ''quoted'' "double"'),
    ('Größe Straße ÉTÉ naïve café Ångström ΣΊΣΥΦΟΣ Москва мосты 東京都 京都 日本語のテキスト ภาษาไทย हिन्दी 🦓 zebra🦓zebra'),
    ('one supernovae and two supernovae stars, crab nebulae; booking tickets for a supernova'), ('a'), ('the of and'), (''), (repeat('again and again ', 300)),
    (repeat('y', 2100) || ' after'), ('running runner runs ran RUN Run'), ('tab	tab' || chr(10) || chr(13) || 'line' || chr(160) || 'space');
INSERT INTO texts (body) SELECT body FROM docs WHERE id BETWEEN 1 AND 200;
CREATE FUNCTION differ(config text) RETURNS TABLE (config_name text, texts bigint, differ bigint) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE INDEX texts_body ON texts USING reground_bm25 (body) WITH (text_config = %L)', config);
    RETURN QUERY SELECT config, count(*), count(*) FILTER (WHERE w.words IS DISTINCT FROM v.words) FROM texts AS t,
        LATERAL (SELECT string_agg(e.lexeme || ' ' || least(e.frequency, 255), ',' ORDER BY e.lexeme COLLATE "C") AS words FROM reground.bm25_explain(t.body, reground.bm25_query(t.body, 'texts')) AS e) AS w,
        LATERAL (SELECT string_agg(u.lexeme || ' ' || least(cardinality(u.positions), 255), ',' ORDER BY u.lexeme COLLATE "C") AS words FROM unnest(to_tsvector(config::regconfig, t.body)) AS u) AS v;
    DROP INDEX texts_body;
END
$$;
SELECT d.* FROM unnest(ARRAY['pg_catalog.english', 'pg_catalog.simple', 'pg_catalog.german', 'pg_catalog.russian', 'bm25.several']) AS c, LATERAL differ(c) AS d;

-- The condition and the order use different queries: rows without the words of the order come last, by every plan. Two orders are sorted.
SELECT count(*) AS marimbas, count(*) FILTER (WHERE score < 0) AS in_order FROM (SELECT body <@> reground.bm25_query('shoe', 'docs') AS score FROM docs
    WHERE body @@@ reground.bm25_query('marimba', 'docs') ORDER BY body <@> reground.bm25_query('shoe', 'docs') LIMIT 1000) AS x;
SELECT count(*) AS both_orders FROM (SELECT id FROM docs WHERE body @@@ reground.bm25_query('marimba', 'docs') ORDER BY body <@> reground.bm25_query('marimba', 'docs'), body <@> reground.bm25_query('shoe', 'docs') LIMIT 5) AS x;
-- A cursor keeps the statistics of its start.
BEGIN;
DECLARE c CURSOR FOR SELECT round((left('a marimba', id) <@> reground.bm25_query('marimba', 'docs'))::numeric, 6) AS score FROM docs WHERE id BETWEEN 10002 AND 10100 AND body @@@ reground.bm25_query('marimba', 'docs');
FETCH 1 FROM c;
INSERT INTO docs SELECT n, 'a row that changes the figures' FROM generate_series(40001, 42000) AS n;
FETCH 1 FROM c;
ROLLBACK;

-- The life cycle of an index.
CREATE TABLE lives (gone integer, id serial, "a body" text);
CREATE INDEX "An index" ON lives USING reground_bm25 ("a body") WITH (k1 = 0.9, b = 0.4, text_config = 'simple');
SELECT count(*) FROM (SELECT id FROM lives ORDER BY "a body" <@> reground.bm25_query('early', 'lives') LIMIT 5) AS x;
INSERT INTO lives ("a body") VALUES ('early bird'), ('the late bird');
ALTER TABLE lives DROP COLUMN gone;
INSERT INTO lives ("a body") VALUES ('the early worm');
SELECT "a body" FROM lives ORDER BY "a body" <@> reground.bm25_query('the early', 'lives') LIMIT 5;
SELECT lexeme, document_frequency, documents, round(average_length::numeric, 4) AS average_length, round(score::numeric, 6) AS score FROM reground.bm25_explain('the early worm', reground.bm25_query('the early', 'lives'));
REINDEX INDEX "An index";
REINDEX INDEX CONCURRENTLY "An index";
VACUUM FULL lives;
CREATE INDEX CONCURRENTLY second ON lives USING reground_bm25 (lower("a body")) WHERE id > 1;
SELECT "a body" FROM lives WHERE id > 1 ORDER BY lower("a body") <@> reground.bm25_query('WORM', 'second') LIMIT 5;
SELECT "a body" FROM lives ORDER BY "a body" <@> reground.bm25_query('worm', '"An index"') LIMIT 5;
SELECT i, f.* FROM unnest(ARRAY['"An index"', 'second']) AS i, reground.bm25_check(i::regclass, true) AS f;
SELECT * FROM regress.refusal($$SELECT id FROM bm25.lives ORDER BY "a body" <@> reground.bm25_query('worm', 'bm25.lives')$$);
-- A query of another index is computed row by row. A plan that was made before the index was named returns an error.
SELECT count(*) FROM (SELECT id FROM bm25.lives ORDER BY "a body" <@> reground.bm25_query('worm', 'bm25.docs')) AS d;
SELECT id FROM bm25.lives WHERE "a body" @@@ reground.bm25_query('marimba worm', 'bm25.docs') ORDER BY id;
CREATE INDEX part ON bm25.lives USING reground_bm25 (("a body" || '')) WHERE id > 2;
SELECT id FROM bm25.lives WHERE id > 2 ORDER BY id;
DROP INDEX part;
SELECT * FROM regress.refusal($$EXPLAIN SELECT id FROM bm25.lives WHERE "a body" @@@ '4000000000: worm'::reground.bm25query$$);
SELECT * FROM regress.refusal($$SELECT 'worm' <@> '4000000000: worm'::reground.bm25query$$);
SET plan_cache_mode = force_generic_plan;
PREPARE by_name(regclass) AS SELECT id FROM bm25.lives ORDER BY "a body" <@> reground.bm25_query('worm', $1) LIMIT 1;
SELECT * FROM regress.refusal($$EXECUTE by_name('bm25.docs')$$);
RESET plan_cache_mode;
SELECT * FROM regress.refusal($$SELECT 'worm' <@> reground.bm25_query('worm', 'bm25.counted')$$);
SELECT * FROM regress.refusal($$SELECT 'worm' <@> reground.bm25_query('worm', 'pg_class_oid_index')$$);
SELECT * FROM regress.refusal($$CREATE INDEX ON bm25.lives USING reground_bm25 ("a body") WITH (b = 2)$$);
SELECT * FROM regress.refusal($$CREATE INDEX ON bm25.lives USING reground_bm25 ("a body") WITH (text_config = 'klingon')$$);
SELECT * FROM regress.refusal($$CREATE INDEX ON bm25.lives USING reground_bm25 (id)$$);
SELECT * FROM regress.refusal($$CREATE UNIQUE INDEX ON bm25.lives USING reground_bm25 ("a body")$$);
SELECT * FROM regress.refusal($$SELECT reground.bm25_merge('bm25.docs_pkey')$$);
SELECT * FROM regress.refusal($$SELECT 'no colon'::reground.bm25query$$);
SELECT 'bm25.docs: red: shoes'::reground.bm25query, reground.bm25_query('red', '"An index"');
CREATE UNLOGGED TABLE brief AS SELECT 1 AS id, 'a word'::text AS body;
CREATE INDEX ON brief USING reground_bm25 (body);
CREATE TEMPORARY TABLE fleeting AS SELECT * FROM brief;
CREATE INDEX ON fleeting USING reground_bm25 (body);
INSERT INTO brief VALUES (2, 'two words');
INSERT INTO fleeting VALUES (2, 'two words');
SELECT b.id, f.id FROM (SELECT id FROM brief ORDER BY body <@> reground.bm25_query('two', 'brief') LIMIT 1) AS b, (SELECT id FROM fleeting ORDER BY body <@> reground.bm25_query('two', 'fleeting') LIMIT 1) AS f;

-- Partitions: one ranking, with the statistics of all leaves.
CREATE TABLE parts (id integer, body text) PARTITION BY RANGE (id);
CREATE TABLE parts_low PARTITION OF parts FOR VALUES FROM (0) TO (1000);
CREATE TABLE parts_high (surplus text, body text, id integer);
ALTER TABLE parts_high DROP COLUMN surplus;
ALTER TABLE parts ATTACH PARTITION parts_high FOR VALUES FROM (1000) TO (100000);
CREATE INDEX parts_body ON parts USING reground_bm25 (body);
INSERT INTO parts SELECT id, body FROM docs;
EXPLAIN (COSTS OFF) SELECT id FROM parts ORDER BY body <@> reground.bm25_query('marimba', 'parts') LIMIT 3;
VACUUM (FREEZE, INDEX_CLEANUP on) docs;
SELECT reground.bm25_merge('docs_body');
SELECT count(*) AS wrong FROM queries AS q,
    LATERAL (SELECT array_agg(score) AS scores FROM (SELECT p.body <@> reground.bm25_query(q.query, 'parts') AS score FROM parts AS p ORDER BY p.body <@> reground.bm25_query(q.query, 'parts') LIMIT 20) AS x) AS p,
    LATERAL (SELECT array_agg(score) AS scores FROM (SELECT d.body <@> reground.bm25_query(q.query, 'docs') AS score FROM docs AS d ORDER BY d.body <@> reground.bm25_query(q.query, 'docs') LIMIT 20) AS x) AS d
    WHERE (SELECT max(abs(a - b)) FROM unnest(p.scores, d.scores) AS u (a, b)) > 1e-9;
SELECT documents, documents = (SELECT count(*) FROM parts WHERE body IS NOT NULL) AS of_all FROM reground.bm25_explain('marimba', reground.bm25_query('marimba', 'parts'));

-- A role that may not read the table learns nothing about it, by any name.
CREATE ROLE regress_reader NOLOGIN IN ROLE reground_user, reground_admin;
GRANT USAGE ON SCHEMA bm25, regress TO regress_reader;
SET ROLE regress_reader;
SELECT * FROM regress.refusal($$SELECT 'shoe' <@> reground.bm25_query('shoe', 'bm25.docs')$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.bm25_explain('shoe', reground.bm25_query('shoe', 'bm25.docs_body'))$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.bm25_segments('bm25.docs_body')$$);
RESET ROLE;
GRANT SELECT (body) ON docs TO regress_reader;
SET ROLE regress_reader;
SELECT round(('shoe' <@> reground.bm25_query('shoe', 'docs'))::numeric, 3) < 0 AS told;
RESET ROLE;
DROP OWNED BY regress_reader;
DROP ROLE regress_reader;

-- The pages of an index whose rows are gone are reused when a later transaction has ended.
CREATE TABLE refilled AS SELECT n AS id, md5(n::text) || ' ' || md5((n + 1)::text) AS body FROM generate_series(1, 20000) AS n;
CREATE INDEX refilled_body ON refilled USING reground_bm25 (body);
SELECT pg_relation_size('refilled_body') AS before \gset
DELETE FROM refilled;
VACUUM (INDEX_CLEANUP on) refilled;
DO $$ BEGIN
    FOR part IN 0..19 LOOP
        INSERT INTO refilled SELECT n, md5(n::text) || ' ' || md5((n + 1)::text) FROM generate_series(part * 1000 + 1, part * 1000 + 1000) AS n;
        COMMIT;
    END LOOP;
END $$;
VACUUM (INDEX_CLEANUP on) refilled;
SELECT pg_relation_size('refilled_body') < :before * 1.6 AS is_small, (SELECT count(*) FROM reground.bm25_check('refilled_body', heapallindexed => true)) AS faults;
-- VACUUM runs in parallel with two other large indexes.
CREATE INDEX refilled_id ON refilled (id);
CREATE INDEX refilled_md5 ON refilled (body);
SET min_parallel_index_scan_size = 0;
DELETE FROM refilled WHERE id > 100;
VACUUM (INDEX_CLEANUP on, PARALLEL 2) refilled;
VACUUM (INDEX_CLEANUP on, PARALLEL 2) refilled;
RESET min_parallel_index_scan_size;
SELECT count(*) AS faults FROM reground.bm25_check('refilled_body', heapallindexed => true);
DROP TABLE refilled;
