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

-- A later owner of the database gets rows that the present owner wrote. So a function that owners cannot replace returns the present owner.
DO $$
BEGIN
    EXECUTE (SELECT pg_catalog.format('CREATE FUNCTION reground._trusted_owner() RETURNS oid LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN %s::oid', datdba)
             FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database());
END
$$;
COMMENT ON FUNCTION reground._trusted_owner() IS
'Internal: returns the oid of the owner of the database when the extension was created. Our functions run only as roles whose rights both this owner and the present owner have.';
