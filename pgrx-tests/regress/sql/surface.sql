-- Every object says what it is for, and nobody can do anything by default.
CREATE TEMPORARY VIEW members AS
    SELECT d.classid, d.objid FROM pg_depend AS d JOIN pg_extension AS e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
    WHERE e.extname = 'reground' AND d.deptype = 'e';

SELECT e.extname, n.nspname, e.extrelocatable FROM pg_extension AS e JOIN pg_namespace AS n ON n.oid = e.extnamespace WHERE extname = 'reground';

-- Public functions and their arguments.
SELECT p.proname, pg_get_function_identity_arguments(p.oid) AS arguments, p.provolatile AS volatility, p.proparallel AS parallel
FROM pg_proc AS p WHERE p.pronamespace = 'reground'::regnamespace AND p.proname !~ '^_' ORDER BY p.proname COLLATE "C", pg_get_function_identity_arguments(p.oid) COLLATE "C";

-- Without a comment: none.
SELECT p.oid::regprocedure AS function FROM pg_proc AS p
WHERE p.pronamespace = 'reground'::regnamespace AND obj_description(p.oid, 'pg_proc') IS NULL;
SELECT c.oid::regclass AS relation FROM pg_class AS c
WHERE c.relnamespace = 'reground'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND obj_description(c.oid, 'pg_class') IS NULL;
SELECT c.oid::regclass AS relation, a.attname AS column FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
WHERE c.relnamespace = 'reground'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND a.attnum > 0 AND NOT a.attisdropped
    AND col_description(c.oid, a.attnum) IS NULL;
SELECT t.oid::regtype AS type FROM pg_type AS t
WHERE t.typnamespace = 'reground'::regnamespace AND t.typrelid = 0 AND t.typelem = 0 AND obj_description(t.oid, 'pg_type') IS NULL;
SELECT obj_description('reground'::regnamespace, 'pg_namespace') IS NOT NULL AS schema_has_comment;

-- Everything in the schema belongs to the extension: none that does not.
SELECT p.oid::regprocedure AS function FROM pg_proc AS p
WHERE p.pronamespace = 'reground'::regnamespace AND NOT EXISTS (SELECT FROM members WHERE classid = 'pg_proc'::regclass AND objid = p.oid);
SELECT c.oid::regclass AS relation FROM pg_class AS c
WHERE c.relnamespace = 'reground'::regnamespace AND c.relkind IN ('r', 'p', 'v') AND NOT EXISTS (SELECT FROM members WHERE classid = 'pg_class'::regclass AND objid = c.oid);

-- Executable by PUBLIC, or readable: what writers of a table need whose index or generated column is made with it. No function runs as its definer.
SELECT p.oid::regprocedure AS function FROM pg_proc AS p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) AS a
WHERE p.pronamespace = 'reground'::regnamespace AND a.grantee = 0;
SELECT c.oid::regclass AS relation FROM pg_class AS c, aclexplode(c.relacl) AS a WHERE c.relnamespace = 'reground'::regnamespace AND a.grantee = 0;
SELECT p.oid::regprocedure AS definer FROM pg_proc AS p WHERE p.pronamespace = 'reground'::regnamespace AND p.prosecdef;

-- Who may create in the schema, or write a table: nobody but the owner.
SELECT a.grantee::regrole, a.privilege_type FROM pg_namespace AS n, aclexplode(n.nspacl) AS a
WHERE n.nspname = 'reground' AND a.grantee <> n.nspowner ORDER BY a.grantee::regrole::text COLLATE "C";
SELECT c.oid::regclass AS relation, a.grantee::regrole, a.privilege_type FROM pg_class AS c, aclexplode(c.relacl) AS a
WHERE c.relnamespace = 'reground'::regnamespace AND a.grantee <> c.relowner AND a.privilege_type <> 'SELECT';

-- Every table has row-level security and a policy, or is a static list; partitions are read through their parent.
SELECT c.oid::regclass AS open_table FROM pg_class AS c
WHERE c.relnamespace = 'reground'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relrowsecurity ORDER BY c.relname COLLATE "C";
SELECT p.polrelid::regclass AS relation, string_agg(p.polname || ' ' || p.polcmd::text, ', ' ORDER BY p.polname COLLATE "C") AS policies
FROM pg_policy AS p JOIN pg_class AS c ON c.oid = p.polrelid WHERE c.relnamespace = 'reground'::regnamespace GROUP BY p.polrelid, c.relname ORDER BY c.relname COLLATE "C";

-- Views run with the reader's rights: none that does not.
SELECT c.oid::regclass AS view FROM pg_class AS c
WHERE c.relnamespace = 'reground'::regnamespace AND c.relkind = 'v' AND NOT coalesce('security_invoker=true' = ANY (c.reloptions), false);

-- pg_dump takes every table (static lists excepted; a partitioned table by its partitions) and every identity sequence.
SELECT c.oid::regclass AS not_dumped FROM pg_class AS c
WHERE c.relnamespace = 'reground'::regnamespace AND c.relkind IN ('r', 'S')
    AND NOT EXISTS (SELECT FROM pg_extension AS e WHERE e.extname = 'reground' AND c.oid = ANY (e.extconfig))
ORDER BY c.relname COLLATE "C";

-- The verdicts.
SELECT status, holds, score, hallucination_mode FROM reground.citation_statuses ORDER BY status COLLATE "C";
-- The settings, each with a meaning and what it takes.
SELECT name, default_value, expects FROM reground.settings ORDER BY name COLLATE "C";
SELECT count(*) AS without_meaning FROM reground.settings WHERE coalesce(meaning, '') = '' OR server_value IS NOT NULL;
-- The instructions differ by format.
SELECT count(DISTINCT reground.citation_instructions(format)) AS instructions FROM unnest(ARRAY['text', 'xml', 'json']) AS format;
SELECT * FROM regress.refusal($$SELECT reground.citation_instructions('yaml')$$);
