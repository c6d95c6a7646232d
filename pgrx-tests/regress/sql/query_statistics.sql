-- Queries that carry the statistics of a table to other indexes. The same rows in one table are the oracle.
CREATE SCHEMA query_statistics;
SET search_path = query_statistics, public;
CREATE TABLE whole (id integer PRIMARY KEY, body text);
INSERT INTO whole SELECT i, concat_ws(' ', 'w' || i % 5, 'w' || i % 7, CASE WHEN i % 3 = 0 THEN 'running shoes' ELSE 'red shoes ran' END, repeat('w' || i % 11 || ' ', i % 4))
FROM generate_series(1, 400) AS i;
CREATE INDEX whole_body ON whole USING reground_bm25 (body);
CREATE TABLE low AS SELECT * FROM whole WHERE id <= 100;
CREATE TABLE high AS SELECT * FROM whole WHERE id > 100;
CREATE INDEX low_body ON low USING reground_bm25 (body);
CREATE INDEX high_body ON high USING reground_bm25 (body);
CREATE TABLE parts (id integer, body text) PARTITION BY RANGE (id);
CREATE TABLE parts_low PARTITION OF parts FOR VALUES FROM (1) TO (101);
CREATE TABLE parts_high PARTITION OF parts FOR VALUES FROM (101) TO (1000);
CREATE INDEX ON parts USING reground_bm25 (body);
INSERT INTO parts SELECT * FROM whole;

-- A query as text.
SELECT reground.bm25_with_statistics(reground.bm25_query('red w3', 'whole'));
SELECT reground.bm25_with_statistics(reground.bm25_query('"running shoes" +w3', 'whole_body', expansion => '{"boot": 0.5}', text_configs => '{english,simple}', syntax => true)) AS q \gset
SELECT :'q';
SELECT (:'q'::reground.bm25query)::text = :'q' AS text_is_stable;
SELECT reground.bm25_with_statistics(:'q'::reground.bm25query)::text = :'q' AS stays, reground.bm25_with_statistics(NULL) IS NULL AS of_null;
SELECT reground.bm25_with_statistics(:'q'::reground.bm25query, 'low')::text AS of_another_table;

-- Scores of the parts equal those of the whole, in each plan.
CREATE FUNCTION differences(query text, syntax boolean) RETURNS TABLE (plan text, rows bigint, differences bigint) LANGUAGE plpgsql AS $$
DECLARE
    q reground.bm25query := reground.bm25_query(query, 'whole', syntax => syntax);
    carried reground.bm25query := reground.bm25_with_statistics(q);
BEGIN
    FOREACH plan IN ARRAY ARRAY['seqscan', 'indexscan', 'bitmapscan'] LOOP
        PERFORM set_config('enable_seqscan', (plan = 'seqscan')::text, true), set_config('enable_indexscan', (plan = 'indexscan')::text, true),
            set_config('enable_bitmapscan', (plan = 'bitmapscan')::text, true);
        WITH expected AS (SELECT id, body <@> q AS distance FROM whole WHERE body @@@ q),
             of_parts AS (
                (SELECT id, body <@> carried AS distance FROM low WHERE body @@@ carried ORDER BY body <@> carried LIMIT 1000)
                UNION ALL (SELECT id, body <@> carried FROM high WHERE body @@@ carried ORDER BY body <@> carried LIMIT 1000))
        SELECT count(*), count(*) FILTER (WHERE e.id IS NULL OR p.id IS NULL) INTO rows, differences
        FROM expected AS e FULL JOIN of_parts AS p ON (e.id, e.distance) = (p.id, p.distance);
        RETURN NEXT;
    END LOOP;
END
$$;
SELECT * FROM differences('red shoes w3 w9', false);
SELECT * FROM differences('"running shoes" +w3 -w6 w10', true);
SELECT bool_and(reground.bm25_score(w.body, reground.bm25_query('w3 ran', 'whole')) = reground.bm25_score(w.body, reground.bm25_with_statistics(reground.bm25_query('w3 ran', 'parts')))) AS as_partitions
FROM whole AS w;
SELECT lexeme, document_frequency, documents, weight > 0 AS weighs FROM reground.bm25_explain('w3 ran', reground.bm25_with_statistics(reground.bm25_query('w3 ran', 'parts')));
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM low WHERE body @@@ :'q' ORDER BY body <@> :'q' LIMIT 3;
RESET enable_seqscan;

-- It is stored and sent like any other query.
CREATE TABLE stored (q reground.bm25query);
INSERT INTO stored SELECT reground.bm25_with_statistics(reground.bm25_query('red w3', 'whole'));
SELECT reground._bm25query_send(q) = reground._bm25query_send((q::text)::reground.bm25query) AS same_bytes FROM stored;
SELECT id FROM low, stored WHERE body @@@ q ORDER BY body <@> q, id LIMIT 2;

-- An index with other settings does not answer it.
CREATE TABLE other (id integer, body text);
INSERT INTO other SELECT * FROM low;
CREATE INDEX other_body ON other USING reground_bm25 (body) WITH (k1 = 0.9);
SET enable_seqscan = off;
SELECT count(*) = (SELECT count(*) FROM low WHERE body @@@ :'q') AS by_the_table FROM other WHERE body @@@ :'q';
SET plan_cache_mode = force_generic_plan;
PREPARE unknown(reground.bm25query) AS SELECT id FROM other WHERE body @@@ $1 ORDER BY body <@> $1 LIMIT 3;
EXECUTE unknown(:'q');
DEALLOCATE unknown;
RESET plan_cache_mode;
RESET enable_seqscan;

-- k1 and b keep all their digits.
CREATE TABLE precise AS SELECT * FROM low;
CREATE INDEX precise_body ON precise USING reground_bm25 (body) WITH (k1 = 0.9886863694964385, b = 0.7353672310029717);
SET enable_seqscan = off;
SELECT count(*) > 0 AS found FROM precise, reground.bm25_with_statistics(reground.bm25_query('w3', 'precise')) AS q WHERE body @@@ q;
SELECT bool_and(reground.bm25_with_statistics(reground.bm25_query('w3', 'precise'))::text::reground.bm25query::text = reground.bm25_with_statistics(reground.bm25_query('w3', 'precise'))::text);
RESET enable_seqscan;

-- The heaviest query.
SELECT reground.bm25_score((SELECT string_agg('a' || i, ' ') FROM generate_series(1, 40) AS i),
    ('+"statistics"{"text_config":"simple","weights":"1","k1":0,"b":0,"documents":4503599627370496,"length":4503599627370496,"frequencies":'
     || (SELECT json_object_agg('a' || i, 1) FROM generate_series(1, 40) AS i) || '}' || (SELECT json_object_agg('a' || i, 1000) FROM generate_series(1, 40) AS i) || ' -: ')::reground.bm25query);

-- Errors.
SELECT reground.bm25_with_statistics(reground.bm25_query('red', 'stored'));
SELECT reground.bm25_with_statistics(reground.bm25_query('red', 'whole'), 0);
SELECT '+"statistics"{"documents": 1} -: red'::reground.bm25query;
SELECT '+"statistics"{"text_config":"english","weights":"1","k1":1.2,"b":0.75,"documents":-1,"length":880,"frequencies":{}} -: red'::reground.bm25query;
SELECT reground.bm25_score('red', '+"statistics"{"text_config":"english","weights":"1","k1":1.2,"b":7,"documents":1,"length":880,"frequencies":{}} -: red');
SELECT reground.bm25_score('red', '+"statistics"{"text_config":"nowhere","weights":"1","k1":1.2,"b":0.75,"documents":1,"length":880,"frequencies":{}} -: red');
SELECT reground.bm25_score('red', '+"statistics"{"text_config":"english","weights":"1","k1":1.2,"b":0.75,"documents":18446744073709551615,"length":880,"frequencies":{}} -: red');
SELECT reground.bm25_score('red', '+"statistics"{"text_config":"english","weights":"1","k1":1.2,"b":0.75,"documents":3,"length":880,"frequencies":{"red":5000000000000000}} -: red');
SELECT '-: red'::reground.bm25query;
CREATE ROLE query_statistics_reader;
GRANT reground_user TO query_statistics_reader;
GRANT USAGE ON SCHEMA query_statistics TO query_statistics_reader;
GRANT SELECT ON whole TO query_statistics_reader;
ALTER TABLE whole ENABLE ROW LEVEL SECURITY;
SET ROLE query_statistics_reader;
SELECT reground.bm25_with_statistics(reground.bm25_query('red', 'whole'));
SELECT reground.bm25_with_statistics(reground.bm25_query('red', 'low'));
RESET ROLE;
RESET search_path;
DROP SCHEMA query_statistics CASCADE;
DROP OWNED BY query_statistics_reader;
DROP ROLE query_statistics_reader;
