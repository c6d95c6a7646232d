-- The owner of the database owns the tables, so that it can dump and restore them. pg_database_owner stands for it, also after the database
-- gets another owner. The functions still belong to the superuser that creates the extension: a superuser who reads a view must not run
-- a function that the owner of the database has replaced.

DO $$
DECLARE
    relation regclass;
BEGIN
    FOR relation IN SELECT oid FROM pg_catalog.pg_class WHERE relnamespace = 'reground'::regnamespace AND relkind IN ('r', 'p') LOOP
        EXECUTE pg_catalog.format('ALTER TABLE %s OWNER TO pg_database_owner', relation);
    END LOOP;
END
$$;
