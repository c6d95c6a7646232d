-- Candidates of the vector branch get their lexical scores from the index, by the address of the row. The oracle computes them from the
-- texts. Rows are updated in place (HOT), move to other partitions, are removed, and their places are used again.
CREATE TABLE placed (id integer, part integer, body text, note text, emb vector(2)) PARTITION BY LIST (part);
CREATE TABLE placed_1 PARTITION OF placed FOR VALUES IN (1) WITH (fillfactor = 50);
CREATE TABLE placed_2 PARTITION OF placed FOR VALUES IN (2) WITH (fillfactor = 50);
INSERT INTO placed SELECT i, 1 + i % 2,
    concat_ws(' ', 'w' || i % 7, repeat('w' || i % 11 || ' ', 1 + i % 3), 'w' || i % 13), 'a', format('[%s,%s]', cos(i), sin(i))::vector
FROM generate_series(1, 300) AS i;
CREATE INDEX ON placed USING reground_bm25 (body) WITH (text_config = simple);
ALTER TABLE placed ADD PRIMARY KEY (id, part);
SELECT reground.add_corpus('placed', 'placed', chunk_id => 'id', content => 'body', embedding => 'emb', text_config => 'simple');

-- Compares the scores of a search with the oracle: found by words or not. Nearly all candidates are of the vector branch only.
CREATE FUNCTION compare(query text, settings jsonb DEFAULT '{"candidates": 20}')
RETURNS TABLE (rows bigint, by_words bigint, scored bigint, other_scores bigint) LANGUAGE sql AS $$
    SELECT count(*), count(s.lexical_rank), count(s.lexical_score),
        count(*) FILTER (WHERE abs(coalesce(s.lexical_score, 0) - o.score) > 1e-9)
    FROM reground.search('placed', query, '[1,0]'::vector, max_results => 40, settings => settings) AS s
        JOIN (SELECT p.id::text, reground.bm25_score(p.body, reground.bm25_query(query, 'placed')) AS score FROM placed AS p) AS o ON o.id = s.chunk_id
$$;
SELECT * FROM compare('w3 w5');
SELECT c.other_scores, c.scored > c.by_words AS by_address FROM compare('w3 w5') AS c;

-- HOT updates: no index points to the new versions.
UPDATE placed SET note = 'b' WHERE id % 3 = 0;
UPDATE placed SET note = 'c' WHERE id % 6 = 0;
SELECT sum(pg_stat_get_xact_tuples_hot_updated(c.oid)) > 0 AS hot FROM pg_class AS c WHERE c.relname IN ('placed_1', 'placed_2');
SELECT c.other_scores, c.scored > c.by_words AS by_address FROM compare('w3 w5') AS c;
VACUUM placed;
UPDATE placed SET note = 'd' WHERE id % 3 = 0;
SELECT c.other_scores, c.scored > c.by_words AS by_address FROM compare('w3 w5') AS c;

-- Places that are used again, by rows with other words.
DELETE FROM placed WHERE id % 4 = 1;
VACUUM placed;
INSERT INTO placed SELECT i, 1 + i % 2, 'w' || i % 5 || ' w5', 'e', format('[%s,%s]', cos(i), sin(i))::vector FROM generate_series(301, 420) AS i;
SELECT c.other_scores, c.scored > c.by_words AS by_address FROM compare('w3 w5') AS c;
UPDATE placed SET body = body || ' w3' WHERE id % 5 = 0;
UPDATE placed SET part = 3 - part WHERE id % 10 = 1;
SELECT c.other_scores, c.scored > c.by_words AS by_address FROM compare('w3 w5') AS c;
SELECT bool_and(c.other_scores = 0) FROM generate_series(0, 12) AS w, LATERAL compare('w' || w || ' w' || w / 2) AS c;

-- Rows of this transaction, which a rollback removes.
BEGIN;
INSERT INTO placed SELECT i, 1, 'w3 new', 'f', '[1,0]' FROM generate_series(501, 510) AS i;
UPDATE placed SET body = 'w5 changed', emb = '[1,0.001]' WHERE id = 2;
SELECT c.other_scores, c.scored > c.by_words AS by_address FROM compare('w5', '{"candidates": 12}') AS c;
ROLLBACK;
SELECT c.other_scores, c.scored > c.by_words AS by_address FROM compare('w3 w5') AS c;

-- A role that may read only the columns of the search cannot read addresses.
CREATE ROLE placed_reader;
GRANT reground_user TO placed_reader;
GRANT SELECT (id, part, body, emb) ON placed TO placed_reader;
SET ROLE placed_reader;
SELECT count(*), count(lexical_score) > count(lexical_rank) AS scored
FROM reground.search('placed', 'w3 w5', '[1,0]'::vector, max_results => 40, settings => '{"candidates": 20}');
RESET ROLE;

-- The planner knows how many rows a search returns.
CREATE FUNCTION planned_rows(statement text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || statement INTO plan;
    RETURN plan -> 0 -> 'Plan' ->> 'Plan Rows';
END
$$;
SELECT planned_rows($$SELECT * FROM reground.search('placed', 'w1')$$), planned_rows($$SELECT * FROM reground.search('placed', 'w1', max_results => 250)$$) AS most,
    planned_rows($$SELECT * FROM reground.search('placed', 'w1', max_results => 0)$$) AS none, planned_rows($$SELECT s.* FROM (VALUES (5)) AS v(n), reground.search('placed', 'w1', max_results => v.n) AS s$$) AS folded;

-- Several required queries: an index scan and a bitmap scan return what a scan of the table finds.
CREATE FUNCTION with_both(a text, b text, q text) RETURNS TABLE (id integer, score double precision) LANGUAGE sql AS $$
    SELECT p.id, - (p.body <@> reground.bm25_query(q, 'placed')) FROM placed AS p
    WHERE p.body @@@ reground.bm25_query(a, 'placed') AND p.body @@@ reground.bm25_query(b, 'placed') ORDER BY p.body <@> reground.bm25_query(q, 'placed')
$$;
CREATE TEMPORARY TABLE asked AS SELECT * FROM (VALUES ('w1', 'w2', 'w1 w2'), ('w3 w5', 'w4', 'w9'), ('w1', 'w1 w6', 'w1'), ('w1', 'nothing', 'w1'), ('w5', 'w3', 'nothing')) AS v (a, b, q);
CREATE FUNCTION scans() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    line text;
    found text[] = '{}';
BEGIN
    FOR line IN EXPLAIN (COSTS OFF) SELECT id FROM placed WHERE body @@@ reground.bm25_query('w1', 'placed') AND body @@@ reground.bm25_query('w2', 'placed')
        ORDER BY body <@> reground.bm25_query('w1', 'placed') LOOP
        found := found || substring(line FROM '(?:Bitmap Index|Bitmap Heap|Index|Seq) Scan');
    END LOOP;
    RETURN (SELECT string_agg(DISTINCT f, ', ' ORDER BY f) FROM unnest(found) AS f WHERE f IS NOT NULL);
END
$$;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT scans();
CREATE TEMPORARY TABLE by_index AS SELECT * FROM asked AS k, with_both(k.a, k.b, k.q);
SET enable_bitmapscan = on;
SET enable_indexscan = off;
SELECT scans();
CREATE TEMPORARY TABLE by_bitmap AS SELECT * FROM asked AS k, with_both(k.a, k.b, k.q);
SET enable_bitmapscan = off;
SET enable_seqscan = on;
SELECT scans();
CREATE TEMPORARY TABLE by_table AS SELECT * FROM asked AS k, with_both(k.a, k.b, k.q);
RESET enable_indexscan;
RESET enable_bitmapscan;
SELECT a, b, q, count(*) > 5 AS several, count(*) FILTER (WHERE score > 0) > 5 AS scored FROM by_table GROUP BY a, b, q ORDER BY a, b;
SELECT count(*) AS differ FROM (TABLE by_table EXCEPT TABLE by_index UNION ALL (TABLE by_index EXCEPT TABLE by_table)
    UNION ALL (TABLE by_table EXCEPT TABLE by_bitmap) UNION ALL (TABLE by_bitmap EXCEPT TABLE by_table)) AS d;
DROP FUNCTION scans;
DROP FUNCTION with_both;
DROP FUNCTION planned_rows;

-- Two indexes on one column: each corpus uses its own.
CREATE TABLE twice (id integer PRIMARY KEY, body text, emb vector(2));
INSERT INTO twice SELECT i, 'running w' || i % 7 || ' runs w' || i % 11, format('[%s,%s]', cos(i), sin(i))::vector FROM generate_series(1, 500) AS i;
CREATE INDEX ON twice USING reground_bm25 (body) WITH (text_config = simple);
CREATE INDEX ON twice USING reground_bm25 (body) WITH (text_config = english);
SELECT reground.add_corpus('twice_simple', 'twice', chunk_id => 'id', content => 'body', embedding => 'emb', text_config => 'simple');
SELECT reground.add_corpus('twice_english', 'twice', chunk_id => 'id', content => 'body', embedding => 'emb', text_config => 'english');
SELECT corpus, query, count(*), count(s.lexical_score) FROM unnest(ARRAY['twice_simple', 'twice_english']) AS corpus, unnest(ARRAY['run', 'runs w3']) AS query,
    reground.search(corpus, query, '[1,0]'::vector, max_results => 20, settings => '{"candidates": 20}') AS s GROUP BY 1, 2 ORDER BY 1, 2;

-- A child of a table has its own index, which another query uses.
CREATE TABLE parent (id integer PRIMARY KEY, body text);
CREATE TABLE child () INHERITS (parent);
INSERT INTO parent SELECT i, 'w' || i % 7 FROM generate_series(1, 300) AS i;
INSERT INTO child SELECT i, 'w' || i % 7 FROM generate_series(301, 3000) AS i;
CREATE INDEX ON parent USING reground_bm25 (body) WITH (text_config = simple);
CREATE INDEX ON child USING reground_bm25 (body) WITH (text_config = simple);
ANALYZE parent, child;
SELECT reground.add_corpus('parent', 'parent', chunk_id => 'id', content => 'body', text_config => 'simple');
SELECT count(*) FROM reground.search('parent', 'w3', max_results => 20);
SELECT reground.drop_corpus('parent');
DROP TABLE parent CASCADE;

-- Whether policies hide rows is never kept: the owner of the database is a member of pg_database_owner.
CREATE ROLE placed_owner;
GRANT reground_user TO placed_owner;
GRANT SELECT ON twice TO placed_owner;
ALTER TABLE twice ENABLE ROW LEVEL SECURITY;
CREATE POLICY low ON twice USING (id < 100);
ALTER TABLE twice OWNER TO pg_database_owner;
SELECT current_database() AS this, current_user AS owner \gset
ALTER DATABASE :"this" OWNER TO placed_owner;
SET ROLE placed_owner;
SELECT count(*) FILTER (WHERE chunk_id::integer >= 100) > 0 AS shown FROM reground.search('twice_simple', 'runs', max_results => 40);
RESET ROLE;
ALTER DATABASE :"this" OWNER TO :"owner";
SET ROLE placed_owner;
SELECT count(*) > 0 AS some, count(*) FILTER (WHERE chunk_id::integer >= 100) AS hidden FROM reground.search('twice_simple', 'runs', max_results => 40);
RESET ROLE;

-- quote_all_identifiers changes no name that is compared.
SET quote_all_identifiers = on;
SELECT count(*) FROM reground.search('placed', 'w3', '[1,0]'::vector);
CREATE INDEX twice_emb ON twice USING hnsw (emb vector_cosine_ops);
SELECT item, status FROM reground.check_corpus('twice_simple') WHERE item ~ ' index$' ORDER BY item;
RESET quote_all_identifiers;
SELECT count(*) FROM reground.search('placed', 'w3', '[1,0]'::vector);
SELECT reground.drop_corpus('twice_simple'), reground.drop_corpus('twice_english');
DROP TABLE twice;
DROP OWNED BY placed_owner;
DROP ROLE placed_owner;

SELECT reground.drop_corpus('placed');
DROP FUNCTION compare;
DROP TABLE placed;
DROP OWNED BY placed_reader;
DROP ROLE placed_reader;
