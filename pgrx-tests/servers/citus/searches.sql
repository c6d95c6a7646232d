-- Each row is a difference between the distributed table and the one of the coordinator: searches of a role.
\ir asked.sql

SELECT 'words', query, one, other
FROM (SELECT query, pg_temp.found('plain', query, NULL, '{}') AS one, pg_temp.found('spread', query, NULL, '{}') AS other FROM asked) AS r
WHERE one IS DISTINCT FROM other OR one IS NULL;
SELECT 'words and vectors', query, one, other
FROM (SELECT query, pg_temp.found('plain', query, embedding, settings) AS one, pg_temp.found('spread', query, embedding, settings) AS other
      FROM asked, unnest(ARRAY['{"vector_search": "exact"}', '{"vector_search": "exact", "fusion": "rrf"}']::jsonb[]) AS settings) AS r
WHERE one IS DISTINCT FROM other OR one IS NULL;

-- The same statistics in a query of our own.
SELECT reground.bm25_with_statistics(reground.bm25_query('w1 w20 w300', 'plain_body')) AS one, reground.bm25_with_statistics(reground.bm25_query('w1 w20 w300', 'spread')) AS other \gset
SELECT 'statistics', :'one', :'other' WHERE :'one' <> :'other';
CREATE TEMP TABLE one AS SELECT id, round((body <@> :'one')::numeric, 9) AS distance FROM plain WHERE body @@@ :'one' ORDER BY body <@> :'one', id LIMIT 50;
CREATE TEMP TABLE other AS SELECT id, round((body <@> :'other')::numeric, 9) AS distance FROM spread WHERE body @@@ :'other' ORDER BY body <@> :'other', id LIMIT 50;
SELECT 'operators', one, other FROM one FULL JOIN other USING (id, distance) WHERE one IS NULL OR other IS NULL;

SELECT 'no row', found FROM (SELECT count(*) AS found FROM one WHERE distance < 0) AS r WHERE found < 50;

SELECT 'partitions', query, one, other
FROM (SELECT query, pg_temp.found('plain', query, NULL, '{}') AS one, pg_temp.found('parts', query, NULL, '{}') AS other FROM asked WHERE n <= 5) AS r
WHERE one IS DISTINCT FROM other OR one IS NULL;
SELECT 'two indexes', query, one, other
FROM (SELECT query, pg_temp.found('titled plain', query, NULL, '{}') AS one, pg_temp.found('titled "Odd % table"', query, NULL, '{}') AS other
      FROM (SELECT query || ' title 12 %L' AS query FROM asked WHERE n <= 5) AS a) AS r
WHERE one IS DISTINCT FROM other OR one IS NULL;
SELECT 'few', found FROM (SELECT jsonb_agg(chunk_id ORDER BY score DESC) AS found FROM reground.search('few', 'red shoes')) AS r WHERE found IS DISTINCT FROM '["a", "b"]';
SELECT 'nothing', s.* FROM generate_series(1, 2), reground.search('nothing', 'red shoes') AS s;
