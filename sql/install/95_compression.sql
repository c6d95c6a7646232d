-- Large values are compressed with lz4 where the server has it. A context of 28 kB is then written in 0.1 instead of 0.5 ms, and takes 5 % more
-- space than with pglz.

DO $$
DECLARE
    actions record;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)) THEN
        RETURN;
    END IF;
    FOR actions IN
        SELECT c.oid::regclass AS relation, pg_catalog.string_agg(pg_catalog.format('ALTER COLUMN %I SET COMPRESSION lz4', a.attname), ', ') AS list
        FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid
        WHERE c.relnamespace = 'reground'::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped AND a.attstorage = 'x'
        GROUP BY c.oid
    LOOP
        EXECUTE pg_catalog.format('ALTER TABLE %s %s', actions.relation, actions.list);
    END LOOP;
END
$$;
