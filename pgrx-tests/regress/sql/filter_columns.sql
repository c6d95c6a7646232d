-- Filter columns of a BM25 index: each plan returns what a scan of the table finds.
CREATE SCHEMA filter_columns;
SET search_path = filter_columns, public;
CREATE TYPE colour AS ENUM ('red', 'green', 'blue');
CREATE TABLE filtered (id integer PRIMARY KEY, body text, tenant text, number integer, large bigint, small smallint, flag boolean, day date, key uuid,
    code character(4), hue colour);
CREATE FUNCTION fill(first integer, last integer) RETURNS void LANGUAGE sql AS $$
    INSERT INTO filtered SELECT i, nullif(concat_ws(' ', 'w' || i % 7, repeat('w' || i % 11 || ' ', i % 3), 'w' || i % 13), 'w5 w5'),
        nullif('t' || i % 17, 't0'), i % 5, 5000000000 + i % 3, i % 4, i % 2 = 0, date '2026-01-01' + i % 6, md5((i % 9)::text)::uuid, 'c' || i % 8,
        (enum_range(NULL::colour))[1 + i % 3]
    FROM generate_series(first, last) AS i;
    UPDATE filtered SET body = NULL WHERE id BETWEEN first AND last AND id % 23 = 5
$$;
SELECT fill(1, 1500);
CREATE INDEX filtered_body ON filtered USING reground_bm25 (body, tenant reground.bm25_filter_ops, number, large, small, flag, day, key, code, hue) WITH (text_config = simple);
SELECT fill(1501, 2000);
ANALYZE filtered;

-- Compares index scans and bitmap scans with a scan of the table, for a condition with `q` for the query.
CREATE FUNCTION in_each_plan(condition text, query text DEFAULT 'w3 w5', order_by text DEFAULT 'q')
RETURNS TABLE (rows bigint, index_scan boolean, same_by_index boolean, same_by_bitmap boolean) LANGUAGE plpgsql AS $$
DECLARE
    statement text := format('SELECT id, round((body <@> q)::numeric, 9) AS distance FROM filtered WHERE body @@@ q AND (%s)', condition);
    found jsonb[];
    plan text;
    line text;
BEGIN
    statement := replace(statement || ' ORDER BY body <@> ' || order_by, ' q', format(' reground.bm25_query(%L, ''filtered'')', query));
    FOREACH plan IN ARRAY ARRAY['seqscan', 'indexscan', 'bitmapscan'] LOOP
        PERFORM set_config('enable_seqscan', (plan = 'seqscan')::text, true), set_config('enable_indexscan', (plan = 'indexscan')::text, true),
            set_config('enable_bitmapscan', (plan = 'bitmapscan')::text, true);
        EXECUTE format('SELECT coalesce(jsonb_agg(to_jsonb(r) ORDER BY r.distance, r.id), ''[]'') FROM (%s) AS r', statement) INTO line;
        found := found || line::jsonb;
        IF plan = 'indexscan' THEN
            FOR line IN EXECUTE 'EXPLAIN (COSTS off) ' || statement LOOP
                index_scan := coalesce(index_scan, false) OR line LIKE '%Index Scan using filtered_body%';
            END LOOP;
        END IF;
    END LOOP;
    PERFORM set_config('enable_seqscan', 'on', true), set_config('enable_indexscan', 'on', true), set_config('enable_bitmapscan', 'on', true);
    rows := jsonb_array_length(found[1]);
    same_by_index := found[1] = found[2];
    same_by_bitmap := found[1] = found[3];
    RETURN NEXT;
END
$$;
CREATE TEMPORARY TABLE conditions AS SELECT row_number() OVER () AS n, c AS condition FROM unnest(ARRAY[
    $$tenant = 't3'$$, $$tenant = 't3' AND number = 2$$, $$number = 2$$, $$number = 2::bigint$$, $$number = 2::smallint$$, $$large = 5000000001$$, $$large = 5$$,
    $$small = 3$$, $$flag$$, $$NOT flag$$, $$day = '2026-01-03'$$, $$key = md5('4')::uuid$$, $$code = 'c5'$$, $$code = 'c5  '$$, $$hue = 'blue'$$,
    $$tenant = 'nobody'$$, $$tenant = NULL$$, $$tenant IS NULL$$, $$tenant IN ('t1', 't2')$$, $$tenant = 't1' OR number = 1$$, $$tenant > 't5'$$,
    $$tenant = 't3' AND body = 'w3 w3 w3'$$, $$body = 'nothing'$$, $$tenant = 't4' AND body @@@ reground.bm25_query('w1', 'filtered')$$, $$number = 2.0$$]) AS c;
SELECT c.condition, p.* FROM conditions AS c, in_each_plan(c.condition) AS p ORDER BY c.n;
SELECT bool_and(p.same_by_index AND p.same_by_bitmap) FROM conditions AS c, in_each_plan(c.condition, 'w4', $$reground.bm25_query('w1 w9', 'filtered')$$) AS p;
-- The conditions are in the index.
SET enable_seqscan = off;
EXPLAIN (COSTS off) SELECT id FROM filtered WHERE tenant = 't3' AND number = 2::bigint ORDER BY body <@> 'filtered: w3'::reground.bm25query LIMIT 3;
-- A query of NULLs. Conditions on filter columns alone find rows without a text, too.
SELECT count(*), count(body) FROM filtered WHERE tenant = 't3';
EXPLAIN (COSTS off) SELECT count(*), count(body) FROM filtered WHERE tenant = 't3';
SET enable_bitmapscan = off;
SELECT count(*), count(body) FROM filtered WHERE tenant = 't3';
EXPLAIN (COSTS off) SELECT count(*), count(body) FROM filtered WHERE tenant = 't3';
RESET enable_bitmapscan;
SET enable_seqscan = on;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SELECT count(*), count(body) FROM filtered WHERE tenant = 't3';
SET enable_seqscan = off;
RESET enable_indexscan;
RESET enable_bitmapscan;
SELECT count(*) FROM filtered WHERE body = 'w3 w3';
SELECT count(*) FROM filtered WHERE tenant = 't3' AND body @@@ NULL::reground.bm25query;
-- Without `@@@`, an index scan returns the rows with a word, of this tenant.
SELECT count(*), count(*) FILTER (WHERE score > 0) AS found, bool_and(tenant = 't3') FROM (SELECT tenant, - (body <@> 'filtered: w3'::reground.bm25query) AS score FROM filtered
    WHERE tenant = 't3' ORDER BY body <@> 'filtered: w3'::reground.bm25query LIMIT 100) AS f;
-- Values come from other tables and from parameters.
PREPARE of_tenant(text) AS SELECT array_agg(id) FROM (SELECT id FROM filtered WHERE tenant = $1 AND body @@@ 'filtered: w3'::reground.bm25query
    ORDER BY body <@> 'filtered: w3'::reground.bm25query, id LIMIT 5) AS f;
SET plan_cache_mode = force_generic_plan;
EXECUTE of_tenant('t1');
EXECUTE of_tenant('t2');
EXECUTE of_tenant(NULL);
RESET plan_cache_mode;
SELECT v.tenant, f.* FROM (VALUES ('t1'), ('t2'), (NULL)) AS v (tenant), LATERAL (SELECT count(*), bool_and(f.tenant = v.tenant) FROM filtered AS f
    WHERE f.tenant = v.tenant AND f.body @@@ 'filtered: w3'::reground.bm25query) AS f ORDER BY 1;

-- Updates of a filter column, removed rows and a merge.
UPDATE filtered SET tenant = 't1' WHERE id % 19 = 2;
DELETE FROM filtered WHERE id % 6 = 1;
SELECT bool_and(p.same_by_index AND p.same_by_bitmap) FROM conditions AS c, in_each_plan(c.condition) AS p;
VACUUM filtered;
SELECT reground.bm25_merge('filtered_body');
SELECT bool_and(p.same_by_index AND p.same_by_bitmap) FROM conditions AS c, in_each_plan(c.condition) AS p;
SELECT * FROM reground.bm25_check('filtered_body', heapallindexed => true);
-- Values of filter columns are no words: scores are those of an index without them.
CREATE TABLE unfiltered AS SELECT id, body FROM filtered;
CREATE INDEX ON unfiltered USING reground_bm25 (body) WITH (text_config = simple);
REINDEX INDEX filtered_body;
SELECT count(*), count(*) FILTER (WHERE f.body <@> 'filtered: w3 w5'::reground.bm25query IS DISTINCT FROM u.body <@> 'unfiltered: w3 w5'::reground.bm25query) AS other
FROM filtered AS f JOIN unfiltered AS u USING (id);
RESET enable_seqscan;

-- Rows in several languages, partitions and expressions.
CREATE TABLE spoken (id integer, body text, lang text, tenant integer) PARTITION BY LIST (tenant);
CREATE TABLE spoken_1 PARTITION OF spoken FOR VALUES IN (1, 2);
CREATE TABLE spoken_2 PARTITION OF spoken FOR VALUES IN (3);
INSERT INTO spoken SELECT i, CASE i % 2 WHEN 0 THEN 'rote Schuhe' ELSE 'red shoes' END, CASE i % 2 WHEN 0 THEN 'de' ELSE 'en' END, 1 + i % 3 FROM generate_series(1, 90) AS i;
CREATE INDEX spoken_body ON spoken USING reground_bm25 (reground.in_language(body, lang), tenant, (id % 10));
SET enable_seqscan = off;
SELECT array_agg(id ORDER BY id) FROM spoken WHERE tenant = 2 AND id % 10 = 4 AND reground.in_language(body, lang) @@@ reground.bm25_query('Schuh', 'spoken', text_configs => '{de}');
RESET enable_seqscan;
SELECT array_agg(id ORDER BY id) FROM spoken WHERE tenant = 2 AND id % 10 = 4 AND lang = 'de';

-- Row-level security: the condition of a policy is an index condition.
CREATE ROLE filter_reader;
GRANT reground_user TO filter_reader;
GRANT USAGE ON SCHEMA filter_columns TO filter_reader;
GRANT SELECT ON filtered TO filter_reader;
ALTER TABLE filtered ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON filtered USING (tenant = current_setting('app.tenant', true));
SET ROLE filter_reader;
SET app.tenant = 't5';
SET enable_seqscan = off;
SELECT count(*), bool_and(tenant = 't5') FROM (SELECT tenant FROM filtered WHERE body @@@ 'filtered: w3'::reground.bm25query
    ORDER BY body <@> 'filtered: w3'::reground.bm25query LIMIT 100) AS f;
EXPLAIN (COSTS off) SELECT id FROM filtered WHERE body @@@ 'filtered: w3'::reground.bm25query ORDER BY body <@> 'filtered: w3'::reground.bm25query LIMIT 3;
RESET ROLE;
RESET enable_seqscan;

-- A role that may read the text needs no right on the filter columns.
CREATE ROLE text_reader;
GRANT reground_user TO text_reader;
GRANT USAGE ON SCHEMA filter_columns TO text_reader;
GRANT SELECT (id, body) ON filtered TO text_reader;
ALTER TABLE filtered DISABLE ROW LEVEL SECURITY;
SET ROLE text_reader;
SELECT count(*) > 0 AS found FROM filtered WHERE body @@@ 'filtered: w3'::reground.bm25query;
SELECT count(*) FROM filtered WHERE tenant = 't3' AND body @@@ 'filtered: w3'::reground.bm25query;
RESET ROLE;

-- Columns that cannot be in an index.
CREATE INDEX ON filtered USING reground_bm25 (number);
CREATE INDEX ON filtered USING reground_bm25 (body, tenant);
CREATE INDEX ON filtered USING reground_bm25 (body, (ARRAY[tenant]));
CREATE INDEX ON filtered USING reground_bm25 (body reground.bm25_filter_ops);
CREATE TABLE other_types (body text, amount numeric);
CREATE INDEX ON other_types USING reground_bm25 (body, amount);

-- Corpora: create_corpus makes the filter column, and check_corpus asks for it.
SELECT reground.create_corpus('owned', tenant_column => 'owner');
SELECT pg_get_indexdef(i.indexrelid) FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_am AS m ON m.oid = c.relam
WHERE i.indrelid = 'owned'::regclass AND m.amname = 'reground_bm25';
CREATE TABLE rented (id integer PRIMARY KEY, body text, tenant integer NOT NULL);
CREATE INDEX rented_tenant ON rented (tenant);
CREATE INDEX rented_body ON rented USING reground_bm25 (body);
SELECT reground.add_corpus('rented', 'rented', chunk_id => 'id', content => 'body', tenant_column => 'tenant');
SELECT status, detail, hint FROM reground.check_corpus('rented') WHERE item = 'lexical index';
CREATE INDEX rented_both ON rented USING reground_bm25 (body, tenant);
DROP INDEX rented_body;
SELECT status, detail, hint FROM reground.check_corpus('rented') WHERE item = 'lexical index';
INSERT INTO rented SELECT i, 'w' || i % 7, i % 3 FROM generate_series(1, 300) AS i;
SET reground.tenant_from = 'app.tenant';
SET app.tenant = '2';
SELECT count(*), bool_and(r.tenant = 2) FROM reground.search('rented', 'w3', max_results => 50) AS s JOIN rented AS r ON r.id::text = s.chunk_id;
RESET reground.tenant_from;
SELECT reground.drop_corpus('rented'), reground.drop_corpus('owned');
RESET search_path;
SET client_min_messages = error;
DROP SCHEMA filter_columns CASCADE;
