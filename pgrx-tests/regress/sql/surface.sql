-- Each object has a comment, and no privileges are granted by default.
CREATE TEMPORARY VIEW members AS
    SELECT d.classid, d.objid FROM pg_depend AS d JOIN pg_extension AS e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
    WHERE e.extname = 'reground' AND d.deptype = 'e';

SELECT e.extname, n.nspname, e.extrelocatable FROM pg_extension AS e JOIN pg_namespace AS n ON n.oid = e.extnamespace WHERE extname = 'reground';

-- Public functions and their arguments.
SELECT p.proname, pg_get_function_identity_arguments(p.oid) AS arguments, p.provolatile AS volatility, p.proparallel AS parallel
FROM pg_proc AS p WHERE p.pronamespace = 'reground'::regnamespace AND p.proname !~ '^_' ORDER BY p.proname COLLATE "C", pg_get_function_identity_arguments(p.oid) COLLATE "C";

-- Functions in C that the planner takes for a thousand rows, because nothing is declared: none.
SELECT p.oid::regprocedure AS function FROM pg_proc AS p JOIN pg_language AS l ON l.oid = p.prolang
WHERE p.pronamespace = 'reground'::regnamespace AND l.lanname = 'c' AND p.proretset AND p.prorows = 1000;

-- Objects without a comment: none.
SELECT p.oid::regprocedure AS function FROM pg_proc AS p
WHERE p.pronamespace = 'reground'::regnamespace AND obj_description(p.oid, 'pg_proc') IS NULL;
SELECT c.oid::regclass AS relation FROM pg_class AS c
WHERE c.relnamespace = 'reground'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND obj_description(c.oid, 'pg_class') IS NULL;
SELECT c.oid::regclass AS relation, a.attname AS column FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
WHERE c.relnamespace = 'reground'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'c') AND NOT c.relispartition AND a.attnum > 0 AND NOT a.attisdropped
    AND col_description(c.oid, a.attnum) IS NULL;
SELECT t.oid::regtype AS type FROM pg_type AS t
WHERE t.typnamespace = 'reground'::regnamespace AND t.typrelid = 0 AND t.typelem = 0 AND obj_description(t.oid, 'pg_type') IS NULL;
SELECT obj_description('reground'::regnamespace, 'pg_namespace') IS NOT NULL AS schema_has_comment;

-- Objects in the schema that do not belong to the extension: none.
SELECT p.oid::regprocedure AS function FROM pg_proc AS p
WHERE p.pronamespace = 'reground'::regnamespace AND NOT EXISTS (SELECT FROM members WHERE classid = 'pg_proc'::regclass AND objid = p.oid);
SELECT c.oid::regclass AS relation FROM pg_class AS c
WHERE c.relnamespace = 'reground'::regnamespace AND c.relkind IN ('r', 'p', 'v') AND NOT EXISTS (SELECT FROM members WHERE classid = 'pg_class'::regclass AND objid = c.oid);

-- Functions and relations for PUBLIC: those that writers of a table need for its index or generated column. No function is SECURITY DEFINER.
SELECT p.oid::regprocedure AS function FROM pg_proc AS p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) AS a
WHERE p.pronamespace = 'reground'::regnamespace AND a.grantee = 0 ORDER BY p.oid::regprocedure::text COLLATE "C";
SELECT c.oid::regclass AS relation FROM pg_class AS c, aclexplode(c.relacl) AS a WHERE c.relnamespace = 'reground'::regnamespace AND a.grantee = 0;
SELECT p.oid::regprocedure AS definer FROM pg_proc AS p WHERE p.pronamespace = 'reground'::regnamespace AND p.prosecdef;

-- Roles that may create in the schema or write to its tables: none but the owner.
SELECT a.grantee::regrole, a.privilege_type FROM pg_namespace AS n, aclexplode(n.nspacl) AS a
WHERE n.nspname = 'reground' AND a.grantee <> n.nspowner ORDER BY a.grantee::regrole::text COLLATE "C";
SELECT c.oid::regclass AS relation, a.grantee::regrole, a.privilege_type FROM pg_class AS c, aclexplode(c.relacl) AS a
WHERE c.relnamespace = 'reground'::regnamespace AND a.grantee <> c.relowner AND a.privilege_type <> 'SELECT'
ORDER BY c.relname, a.grantee::regrole::text, a.privilege_type;

-- Each table has row-level security and a policy, or is a static list; partitions are read through their parent.
SELECT c.oid::regclass AS open_table FROM pg_class AS c
WHERE c.relnamespace = 'reground'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relrowsecurity ORDER BY c.relname COLLATE "C";
SELECT p.polrelid::regclass AS relation, string_agg(p.polname || ' ' || p.polcmd::text, ', ' ORDER BY p.polname COLLATE "C") AS policies
FROM pg_policy AS p JOIN pg_class AS c ON c.oid = p.polrelid WHERE c.relnamespace = 'reground'::regnamespace GROUP BY p.polrelid, c.relname ORDER BY c.relname COLLATE "C";

-- Views that do not run with the rights of the reader: none.
SELECT c.oid::regclass AS view FROM pg_class AS c
WHERE c.relnamespace = 'reground'::regnamespace AND c.relkind = 'v' AND NOT coalesce('security_invoker=true' = ANY (c.reloptions), false);

-- pg_dump includes each table (without static lists; a partitioned table by its partitions) and each identity sequence.
SELECT c.oid::regclass AS not_dumped FROM pg_class AS c
WHERE c.relnamespace = 'reground'::regnamespace AND c.relkind IN ('r', 'S')
    AND NOT EXISTS (SELECT FROM pg_extension AS e WHERE e.extname = 'reground' AND c.oid = ANY (e.extconfig))
ORDER BY c.relname COLLATE "C";

-- Large values are compressed with lz4 where the server has it.
SELECT a.attrelid::regclass AS relation, a.attname AS otherwise FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
WHERE c.relnamespace = 'reground'::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped AND a.attstorage = 'x'
    AND (a.attcompression = 'l') <> EXISTS (SELECT FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals));

-- The citation statuses.
SELECT status, holds, score, hallucination_mode FROM reground.citation_statuses ORDER BY status COLLATE "C";
-- The settings, each with a meaning and its values.
SELECT name, default_value, expects FROM reground.settings ORDER BY name COLLATE "C";
SELECT count(*) AS without_meaning FROM reground.settings WHERE coalesce(meaning, '') = '' OR server_value IS NOT NULL;
-- The instructions differ by format.
SELECT count(DISTINCT reground.citation_instructions(format)) AS instructions FROM unnest(ARRAY['text', 'xml', 'json']) AS format;
SELECT * FROM regress.refusal($$SELECT reground.citation_instructions('yaml')$$);
