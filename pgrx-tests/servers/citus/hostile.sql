-- Each row is a difference, as in managed.sql, which runs before it in the same session. The calls are made in a session whose search_path
-- begins with objects that have the names of PostgreSQL's own and raise an error, with another style of times, and without plans for values.
SET citus.enable_ddl_propagation = off;
\ir ../../tests/planted/plant.sql
RESET citus.enable_ddl_propagation;
RESET check_function_bodies;

SET ROLE writer;
SET search_path = hostile, pg_catalog, public;
SET DateStyle = 'SQL, MDY';
SET TimeZone = 'Asia/Kolkata';
SET IntervalStyle = 'sql_standard';
SET extra_float_digits = -10;
SET plan_cache_mode = force_generic_plan;
SELECT reground.create_corpus('one of a stranger', schema => 'public', dimensions => 3, chunk_size => 80, chunk_overlap => 20, chunk_unit => 'characters');
SELECT reground.create_corpus('many of a stranger', schema => 'public', dimensions => 3, chunk_size => 80, chunk_overlap => 20, chunk_unit => 'characters', distribute => true);
BEGIN;
\set corpus one
\ir hostile_calls.sql
\set corpus many
\ir hostile_calls.sql
COMMIT;
RESET search_path;
RESET DateStyle;
RESET TimeZone;
RESET IntervalStyle;
RESET extra_float_digits;
RESET plan_cache_mode;
RESET ROLE;

SELECT * FROM pg_temp.differ($$SELECT * FROM "found in #" ORDER BY doc_id, content$$);
SELECT * FROM pg_temp.differ($$SELECT * FROM "found before in #" ORDER BY doc_id, content$$);
SELECT * FROM pg_temp.differ($$SELECT * FROM "sources in #" ORDER BY doc_id, content$$);
SELECT * FROM pg_temp.rows_differ('# of a stranger');
SELECT 'times', doc_id, published FROM "many of a stranger_documents" WHERE published <> '2026-05-03 12:00+00' OR indexed_at <> (SELECT max(indexed_at) FROM "one of a stranger_documents");
SELECT 'called', last_value FROM hostile.calls WHERE is_called;
-- Other roles can create functions where the servers look them up.
CREATE VIEW pg_temp.schemas_finding AS SELECT c.status || coalesce(': ' || c.hint, '') AS finding FROM reground.check_corpus('many') AS c WHERE c.item = 'schemas of the servers';
SELECT 'no warning', f FROM (SELECT (TABLE pg_temp.schemas_finding)) AS f(f) WHERE f IS DISTINCT FROM 'warning: REVOKE CREATE ON SCHEMA public FROM writer;';
REVOKE CREATE ON SCHEMA public FROM writer;
SELECT 'a warning', f FROM (SELECT (TABLE pg_temp.schemas_finding)) AS f(f) WHERE f IS DISTINCT FROM 'ok';
DROP TABLE "found in one", "found in many", "found before in one", "found before in many", "sources in one", "sources in many";
