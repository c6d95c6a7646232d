-- What a superuser calls before erase.sql. Written as described in corpora.sql.

SELECT * FROM reground.run_retention(pg_catalog.now() OPERATOR(pg_catalog.+) '100 days'::pg_catalog.interval);
-- no rows
SELECT * FROM reground.verify_chain('{r}-pinned');
