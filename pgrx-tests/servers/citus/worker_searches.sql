-- Searches of the distributed table, on the coordinator or on a worker.
-- A worker would send CREATE FUNCTION to the coordinator, which Citus refuses.
SET citus.enable_ddl_propagation = off;
\ir asked.sql
SELECT n, s, pg_temp.found('spread', query, CASE WHEN s <> '{}' THEN embedding END, s)
FROM asked, unnest(ARRAY['{}', '{"vector_search": "exact"}', '{"vector_search": "exact", "fusion": "rrf"}']::jsonb[]) AS s ORDER BY 1, 2;
SELECT reground.bm25_with_statistics(reground.bm25_query('w1 w20 w300', 'spread'));
SET reground.tenant_from = 'reground.tenant';
SET reground.tenant = 't1';
SELECT n, pg_temp.found('spread_of_tenants', query, embedding, '{"vector_search": "exact"}') FROM asked ORDER BY n;
