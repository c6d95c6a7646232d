-- Known faults of other full-text indexes that no other file tests; pgrx-tests/traps.md lists the tests of the others.
CREATE SCHEMA traps;
SET search_path = traps, public;
CREATE TABLE docs (id integer PRIMARY KEY, body text, kind integer);
CREATE INDEX docs_body ON docs USING reground_bm25 (body);
SET enable_seqscan = off;
SET enable_bitmapscan = off;

-- An index built on an empty table: the mean length must not divide by zero.
SELECT count(*) FROM (SELECT id FROM docs WHERE body @@@ reground.bm25_query('oak', 'docs') ORDER BY body <@> reground.bm25_query('oak', 'docs')) AS d;
INSERT INTO docs VALUES (0, '', 0), (-1, 'the of and', 0), (-2, NULL, 0);
SELECT count(*), min(body <@> reground.bm25_query('oak', 'docs')) FROM docs WHERE body IS NOT NULL;
INSERT INTO docs SELECT n, repeat('oak ', n % 7) || repeat('elm ', n % 5) || 'tree', n FROM generate_series(1, 3000) AS n;

-- A filter that few rows pass does not reduce the number of results, at any depth.
SELECT count(*), min(kind) FROM (SELECT kind FROM docs WHERE kind % 500 = 499 ORDER BY body <@> reground.bm25_query('oak elm', 'docs') LIMIT 6) AS d;
SELECT (SELECT array_agg(id) FROM (SELECT id FROM docs WHERE kind > 2900 AND body @@@ reground.bm25_query('oak', 'docs') ORDER BY body <@> reground.bm25_query('oak', 'docs'), id LIMIT 7) AS d)
    = (SELECT array_agg(id) FROM (SELECT id FROM docs WHERE kind > 2900 AND body @@@ reground.bm25_query('oak', 'docs') ORDER BY reground.bm25_score(body, reground.bm25_query('oak', 'docs')) DESC, id LIMIT 7) AS d) AS same;

-- The limit applies after the sort: many equal rows and one better row.
INSERT INTO docs VALUES (5000, 'elm elm elm elm elm elm', 0);
SELECT id FROM docs ORDER BY body <@> reground.bm25_query('elm', 'docs') LIMIT 1;

-- Rows without any query word do not enter a fusion.
SELECT reground.add_corpus('traps', relation => 'docs', chunk_id => 'id', content => 'body');
SET client_min_messages = error;
SELECT count(*) FROM reground.search('traps', 'sequoia', max_results => 50);
SELECT count(*), min(lexical_score) > 0 AS scored FROM reground.search('traps', 'sequoia elm', max_results => 50);
RESET client_min_messages;

-- A word in more rows than two bytes can count, and a word in every row.
INSERT INTO docs SELECT n, 'birch', 0 FROM generate_series(10001, 80000) AS n;
SELECT document_frequency FROM reground.bm25_explain('birch', reground.bm25_query('birch', 'docs'));
SELECT count(*), count(DISTINCT id) FROM (SELECT id FROM docs WHERE body @@@ reground.bm25_query('birch', 'docs') ORDER BY body <@> reground.bm25_query('birch', 'docs')) AS d;

-- The planner estimates the number of matching rows without parsing sample texts.
VACUUM ANALYZE docs;
CREATE FUNCTION estimated(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    EXECUTE format('EXPLAIN (FORMAT json) SELECT FROM traps.docs WHERE body @@@ reground.bm25_query(%L, ''traps.docs'')', query) INTO plan;
    RETURN plan -> 0 -> 'Plan' ->> 'Plan Rows';
END
$$;
SELECT q, estimated(q) / greatest(count(d), 1) BETWEEN 0.95 AND 1.05 AS near FROM unnest(ARRAY['birch', 'tree', 'oak', 'sequoia', 'of', '']) AS q
    LEFT JOIN docs AS d ON body @@@ reground.bm25_query(q, 'docs') GROUP BY q ORDER BY q COLLATE "C";

-- TRUNCATE and inserts after it; a table that ALTER TABLE rewrites.
BEGIN;
TRUNCATE docs;
SELECT count(*) FROM docs WHERE body @@@ reground.bm25_query('birch oak', 'docs');
ROLLBACK;
SELECT count(*) > 70000 AS back FROM docs WHERE body @@@ reground.bm25_query('birch oak', 'docs');
TRUNCATE docs;
INSERT INTO docs VALUES (1, 'birch', 1);
ALTER TABLE docs ALTER COLUMN id TYPE bigint;
SELECT id FROM docs WHERE body @@@ reground.bm25_query('birch', 'docs');
CLUSTER docs USING docs_pkey;
SELECT id, (SELECT count(*) FROM reground.bm25_check('docs_body', heapallindexed => true)) AS faults FROM docs WHERE body @@@ reground.bm25_query('birch', 'docs');

-- bm25_check runs the functions of an index as the owner of the table, not with the rights of a superuser who calls it.
CREATE ROLE regress_index_owner;
CREATE FUNCTION checked(body text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
    IF current_user <> 'regress_index_owner' THEN
        RAISE EXCEPTION 'called by %', current_user;
    END IF;
    RETURN body;
END
$$;
CREATE TABLE owned (body text);
INSERT INTO owned VALUES ('birch');
ALTER TABLE owned OWNER TO regress_index_owner;
CREATE INDEX owned_body ON owned USING reground_bm25 (checked(body));
SELECT count(*) AS faults FROM reground.bm25_check('owned_body', heapallindexed => true);
DROP TABLE owned;
DROP ROLE regress_index_owner;
