-- Plants a schema `hostile`: objects with the names of PostgreSQL's own. Each counts its calls and raises an error that names it.
-- For a database with pgvector, and with or without the extension, as a superuser.

SET search_path = pg_catalog;
SET check_function_bodies = off;

CREATE SCHEMA IF NOT EXISTS hostile;
GRANT USAGE ON SCHEMA hostile TO PUBLIC;
-- A rollback does not undo nextval.
CREATE SEQUENCE hostile.calls;
GRANT SELECT, USAGE ON SEQUENCE hostile.calls TO PUBLIC;
-- The planted objects by kind. The kind `refused` lists objects that cannot be created, with the reason.
CREATE TABLE hostile.planted (kind text NOT NULL, name text NOT NULL);

CREATE FUNCTION hostile.called(object text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_catalog.nextval('hostile.calls');
    RAISE EXCEPTION 'planted: %', object;
END $$;

-- Plants a function with these arguments and this result.
CREATE PROCEDURE hostile.plant_function(kind text, name text, arguments text, result text, object text) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE FUNCTION hostile.%I(%s) RETURNS %s LANGUAGE plpgsql AS %L', name, arguments, result,
        format('BEGIN PERFORM pg_catalog.nextval(''hostile.calls''); RAISE EXCEPTION USING MESSAGE = %L; END', 'planted: ' || object));
    INSERT INTO hostile.planted VALUES (kind, object);
EXCEPTION WHEN syntax_error_or_access_rule_violation OR feature_not_supported THEN
    INSERT INTO hostile.planted VALUES ('refused', format('%s: %s', object, SQLERRM));
END $$;

-- Plants an object of another kind.
CREATE PROCEDURE hostile.plant(kind text, object text, statement text) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    INSERT INTO hostile.planted VALUES (kind, object);
EXCEPTION WHEN syntax_error_or_access_rule_violation OR feature_not_supported THEN
    INSERT INTO hostile.planted VALUES ('refused', format('%s: %s', object, SQLERRM));
END $$;

-- Pseudo-types that PL/pgSQL does not take as arguments.
CREATE TABLE hostile.untaken_types AS
SELECT t.oid AS type FROM pg_type AS t
WHERE t.typtype = 'p' AND t.typcategory = 'P' AND t.typname <> 'record' AND t.typname <> '_record' AND t.typname NOT LIKE 'any_%';

-- Types of which every pair gets an operator of every common name.
CREATE TABLE hostile.paired_types (type regtype PRIMARY KEY);
INSERT INTO hostile.paired_types SELECT unnest('{
    boolean, smallint, integer, bigint, real, double precision, numeric, oid, xid, tid, regclass, regproc, regprocedure, regtype,
    regconfig, regnamespace, regrole, name, text, varchar, bpchar, "\"char\"", json, jsonb, tsvector, tsquery, timestamptz, timestamp,
    date, time, interval, uuid, bytea, int2vector, oidvector, record,
    text[], name[], smallint[], integer[], bigint[], real[], double precision[], oid[], regclass[], jsonb[],
    public.vector, public.halfvec, public.sparsevec, public.vector[]}'::regtype[]);
INSERT INTO hostile.paired_types SELECT t.type FROM (VALUES (to_regtype('reground.bm25query')), (to_regtype('reground.bm25text'))) AS t(type) WHERE t.type IS NOT NULL;

CREATE TABLE hostile.operators AS
SELECT o.oprname::text AS name, o.oprleft::regtype AS left_type, o.oprright::regtype AS right_type, o.oprresult::regtype AS result_type
FROM pg_operator AS o
WHERE o.oprnamespace IN ('pg_catalog'::regnamespace, 'public'::regnamespace) AND o.oprresult <> 0
    AND NOT EXISTS (SELECT FROM hostile.untaken_types AS u WHERE u.type IN (o.oprleft, o.oprright));
CREATE UNIQUE INDEX ON hostile.operators (name, left_type, right_type);
INSERT INTO hostile.operators
SELECT n.name, l.type, r.type, CASE n.result WHEN 'left' THEN l.type ELSE n.result::regtype END
FROM (VALUES ('=', 'boolean'), ('<>', 'boolean'), ('<', 'boolean'), ('>', 'boolean'), ('<=', 'boolean'), ('>=', 'boolean'),
        ('||', 'left'), ('+', 'left'), ('-', 'left'), ('*', 'left'), ('/', 'left'), ('%', 'left'), ('^', 'left'),
        ('->', 'jsonb'), ('->>', 'text'), ('#>', 'jsonb'), ('#>>', 'text'), ('#-', 'jsonb'), ('@>', 'boolean'), ('<@', 'boolean'),
        ('&&', 'boolean'), ('?', 'boolean'), ('?|', 'boolean'), ('?&', 'boolean'), ('@?', 'boolean'), ('@@', 'boolean'), ('@@@', 'boolean'),
        ('~', 'boolean'), ('!~', 'boolean'), ('~*', 'boolean'), ('!~*', 'boolean'), ('~~', 'boolean'), ('!~~', 'boolean'), ('~~*', 'boolean'),
        ('^@', 'boolean'), ('<->', 'double precision'), ('<=>', 'double precision'), ('<#>', 'double precision'), ('<+>', 'double precision'),
        ('<@>', 'double precision')) AS n(name, result),
    hostile.paired_types AS l, hostile.paired_types AS r
ON CONFLICT DO NOTHING;
-- The schema may have operators of pgvector.
DELETE FROM hostile.operators AS o USING pg_operator AS p
WHERE p.oprnamespace = 'hostile'::regnamespace AND p.oprname = o.name AND p.oprleft = o.left_type AND p.oprright = o.right_type;

ALTER TABLE hostile.operators ADD COLUMN number integer GENERATED ALWAYS AS IDENTITY;
DO $$
DECLARE
    o record;
BEGIN
    FOR o IN SELECT *, format('operator %s (%s, %s)', name, left_type, right_type) AS object FROM hostile.operators LOOP
        EXECUTE format('CREATE FUNCTION hostile.%I(%s%s) RETURNS %s LANGUAGE plpgsql AS %L', 'operator ' || o.number,
            CASE WHEN o.left_type <> 0 THEN o.left_type || ', ' END, o.right_type, o.result_type,
            format('BEGIN PERFORM pg_catalog.nextval(''hostile.calls''); RAISE EXCEPTION USING MESSAGE = %L; END', 'planted: ' || o.object));
    END LOOP;
END $$;
-- CREATE OPERATOR would take a minute and a half.
SET allow_system_table_mods = on;
INSERT INTO pg_operator (oid, oprname, oprnamespace, oprowner, oprkind, oprcanmerge, oprcanhash, oprleft, oprright, oprresult, oprcom, oprnegate, oprcode, oprrest, oprjoin)
SELECT pg_nextoid('pg_operator', 'oid', 'pg_operator_oid_index'), o.name, p.pronamespace, p.proowner,
    CASE WHEN o.left_type = 0 THEN 'l' ELSE 'b' END, false, false, o.left_type, o.right_type, o.result_type, 0, 0, p.oid, 0, 0
FROM hostile.operators AS o JOIN pg_proc AS p ON p.proname = 'operator ' || o.number AND p.pronamespace = 'hostile'::regnamespace;
RESET allow_system_table_mods;
INSERT INTO hostile.planted SELECT 'operator', format('operator %s (%s, %s)', name, left_type, right_type) FROM hostile.operators;

-- A function for each function of PostgreSQL and of pgvector. A call of a window function fails already in its analysis.
CREATE TABLE hostile.functions AS
SELECT p.oid, p.proname::text AS name, p.prokind AS kind, p.proargtypes::oid[] AS types, p.provariadic <> 0 AS is_variadic, pg_get_function_result(p.oid) AS result
FROM pg_proc AS p WHERE p.pronamespace IN ('pg_catalog'::regnamespace, 'public'::regnamespace) AND p.prokind <> 'p';
DO $$
DECLARE
    f record;
BEGIN
    FOR f IN SELECT * FROM hostile.functions AS p WHERE p.kind <> 'a' AND NOT p.types && ARRAY(SELECT u.type FROM hostile.untaken_types AS u)
            AND p.result NOT IN ('internal', 'cstring', 'trigger', 'event_trigger') LOOP
        CALL hostile.plant_function('function', f.name, pg_get_function_arguments(f.oid), f.result, format('function %s', f.oid::regprocedure));
    END LOOP;
END $$;

-- Argument lists of 1 to 6 arguments: all of up to 4, and those of alternating types.
CREATE TABLE hostile.argument_lists (types text[] PRIMARY KEY);
INSERT INTO hostile.argument_lists
WITH RECURSIVE types(type) AS (VALUES ('text'), ('integer'), ('bigint'), ('jsonb')), lists(types) AS (
    SELECT ARRAY[type] FROM types UNION ALL SELECT types || type FROM lists, types WHERE cardinality(types) < 4)
SELECT types FROM lists
UNION SELECT (ARRAY[a.type, b.type, a.type, b.type, a.type, b.type])[1:n] FROM types AS a, types AS b, generate_series(5, 6) AS n;

-- A function for each that takes arguments of any type.
DO $$
DECLARE
    f record;
BEGIN
    FOR f IN SELECT p.name, p.result, array_to_string(l.types, ', ') AS arguments, format('function %s(%s)', p.name, array_to_string(l.types, ', ')) AS object
            FROM hostile.functions AS p, hostile.argument_lists AS l
            WHERE p.kind <> 'a' AND '"any"'::regtype = ANY (p.types) AND NOT 'internal'::regtype = ANY (p.types) AND p.result <> 'cstring'
                AND (p.is_variadic AND cardinality(l.types) >= cardinality(p.types) OR cardinality(l.types) = cardinality(p.types)) LOOP
        CALL hostile.plant_function('function', f.name, f.arguments, f.result, f.object);
    END LOOP;
END $$;

-- Aggregates: the transition function is called for each row.
DO $$
DECLARE
    a record;
    number integer := 0;
BEGIN
    FOR a IN
        SELECT f.name, f.result, format('aggregate %s', f.oid::regprocedure) AS object,
            CASE WHEN cardinality(f.types) = 0 THEN '*' ELSE pg_get_function_arguments(f.oid) END AS arguments,
            (SELECT string_agg(', ' || t.type::regtype, '' ORDER BY t.position) FROM unnest(f.types) WITH ORDINALITY AS t(type, position)
             WHERE t.position > g.aggnumdirectargs) AS aggregated
        FROM hostile.functions AS f JOIN pg_aggregate AS g ON g.aggfnoid = f.oid WHERE NOT '"any"'::regtype = ANY (f.types)
        UNION ALL
        SELECT f.name, f.result, format('aggregate %s(%s)', f.name, array_to_string(l.types, ', ')), array_to_string(l.types, ', '), ', ' || array_to_string(l.types, ', ')
        FROM hostile.functions AS f JOIN pg_aggregate AS g ON g.aggfnoid = f.oid, hostile.argument_lists AS l
        WHERE '"any"'::regtype = ANY (f.types) AND g.aggkind = 'n' AND cardinality(l.types) = cardinality(f.types)
    LOOP
        number := number + 1;
        CALL hostile.plant_function('transition', 'aggregate ' || number, a.result || coalesce(a.aggregated, ''), a.result, a.object);
        CALL hostile.plant('aggregate', a.object, format('CREATE AGGREGATE hostile.%I(%s) (SFUNC = hostile.%I, STYPE = %s)',
            a.name, a.arguments, 'aggregate ' || number, a.result));
    END LOOP;
END $$;

-- A domain for each type, which accepts no value.
DO $$
DECLARE
    t record;
BEGIN
    FOR t IN SELECT b.oid::regtype AS type, b.typname AS name FROM pg_type AS b
            WHERE b.typnamespace IN ('pg_catalog'::regnamespace, 'public'::regnamespace, to_regnamespace('reground'))
                AND (b.typtype IN ('b', 'r', 'm') AND b.typcategory <> 'A'
                    OR EXISTS (SELECT FROM pg_class AS c WHERE c.oid = b.typrelid AND c.relkind = 'c')) LOOP
        CALL hostile.plant('type', 'type ' || t.name, format('CREATE DOMAIN hostile.%I AS %s CHECK (hostile.called(%L))', t.name, t.type, 'type ' || t.name));
    END LOOP;
END $$;

-- A view for each relation of PostgreSQL and of the extension. A view cannot have a column of the type anyarray.
DO $$
DECLARE
    r record;
BEGIN
    FOR r IN SELECT c.oid::regclass AS relation, c.relname AS name,
                (SELECT string_agg(format(CASE a.atttypid WHEN 'anyarray'::regtype THEN 'r.%I::text' ELSE 'r.%I' END, a.attname), ', ' ORDER BY a.attnum)
                 FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns
            FROM pg_class AS c
            WHERE c.relnamespace IN ('pg_catalog'::regnamespace, to_regnamespace('reground')) AND c.relkind IN ('r', 'v', 'p') LOOP
        CALL hostile.plant('view', 'view ' || r.name,
            format('CREATE VIEW hostile.%I AS SELECT %s FROM %s AS r WHERE hostile.called(%L)', r.name, r.columns, r.relation, 'view ' || r.name));
    END LOOP;
END $$;
GRANT SELECT ON ALL TABLES IN SCHEMA hostile TO PUBLIC;

-- Text search configurations that find no word.
DO $$
DECLARE
    c record;
BEGIN
    FOR c IN SELECT t.cfgname AS name FROM pg_ts_config AS t LOOP
        CALL hostile.plant('text search configuration', 'configuration ' || c.name,
            format('CREATE TEXT SEARCH CONFIGURATION hostile.%I (PARSER = pg_catalog."default")', c.name));
    END LOOP;
END $$;
