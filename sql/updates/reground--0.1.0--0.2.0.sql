\echo Use "ALTER EXTENSION reground UPDATE" to load this file. \quit

SET LOCAL search_path = pg_catalog, pg_temp;

-- Sessions notice the update by a changed row of pg_attribute.
ALTER TABLE reground.corpora ALTER COLUMN corpus_id SET STATISTICS -1;

-- The keys of these tables have NULLs, so they cannot be the identity of a published row.
ALTER TABLE reground.answer_rollup REPLICA IDENTITY FULL;
ALTER TABLE reground.citation_rollup REPLICA IDENTITY FULL;
ALTER TABLE reground.turn_rollup REPLICA IDENTITY FULL;
ALTER TABLE reground.alert_baselines REPLICA IDENTITY FULL;
ALTER TABLE reground.model_usage REPLICA IDENTITY FULL;

COMMENT ON COLUMN reground.model_usage.failures IS 'Number of failed attempts.';

-- A role that may create functions in the schema could add some that superusers would call.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_namespace AS n JOIN pg_catalog.pg_roles AS r ON r.oid OPERATOR(pg_catalog.=) n.nspowner
               WHERE n.nspname OPERATOR(pg_catalog.=) 'reground' AND NOT r.rolsuper)
        OR EXISTS (SELECT FROM pg_catalog.pg_namespace AS n, pg_catalog.aclexplode(n.nspacl) AS a
                   WHERE n.nspname OPERATOR(pg_catalog.=) 'reground' AND a.privilege_type OPERATOR(pg_catalog.=) 'CREATE' AND a.grantee OPERATOR(pg_catalog.<>) n.nspowner) THEN
        RAISE EXCEPTION USING
            ERRCODE = 'insufficient_privilege',
            MESSAGE = 'a role other than a superuser may create objects in the schema reground',
            HINT    = 'Run ALTER SCHEMA reground OWNER TO CURRENT_USER and REVOKE CREATE ON SCHEMA reground FROM each such role. Drop functions in it that are not in the extension.';
    END IF;
END
$$;

-- The owner of the database owns the tables, so that it can dump and restore them. pg_database_owner stands for it, also after the database
-- gets another owner. The functions still belong to the superuser that creates the extension: a superuser who reads a view must not run
-- a function that the owner of the database has replaced.

DO $$
DECLARE
    relation record;
    changed oid[];
BEGIN
    -- Tables with grants of users.
    SELECT pg_catalog.array_agg(DISTINCT c.oid) INTO changed
    FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid
    JOIN (VALUES (true), (false)) AS whole (table_) ON whole.table_ OR a.attacl IS NOT NULL
    CROSS JOIN LATERAL pg_catalog.aclexplode(CASE WHEN whole.table_ THEN c.relacl ELSE a.attacl END) AS x
    WHERE c.relnamespace = 'reground'::regnamespace AND c.relkind IN ('r', 'p') AND NOT EXISTS (
        SELECT FROM pg_catalog.pg_init_privs AS p, pg_catalog.aclexplode(p.initprivs) AS y
        WHERE (p.classoid, p.objoid, p.objsubid) = ('pg_class'::regclass, c.oid, CASE WHEN whole.table_ THEN 0 ELSE a.attnum END)
            AND (y.grantee, y.privilege_type) = (x.grantee, x.privilege_type));
    FOR relation IN SELECT oid, relacl FROM pg_catalog.pg_class WHERE relnamespace = 'reground'::regnamespace AND relkind IN ('r', 'p') LOOP
        EXECUTE pg_catalog.format('ALTER TABLE %s OWNER TO pg_database_owner', relation.oid::regclass);
        -- A grant makes the privileges of a table those of the extension, which pg_dump does not dump. It must dump those of users.
        IF relation.relacl IS NOT NULL AND NOT relation.oid = ANY (coalesce(changed, '{}')) THEN
            EXECUTE pg_catalog.format('GRANT SELECT ON %s TO pg_database_owner', relation.oid::regclass);
        END IF;
    END LOOP;
    IF NOT 'reground.passage_positions'::regclass = ANY (coalesce(changed, '{}')) THEN
        GRANT SELECT (corpus_id, chunk_id, row_tenant, ordinal, char_start, char_end, page_start, page_end, recorded_at) ON reground.passage_positions TO reground_auditor, reground_admin;
    END IF;
    IF NOT 'reground.passage_embeddings'::regclass = ANY (coalesce(changed, '{}')) THEN
        GRANT SELECT (corpus_id, model, chunk_id, embedded_at) ON reground.passage_embeddings TO reground_auditor, reground_admin;
    END IF;
    IF NOT 'reground.model_tasks'::regclass = ANY (coalesce(changed, '{}')) THEN
        GRANT SELECT (task_id, tenant, kind, model, corpus_id, turn_id, subject, state, attempts, due_at, last_error, queued_at) ON reground.model_tasks TO reground_user;
    END IF;
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
REVOKE ALL ON FUNCTION reground._trusted_owner() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION reground._trusted_owner() TO reground_user;

-- The owner of the database. Privileges on settings and memberships belong to the whole cluster, so the owner gets them as a member of
-- reground_owner: pg_database_owner also stands for the owners of other databases.
GRANT USAGE ON SCHEMA reground TO pg_database_owner;
-- Only what our statements use. A GRANT in an update makes all privileges of the object those of the extension, so later dumps omit the
-- grants of users.
GRANT SELECT ON reground.active_alert_rules, reground.answer_costs, reground.embedding_progress, reground.factuality, reground.judge_verdicts, reground.maintenance_status,
    reground.model_backlog, reground.source_facts, reground.turn_candidates, reground._turn_passages TO pg_database_owner;
DO $$
DECLARE
    function regprocedure;
BEGIN
    FOR function IN SELECT oid FROM pg_catalog.pg_proc WHERE pronamespace = 'reground'::regnamespace AND proname LIKE '\_%' LOOP
        EXECUTE pg_catalog.format('GRANT EXECUTE ON FUNCTION %s TO pg_database_owner', function);
    END LOOP;
END
$$;
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'reground_owner') THEN
        CREATE ROLE reground_owner NOLOGIN;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    -- Another database creates it now.
    NULL;
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
DO $$
DECLARE
    owner oid := (SELECT datdba FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database());
BEGIN
    IF NOT pg_catalog.has_parameter_privilege('reground_owner', 'reground.archive_retention_days', 'SET') THEN
        GRANT SET ON PARAMETER reground.tenant, reground.tenant_from, reground.principals_from, reground.trace_retention_days, reground.archive_retention_days
            TO reground_owner;
    END IF;
    -- Memberships cannot be circular.
    IF NOT (SELECT rolsuper FROM pg_catalog.pg_roles WHERE oid = owner) AND NOT pg_catalog.pg_has_role('reground_owner', owner, 'MEMBER') THEN
        EXECUTE pg_catalog.format('GRANT reground_owner TO %s', owner::regrole);
    END IF;
END
$$;
