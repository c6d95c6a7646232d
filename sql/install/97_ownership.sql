-- The owner of the database owns the tables, so that it can dump and restore them. pg_database_owner stands for it, also after the database
-- gets another owner. The functions still belong to the superuser that creates the extension: a superuser who reads a view must not run
-- a function that the owner of the database has replaced.

DO $$
DECLARE
    relation regclass;
    owner name := (SELECT r.rolname FROM pg_catalog.pg_database AS d JOIN pg_catalog.pg_roles AS r ON r.oid = d.datdba
                   WHERE d.datname = pg_catalog.current_database() AND NOT r.rolsuper);
BEGIN
    FOR relation IN SELECT oid FROM pg_catalog.pg_class WHERE relnamespace = 'reground'::regnamespace AND relkind IN ('r', 'p') LOOP
        EXECUTE pg_catalog.format('ALTER TABLE %s OWNER TO pg_database_owner', relation);
    END LOOP;
    -- pg_database_owner cannot be a member of a role.
    IF owner IS NOT NULL THEN
        EXECUTE pg_catalog.format('GRANT reground_user, reground_auditor, reground_admin, reground_worker TO %I WITH ADMIN OPTION', owner);
    END IF;
END
$$;
GRANT USAGE ON SCHEMA reground TO pg_database_owner;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA reground TO pg_database_owner;
GRANT SELECT ON ALL TABLES IN SCHEMA reground TO pg_database_owner;
-- In the session of another database, the same role is not its owner and has no such privilege.
GRANT SET ON PARAMETER reground.tenant, reground.tenant_from, reground.principals_from, reground.trace_retention_days, reground.archive_retention_days
    TO pg_database_owner;
