-- Compares searches whose callers see a part of the rows with plain SQL over the same indexes under the same conditions. Prints a report
-- in Markdown. psql -X -v rows=100000 -f visible_rows.sql URI, as a superuser; it replaces the schema visible_rows.
-- scripts/bench-visible-rows.sh runs it.
\set ON_ERROR_STOP on
\if :{?rows} \else \set rows 100000 \endif
\if :{?runs} \else \set runs 5 \endif
SET client_min_messages = error;
DROP SCHEMA IF EXISTS visible_rows CASCADE;
CREATE SCHEMA visible_rows;
SET search_path = visible_rows, public;
SELECT setseed(0.25) \g /dev/null
-- Words by Zipf's law, in titles of 4 words and texts of 30 to 90.
CREATE FUNCTION words(count integer) RETURNS text LANGUAGE sql VOLATILE AS
$$ SELECT string_agg('word' || floor(exp(random() * 10.3))::int, ' ') FROM generate_series(1, count) $$;
CREATE FUNCTION vector_of(row_no integer) RETURNS vector LANGUAGE sql VOLATILE AS
$$ SELECT array_agg(random() - 0.5 + row_no * 0)::vector(64) FROM generate_series(1, 64) $$;
-- The group "small" reads 1 % of the rows, "medium" 10 %, "all" all.
CREATE TABLE passages AS SELECT n AS id, (ARRAY['english', 'german', 'simple'])[1 + n % 3] AS lang, words(4 + n * 0) AS title,
    words(30 + n * 7919 % 61) AS body, vector_of(n)::vector(64) AS embedding,
    ARRAY['all', CASE WHEN n % 100 = 0 THEN 'small' WHEN n % 10 = 5 THEN 'medium' ELSE 'user' || n % 500 END] AS readers
    FROM generate_series(1, :rows) AS n;
UPDATE passages SET readers = readers || '{medium}' WHERE 'small' = ANY (readers);
ALTER TABLE passages ADD PRIMARY KEY (id);
-- The same rows in several languages with titles.
CREATE TABLE tongues AS TABLE passages;
ALTER TABLE tongues ADD PRIMARY KEY (id);
-- The same rows without policies.
CREATE TABLE plain AS TABLE passages;
ALTER TABLE plain ADD PRIMARY KEY (id);
CREATE INDEX passages_body ON passages USING reground_bm25 (body);
CREATE INDEX tongues_body ON tongues USING reground_bm25 (reground.in_language(ARRAY[title, body], lang)) WITH (weights = '2,1');
CREATE INDEX plain_body ON plain USING reground_bm25 (body);
CREATE INDEX ON passages USING hnsw (embedding vector_cosine_ops);
CREATE INDEX ON plain USING hnsw (embedding vector_cosine_ops);
CREATE INDEX ON passages USING gin (readers);
CREATE INDEX ON plain USING gin (readers);
CREATE INDEX ON tongues USING gin (readers);
CREATE INDEX ON tongues (lang);
VACUUM ANALYZE;
SELECT reground.drop_corpus(corpus) FROM reground.corpora WHERE corpus LIKE 'visible_rows_%' \g /dev/null
SELECT reground.add_corpus('visible_rows_policy', relation => 'passages', chunk_id => 'id', content => 'body', embedding => 'embedding') \g /dev/null
SELECT reground.add_corpus('visible_rows_tongues', relation => 'tongues', chunk_id => 'id', content => 'body', title => 'title', text_config_column => 'lang') \g /dev/null
SELECT reground.add_corpus('visible_rows_plain', relation => 'plain', chunk_id => 'id', content => 'body', embedding => 'embedding') \g /dev/null
SELECT reground.add_corpus('visible_rows_principals', relation => 'plain', chunk_id => 'id', content => 'body', embedding => 'embedding', principals_column => 'readers') \g /dev/null
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'visible_rows_reader') THEN
        CREATE ROLE visible_rows_reader IN ROLE reground_user;
    END IF;
END
$$;
ALTER TABLE passages ENABLE ROW LEVEL SECURITY;
ALTER TABLE tongues ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON passages USING (readers && current_setting('app.principals')::text[]);
CREATE POLICY own ON tongues USING (readers && current_setting('app.principals')::text[]);
GRANT USAGE ON SCHEMA visible_rows TO visible_rows_reader;
GRANT SELECT ON passages, tongues, plain TO visible_rows_reader;

-- Three words each: a frequent one, one of medium frequency, a rare one.
CREATE TABLE asked AS SELECT n AS number, format('word%s word%s word%s', 2 + n, 100 + 17 * n, 3000 + 1009 * n) AS q,
    vector_of(n) AS v FROM generate_series(1, 10) AS n;

-- The ways to search, in the order of the report. A search is compared with the plain SQL of the same conditions and branches, which returns
-- 40 rows, as many as a branch of a search has candidates.
CREATE TABLE ways (
    way integer GENERATED ALWAYS AS IDENTITY,
    conditions text,
    branches text,
    is_search boolean,
    statement text,
    takes_visible_statistics boolean DEFAULT false
);
-- The parameters of a statement: the words, the vector, the group.
INSERT INTO ways (conditions, branches, is_search, statement)
SELECT c.conditions, b.branches, s.is_search, CASE WHEN s.is_search
    THEN format($f$SELECT count(content) FROM reground.search('visible_rows_%s', %s, %s%s)$f$, c.corpus, b.query, b.embedding, c.filter)
    ELSE format(b.plain, c.relation, c.condition) END
FROM (VALUES
    (1, 'row-level security', 'policy', 'passages', '', 'true'),
    (2, 'principals_column', 'principals', 'plain', '', 'readers && ARRAY[$3]'),
    (3, 'filter with any', 'plain', 'plain', $f$, filter => jsonb_build_object('readers', jsonb_build_object('any', jsonb_build_array($3)))$f$, 'readers && ARRAY[$3]')
) AS c (place, conditions, corpus, relation, filter, condition),
(VALUES
    (1, 'lexical', '$1', 'NULL', $f$SELECT count(body) FROM (SELECT id, body, body <@> reground.bm25_query($1, '%1$s_body') FROM %1$I WHERE %2$s AND body @@@ reground.bm25_query($1, '%1$s_body') ORDER BY body <@> reground.bm25_query($1, '%1$s_body') LIMIT 40) AS s$f$),
    (2, 'vector', 'NULL', '$2', $f$SELECT count(body) FROM (SELECT id, body, embedding <=> $2 FROM %1$I WHERE %2$s ORDER BY embedding <=> $2 LIMIT 40) AS s$f$),
    (3, 'hybrid', '$1', '$2', $f$WITH lexical AS (SELECT id, row_number() OVER (ORDER BY d, id) AS rank FROM (SELECT id, body <@> reground.bm25_query($1, '%1$s_body') AS d FROM %1$I WHERE %2$s AND body @@@ reground.bm25_query($1, '%1$s_body') ORDER BY body <@> reground.bm25_query($1, '%1$s_body') LIMIT 40) AS s),
        nearest AS (SELECT id, row_number() OVER (ORDER BY d, id) AS rank FROM (SELECT id, embedding <=> $2 AS d FROM %1$I WHERE %2$s ORDER BY embedding <=> $2 LIMIT 40) AS s),
        fused AS (SELECT id, coalesce(1.0 / (60 + l.rank), 0) + coalesce(1.0 / (60 + n.rank), 0) AS score FROM lexical AS l FULL JOIN nearest AS n USING (id) ORDER BY 2 DESC LIMIT 10)
        SELECT count(p.body) FROM fused JOIN %1$I AS p USING (id) WHERE %2$s$f$)
) AS b (place, branches, query, embedding, plain),
(VALUES (true), (false)) AS s (is_search)
ORDER BY c.place, b.place, s.is_search DESC;
INSERT INTO ways (conditions, branches, is_search, statement) VALUES
    ('row-level security, several languages, titles', 'lexical', true, $s$SELECT count(content) FROM reground.search('visible_rows_tongues', $1)$s$),
    ('row-level security, several languages, titles', 'lexical', false, $s$SELECT count(body) FROM (SELECT id, body FROM tongues WHERE reground.in_language(ARRAY[title, body], lang) @@@ reground.bm25_query($1, 'tongues_body', text_configs => '{english,german,simple}')
        ORDER BY reground.in_language(ARRAY[title, body], lang) <@> reground.bm25_query($1, 'tongues_body', text_configs => '{english,german,simple}') LIMIT 40) AS s$s$),
    ('no condition', 'lexical', true, $s$SELECT count(content) FROM reground.search('visible_rows_plain', $1)$s$),
    ('no condition', 'vector', true, $s$SELECT count(content) FROM reground.search('visible_rows_plain', NULL, $2)$s$),
    ('no condition', 'hybrid', true, $s$SELECT count(content) FROM reground.search('visible_rows_plain', $1, $2)$s$);
INSERT INTO ways (conditions, branches, is_search, statement, takes_visible_statistics) VALUES
    ('row-level security, lexical_statistics = visible', 'lexical', true, $s$SELECT count(content) FROM reground.search('visible_rows_policy', $1, settings => '{"lexical_statistics": "visible"}')$s$, true);
GRANT SELECT ON asked, ways TO visible_rows_reader;
CREATE TABLE times (way integer, principal text, number integer, run integer, ms float8);
GRANT INSERT, SELECT ON times TO visible_rows_reader;

-- Every way answers each question in turn; the first run is a warm-up. The way that reads all visible passages answers two of them.
CREATE PROCEDURE measure(runs integer) LANGUAGE plpgsql AS $$
DECLARE
    asked_now record;
    begun timestamptz;
    way_now record;
BEGIN
    FOR run IN 0..runs LOOP
        FOR asked_now IN SELECT g.principal, a.* FROM unnest(ARRAY['small', 'medium', 'all']) AS g (principal), visible_rows.asked AS a ORDER BY 1, 2 LOOP
            PERFORM set_config('app.principals', format('{%s}', asked_now.principal), false);
            FOR way_now IN SELECT * FROM visible_rows.ways AS w WHERE NOT w.takes_visible_statistics OR asked_now.number <= 2 AND run <= 2 ORDER BY hashtext(w.way::text || run || asked_now.number) LOOP
                begun := clock_timestamp();
                EXECUTE way_now.statement USING asked_now.q, asked_now.v, asked_now.principal;
                INSERT INTO visible_rows.times SELECT way_now.way, asked_now.principal, asked_now.number, run, extract(epoch FROM clock_timestamp() - begun) * 1000 WHERE run > 0;
                COMMIT;
            END LOOP;
        END LOOP;
    END LOOP;
END
$$;
SET reground.principals_from = 'app.principals';
SET ROLE visible_rows_reader;
-- JIT would only slow these statements down.
SET jit = off;
SET hnsw.iterative_scan = strict_order;
SET hnsw.ef_search = 100;
CALL measure(:runs);
RESET ROLE;
\pset format unaligned
\pset tuples_only on
SELECT format(E'# Searches of visible rows\n\n- server: PostgreSQL %s, pgvector %s, reground %s\n- data: %s generated passages of 30 to 90 words with vectors of 64 dimensions, and groups that read 1 %%, 10 %% and all of them; GIN index on the groups\n- 10 questions of three words; times: median of the questions, of each the shortest of %s runs, in milliseconds; the ways alternate in one session\n- plain SQL: the same indexes and conditions, 40 rows a branch, as many as the candidates of a search; hybrid with rank fusion\n\nA search has a fixed cost of about a millisecond, which is seen where the index needs less: compare the rows "no condition".\n',
    current_setting('server_version'), v.extversion, r.extversion, :rows, :runs) FROM pg_extension AS v, pg_extension AS r WHERE v.extname = 'vector' AND r.extname = 'reground';
SELECT format(E'| visible rows of %s | | %s | %s | %s |\n|---|---|---:|---:|---:|', :rows, :rows / 100, :rows / 10, :rows);
WITH shortest AS (SELECT way, principal, number, min(ms) AS ms FROM times GROUP BY 1, 2, 3),
    medians AS (SELECT w.way, w.conditions, w.branches, w.is_search, t.principal, percentile_cont(0.5) WITHIN GROUP (ORDER BY t.ms) AS ms FROM shortest AS t JOIN ways AS w USING (way) GROUP BY 1, 2, 3, 4, 5),
    cells AS (SELECT way, conditions, CASE WHEN is_search THEN 'search, ' ELSE 'plain SQL, ' END || branches AS what, principal, round(ms::numeric, 2)::text AS cell FROM medians
        UNION ALL SELECT b.way + 0.5, b.conditions, '**search / plain SQL**', b.principal, '**' || round((a.ms / b.ms)::numeric, 2) || '**'
        FROM medians AS a JOIN medians AS b USING (conditions, branches, principal) WHERE a.is_search AND NOT b.is_search)
SELECT format('| %s | %s | %s |', conditions, what, string_agg(cell, ' | ' ORDER BY array_position(ARRAY['small', 'medium', 'all'], principal)))
FROM cells GROUP BY way, conditions, what ORDER BY way;
