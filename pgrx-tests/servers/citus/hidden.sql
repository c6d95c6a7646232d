-- Each row is a difference between the distributed table and the one of the coordinator: searches under row-level security, with the statistics of
-- the visible rows.
\ir asked.sql

SELECT 'hidden rows', query, one, other
FROM (SELECT query, pg_temp.found('plain', query, embedding, '{"vector_search": "exact"}') AS one,
             pg_temp.found('spread', query, embedding, '{"vector_search": "exact"}') AS other FROM asked) AS r
WHERE one IS DISTINCT FROM other OR one IS NULL;
