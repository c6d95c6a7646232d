-- What the objects of users_objects.sql return.

REFRESH MATERIALIZED VIEW app.turns;
SELECT format('SELECT %L, t::text FROM %s AS t ORDER BY t::text COLLATE "C"', oid::regclass, oid::regclass)
FROM pg_class WHERE relnamespace = 'app'::regnamespace AND relkind IN ('r', 'v', 'm') AND relname <> 'milk' ORDER BY relname COLLATE "C" \gexec
-- The score of a search depends on removed rows, which VACUUM may have removed.
SELECT 'milk', chunk_id, title, content FROM app.milk;
SELECT app.sources(s) FROM app.shown() AS s;
SELECT 'index', app.sources(source) FROM app.shown ORDER BY app.sources(source);
SELECT 'refers', conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'app.flags'::regclass ORDER BY conname COLLATE "C";
SELECT 'may read', has_table_privilege('pg_monitor', 'reground.turns', 'SELECT');
