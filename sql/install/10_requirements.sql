-- Checks of the database and roles.

-- Names in this script are resolved in pg_catalog. Otherwise an operator in the schema of pgvector could get into our views,
-- constraints and functions.
SET LOCAL search_path = pg_catalog, pg_temp;

DO $$
DECLARE
    version text := (SELECT extversion FROM pg_catalog.pg_extension WHERE extname = 'vector');
BEGIN
    IF (pg_catalog.string_to_array(pg_catalog.split_part(version, '-', 1), '.')::int[]) OPERATOR(pg_catalog.<) ARRAY[0, 7, 0] THEN
        RAISE EXCEPTION USING
            ERRCODE = 'feature_not_supported',
            MESSAGE = pg_catalog.format('reground needs pgvector 0.7.0 or newer, found %s', version),
            HINT    = 'Run ALTER EXTENSION vector UPDATE.';
    END IF;
    IF pg_catalog.getdatabaseencoding() OPERATOR(pg_catalog.<>) 'UTF8' THEN
        RAISE EXCEPTION USING
            ERRCODE = 'feature_not_supported',
            MESSAGE = pg_catalog.format('reground needs a database encoded in UTF8, this one is %s', pg_catalog.getdatabaseencoding()),
            HINT    = 'Create a database with ENCODING ''UTF8''.';
    END IF;
END
$$;

-- A role that may create functions in the schema could add some that superusers would call.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_namespace AS n JOIN pg_catalog.pg_roles AS r ON r.oid OPERATOR(pg_catalog.=) n.nspowner
               WHERE n.nspname OPERATOR(pg_catalog.=) 'reground' AND NOT r.rolsuper)
        OR EXISTS (SELECT FROM pg_catalog.pg_namespace AS n, pg_catalog.aclexplode(n.nspacl) AS a
                   WHERE n.nspname OPERATOR(pg_catalog.=) 'reground' AND a.privilege_type OPERATOR(pg_catalog.=) 'CREATE' AND a.grantee OPERATOR(pg_catalog.<>) n.nspowner) THEN
        RAISE EXCEPTION USING
            ERRCODE = 'insufficient_privilege',
            MESSAGE = 'the schema reground exists, and a role that is not a superuser may create objects in it',
            HINT    = 'Drop or rename it. CREATE EXTENSION creates the schema.';
    END IF;
END
$$;

-- Roles are cluster-wide: another database with reground may have created them, or be creating them now.
DO $$
DECLARE
    role_name text;
BEGIN
    FOREACH role_name IN ARRAY ARRAY['reground_user', 'reground_auditor', 'reground_admin', 'reground_worker', 'reground_owner'] LOOP
        IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = role_name) THEN
            BEGIN
                EXECUTE pg_catalog.format('CREATE ROLE %I NOLOGIN', role_name);
            EXCEPTION WHEN duplicate_object OR unique_violation THEN
                NULL;
            END;
        END IF;
    END LOOP;
END
$$;
-- Only if they are missing: a grant locks the role for all databases until the extension is created.
DO $$
BEGIN
    IF NOT pg_catalog.pg_has_role('reground_admin', 'reground_user', 'MEMBER') THEN
        GRANT reground_user TO reground_admin;
    END IF;
    IF NOT pg_catalog.pg_has_role('reground_owner', 'reground_worker', 'MEMBER WITH ADMIN OPTION') THEN
        GRANT reground_user, reground_auditor, reground_admin, reground_worker TO reground_owner WITH ADMIN OPTION;
    END IF;
END
$$;

COMMENT ON SCHEMA reground IS 'Grounded conversational RAG: corpora, turns, citations and their audit.';

-- The tenant of a statement.

CREATE FUNCTION reground.current_tenant() RETURNS text
    LANGUAGE c STABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'current_tenant_wrapper';
COMMENT ON FUNCTION reground.current_tenant() IS
'Returns the tenant of this statement: the value of the setting named by reground.tenant_from, or the current role if reground.tenant_from is not set. NULL if the named setting is empty; then no row of a tenant is visible or can be written.';

CREATE FUNCTION reground._notice_scope() RETURNS boolean
    LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', '_notice_scope_wrapper';
COMMENT ON FUNCTION reground._notice_scope() IS
'Internal: returns true. Sends a notice if the caller can read no conversation because it is not a member of reground_auditor, so that a report is empty.';

CREATE FUNCTION reground.current_principals() RETURNS text[]
    LANGUAGE c STABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'current_principals_wrapper';
COMMENT ON FUNCTION reground.current_principals() IS
'Returns the principals of the caller: the value of the setting named by reground.principals_from, a text array such as {user:7,group:2}. NULL if none is set; then no row of a corpus with principals_column is visible. Errors: 22023 if the value is not a text array.';

-- Settings of a turn.

CREATE FUNCTION reground._settings()
    RETURNS TABLE (name text, default_value jsonb, expects text, meaning text) LANGUAGE c IMMUTABLE PARALLEL SAFE ROWS 60 AS 'MODULE_PATHNAME', 'settings_wrapper';
COMMENT ON FUNCTION reground._settings() IS
'Internal: rows of the view settings.';

CREATE VIEW reground.settings WITH (security_invoker = true) AS
    SELECT name, default_value, NULLIF(pg_catalog.current_setting('reground.' || name, true), '') AS server_value, expects, meaning
    FROM reground._settings();
COMMENT ON VIEW reground.settings IS 'All settings of a turn. The first value that is set wins: argument, conversation, corpus, server (SET reground.NAME), default; visible of lexical_statistics always wins.';
COMMENT ON COLUMN reground.settings.name IS 'Name.';
COMMENT ON COLUMN reground.settings.default_value IS 'Built-in default.';
COMMENT ON COLUMN reground.settings.server_value IS 'Current value of reground.NAME.';
COMMENT ON COLUMN reground.settings.expects IS 'Accepted values.';
COMMENT ON COLUMN reground.settings.meaning IS 'Effect of the setting.';
