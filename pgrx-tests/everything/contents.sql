-- The contents of a database as text: the rows of every table, sequences, indexes, policies, extensions, and the tables that pg_dump
-- includes. For psql.
SET search_path = pg_catalog;
SET TimeZone = 'UTC';

SELECT format('SELECT %L, t::text FROM %s AS t ORDER BY t::text COLLATE "C"', oid::regclass, oid::regclass)
FROM pg_class WHERE relkind = 'r' AND relnamespace IN ('reground'::regnamespace, 'public'::regnamespace) ORDER BY oid::regclass::text COLLATE "C" \gexec
SELECT format('SELECT %L, last_value, is_called FROM %s', oid::regclass, oid::regclass)
FROM pg_class WHERE relkind = 'S' AND relnamespace IN ('reground'::regnamespace, 'public'::regnamespace) ORDER BY oid::regclass::text COLLATE "C" \gexec

SELECT pg_get_indexdef(i.indexrelid), i.indisvalid, i.indisready FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
WHERE c.relnamespace IN ('reground'::regnamespace, 'public'::regnamespace) ORDER BY pg_get_indexdef(i.indexrelid) COLLATE "C";
SELECT p.polrelid::regclass, p.polname, p.polcmd, pg_get_expr(p.polqual, p.polrelid) FROM pg_policy AS p ORDER BY p.polrelid::regclass::text COLLATE "C", p.polname COLLATE "C";
SELECT e.extname, e.extversion, n.nspname FROM pg_extension AS e JOIN pg_namespace AS n ON n.oid = e.extnamespace ORDER BY e.extname COLLATE "C";
SELECT e.extname, c.oid::regclass FROM pg_extension AS e, unnest(e.extconfig) AS c(oid) ORDER BY e.extname COLLATE "C", c.oid::regclass::text COLLATE "C";
