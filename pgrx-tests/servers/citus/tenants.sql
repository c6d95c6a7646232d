-- Each row is a difference between the distributed table and the one of the coordinator: searches of a tenant.
\ir asked.sql

SET reground.tenant_from = 'reground.tenant';
SET reground.tenant = 't1';
SELECT 'tenants', query, one, other
FROM (SELECT query, pg_temp.found('plain_of_tenants', query, embedding, '{"vector_search": "exact"}') AS one,
             pg_temp.found('spread_of_tenants', query, embedding, '{"vector_search": "exact"}') AS other FROM asked) AS r
WHERE one IS DISTINCT FROM other OR one IS NULL;
RESET reground.tenant;
RESET reground.tenant_from;
