-- Compares searches of a table under row-level security with plain SQL over the same indexes. Prints a table in Markdown.
-- psql -X -v rows=100000 -f row_security.sql URI, as a superuser; it replaces the schema row_security. scripts/bench-row-security.sh runs it.
\set ON_ERROR_STOP on
\if :{?rows} \else \set rows 100000 \endif
\if :{?runs} \else \set runs 5 \endif
\pset footer off
SET client_min_messages = error;
DROP SCHEMA IF EXISTS row_security CASCADE;
CREATE SCHEMA row_security;
SET search_path = row_security, public;
SELECT setseed(0.25) \g /dev/null
-- Words by Zipf's law, in titles of 4 words and texts of 60. The tenants have 1 %, 10 % and 89 % of the rows.
CREATE FUNCTION words(count integer, row_no integer) RETURNS text LANGUAGE sql VOLATILE AS
$$ SELECT string_agg('word' || floor(exp(random() * 10.3))::int, ' ') FROM generate_series(1, count + row_no * 0) $$;
CREATE FUNCTION vector_of(row_no integer) RETURNS vector LANGUAGE sql VOLATILE AS
$$ SELECT array_agg(random() - 0.5 + row_no * 0)::vector(64) FROM generate_series(1, 64) $$;
CREATE TABLE passages AS SELECT n AS id, CASE WHEN n % 100 = 0 THEN 'small' WHEN n % 10 = 5 THEN 'medium' ELSE 'large' END AS tenant,
    (ARRAY['english', 'german', 'simple'])[1 + n % 3] AS lang, words(4, n) AS title, words(60, n) AS body,
    vector_of(n)::vector(64) AS embedding
    FROM generate_series(1, :rows) AS n;
ALTER TABLE passages ADD PRIMARY KEY (id);
CREATE INDEX body_index ON passages USING reground_bm25 (body);
CREATE INDEX ON passages USING hnsw (embedding vector_cosine_ops);
-- The same rows as a corpus in several languages with titles.
CREATE TABLE tongues AS SELECT id, tenant, lang, title, body FROM passages;
ALTER TABLE tongues ADD PRIMARY KEY (id);
CREATE INDEX ON tongues (lang);
CREATE INDEX tongues_index ON tongues USING reground_bm25 (reground.in_language(ARRAY[title, body], lang)) WITH (weights = '2,1');
-- The same rows with the lexemes that a managed corpus stores.
CREATE TABLE stored AS SELECT id, tenant, body, to_tsvector('english', body) AS lexemes FROM passages;
ALTER TABLE stored ADD PRIMARY KEY (id);
VACUUM ANALYZE;
SELECT reground.drop_corpus(corpus) FROM reground.corpora WHERE corpus LIKE 'row_security_%' \g /dev/null
SELECT reground.add_corpus('row_security_passages', relation => 'passages', chunk_id => 'id', content => 'body', embedding => 'embedding') \g /dev/null
SELECT reground.add_corpus('row_security_tongues', relation => 'tongues', chunk_id => 'id', content => 'body', title => 'title', text_config_column => 'lang') \g /dev/null
DO $$
DECLARE
    relation text;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'row_security_reader') THEN
        CREATE ROLE row_security_reader IN ROLE reground_user;
    END IF;
    FOREACH relation IN ARRAY ARRAY['passages', 'tongues', 'stored'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', relation);
        EXECUTE format($p$CREATE POLICY own ON %I USING (tenant = current_setting('app.tenant') OR current_setting('app.tenant') = 'all')$p$, relation);
    END LOOP;
END
$$;
GRANT USAGE ON SCHEMA row_security TO row_security_reader;
GRANT SELECT ON passages, tongues, stored TO row_security_reader;

-- Three words each: a frequent one, one of medium frequency, a rare one.
CREATE TABLE asked AS SELECT n AS number, format('word%s word%s word%s', 2 + n, 100 + 17 * n, 3000 + 1009 * n) AS q,
    vector_of(n) AS v FROM generate_series(1, 10) AS n;
-- JIT is off, as it would only slow these statements down.
CREATE TABLE ways (way text PRIMARY KEY, what text, slow boolean, statement text);
INSERT INTO ways VALUES
    ('1', 'search, lexical', false, $s$SELECT count(*) FROM reground.search('row_security_passages', $1)$s$),
    ('2', 'plain SQL, the same index, 40 rows', false, $s$SELECT count(*) FROM (SELECT id, body, body <@> reground.bm25_query($1, 'body_index') FROM passages WHERE body @@@ reground.bm25_query($1, 'body_index') ORDER BY body <@> reground.bm25_query($1, 'body_index') LIMIT 40) AS s$s$),
    ('2a', 'plain SQL, the same index, 10 rows', false, $s$SELECT count(*) FROM (SELECT id, body, body <@> reground.bm25_query($1, 'body_index') FROM passages WHERE body @@@ reground.bm25_query($1, 'body_index') ORDER BY body <@> reground.bm25_query($1, 'body_index') LIMIT 10) AS s$s$),
    ('3', 'search, several languages, titles', false, $s$SELECT count(*) FROM reground.search('row_security_tongues', $1)$s$),
    ('4', 'plain SQL, the same index, 40 rows', false, $s$SELECT count(*) FROM (SELECT id, body FROM tongues WHERE reground.in_language(ARRAY[title, body], lang) @@@ reground.bm25_query($1, 'tongues_index', text_configs => '{english,german,simple}')
        ORDER BY reground.in_language(ARRAY[title, body], lang) <@> reground.bm25_query($1, 'tongues_index', text_configs => '{english,german,simple}') LIMIT 40) AS s$s$),
    ('5', 'search, hybrid', false, $s$SELECT count(*) FROM reground.search('row_security_passages', $1, $2)$s$),
    ('6', 'plain SQL, the same two indexes, 40 rows each, rank fusion', false, $s$WITH lexical AS (SELECT id, row_number() OVER (ORDER BY d, id) AS rank FROM (SELECT id, body <@> reground.bm25_query($1, 'body_index') AS d FROM passages WHERE body @@@ reground.bm25_query($1, 'body_index') ORDER BY body <@> reground.bm25_query($1, 'body_index') LIMIT 40) AS s),
        nearest AS (SELECT id, row_number() OVER (ORDER BY d, id) AS rank FROM (SELECT id, embedding <=> $2 AS d FROM passages ORDER BY embedding <=> $2 LIMIT 40) AS s),
        fused AS (SELECT id, coalesce(1.0 / (60 + l.rank), 0) + coalesce(1.0 / (60 + n.rank), 0) AS score FROM lexical AS l FULL JOIN nearest AS n USING (id) ORDER BY 2 DESC LIMIT 10)
        SELECT count(p.body) FROM fused JOIN passages AS p USING (id)$s$),
    ('7', 'search, lexical_statistics = visible', true, $s$SELECT count(*) FROM reground.search('row_security_passages', $1, settings => '{"lexical_statistics": "visible"}')$s$),
    ('8', 'to_tsvector of the visible passages', true, $s$SELECT sum(length(to_tsvector('english', body))) FROM passages WHERE $1 IS NOT NULL$s$),
    ('9', 'stored tsvector of the visible passages', true, $s$SELECT sum(length(lexemes)) FROM stored WHERE $1 IS NOT NULL$s$);
GRANT SELECT ON asked, ways TO row_security_reader;
CREATE TABLE times (way text, tenant text, number integer, run integer, ms float8);
GRANT INSERT, SELECT ON times TO row_security_reader;

-- Every way answers each query in turn; the first run is a warm-up. Ways that read all visible passages answer two queries.
CREATE PROCEDURE measure(runs integer) LANGUAGE plpgsql AS $$
DECLARE
    asked_now record;
    begun timestamptz;
    way_now record;
BEGIN
    FOR run IN 0..runs LOOP
        FOR asked_now IN SELECT t.tenant, a.* FROM unnest(ARRAY['small', 'medium', 'all']) AS t (tenant), row_security.asked AS a ORDER BY 1, 2 LOOP
            PERFORM set_config('app.tenant', asked_now.tenant, false);
            FOR way_now IN SELECT * FROM row_security.ways AS w WHERE NOT w.slow OR asked_now.number <= 2 AND run <= 2 ORDER BY hashtext(w.way || run || asked_now.number) LOOP
                begun := clock_timestamp();
                EXECUTE way_now.statement USING asked_now.q, asked_now.v;
                INSERT INTO row_security.times SELECT way_now.way, asked_now.tenant, asked_now.number, run, extract(epoch FROM clock_timestamp() - begun) * 1000 WHERE run > 0;
                COMMIT;
            END LOOP;
        END LOOP;
    END LOOP;
END
$$;
SET ROLE row_security_reader;
SET jit = off;
SET hnsw.iterative_scan = strict_order;
SET hnsw.ef_search = 100;
CALL measure(:runs);
\pset format unaligned
\pset tuples_only on
\pset fieldsep ' | '
SELECT '| visible rows of ' || :rows || ' | ' || string_agg(rows || '', ' | ' ORDER BY rows) || ' |' || E'\n|---|---:|---:|---:|' FROM (VALUES (:rows / 100), (:rows / 10), (:rows)) AS v (rows);
-- The shortest run of each query, because other load only adds time; the median of the queries.
WITH shortest AS (SELECT way, tenant, number, min(ms) AS ms FROM times GROUP BY 1, 2, 3),
    medians AS (SELECT t.way, w.what, t.tenant, percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) AS ms FROM shortest AS t JOIN ways AS w USING (way) GROUP BY 1, 2, 3),
    rows AS (SELECT way, what, string_agg(round(ms::numeric, 2)::text, ' | ' ORDER BY array_position(ARRAY['small', 'medium', 'all'], tenant)) AS cells FROM medians GROUP BY 1, 2
        UNION ALL SELECT b.way || 'z', '**search / plain SQL**', string_agg('**' || round((a.ms / b.ms)::numeric, 2) || '**', ' | ' ORDER BY array_position(ARRAY['small', 'medium', 'all'], a.tenant))
        FROM medians AS a JOIN medians AS b ON b.tenant = a.tenant AND (a.way, b.way) IN (('1', '2'), ('3', '4'), ('5', '6')) GROUP BY b.way)
SELECT '| ' || what || ' | ' || cells || ' |' FROM rows ORDER BY way;
RESET ROLE;
