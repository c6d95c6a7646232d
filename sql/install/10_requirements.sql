-- What must be true of the database before anything is made.

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

-- Roles are cluster-wide: another database with reground may have made them already, or be making them.
DO $$
DECLARE
    role_name text;
BEGIN
    FOREACH role_name IN ARRAY ARRAY['reground_user', 'reground_auditor', 'reground_admin'] LOOP
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
GRANT reground_user TO reground_admin;

COMMENT ON SCHEMA reground IS 'Conversational RAG that stays grounded: corpora, turns, citations and their audit.';
