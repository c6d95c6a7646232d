-- Distributed tables without Citus: its catalogs and its function are made by hand, and children of a table stand for the shards. make test-citus
-- does the same with Citus. One table with all rows is the oracle.
CREATE SCHEMA distributed;
SET search_path = distributed, public;
SET allow_system_table_mods = on;
CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass);
CREATE TABLE pg_catalog.pg_dist_shard (logicalrelid regclass, shardid bigint);
GRANT SELECT ON pg_catalog.pg_dist_partition, pg_catalog.pg_dist_shard TO PUBLIC;
CREATE FUNCTION pg_catalog.run_command_on_shards(table_name regclass, command text, OUT shardid bigint, OUT success boolean, OUT result text) RETURNS SETOF record
LANGUAGE plpgsql AS $$
BEGIN
    FOR shardid IN SELECT s.shardid FROM pg_catalog.pg_dist_shard AS s WHERE s.logicalrelid = table_name ORDER BY 1 LOOP
        BEGIN
            EXECUTE format(command, (SELECT i.inhrelid::regclass FROM pg_inherits AS i WHERE i.inhparent = table_name AND i.inhrelid::regclass::text ~ (shardid || '"?$'))) INTO result;
            success := true;
        EXCEPTION WHEN others THEN
            success := false;
            result := SQLERRM;
        END;
        RAISE NOTICE 'asked shard %', shardid;
        RETURN NEXT;
    END LOOP;
END
$$;
CREATE TABLE pg_catalog.pg_dist_node (nodeid integer, nodename text, nodeport integer);
INSERT INTO pg_catalog.pg_dist_node VALUES (1, 'one', 5432), (2, 'two', 5433), (3, 'three', 5434);
GRANT SELECT ON pg_catalog.pg_dist_node TO PUBLIC;
-- Objects of another role in the search_path of a server, which no command must call.
CREATE SCHEMA planted;
CREATE FUNCTION planted.called() RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'planted'; END $$;
DO $$
DECLARE
    name text;
    type text;
BEGIN
    FOREACH name IN ARRAY '{current_setting(text; boolean),string_agg(text; text),format(text; name; text),quote_ident(text),aclexplode(aclitem[]),current_schemas(boolean),pg_get_userbyid(oid)}'::text[] LOOP
        EXECUTE format('CREATE FUNCTION planted.%s RETURNS text LANGUAGE sql AS ''SELECT planted.called()''', replace(name, ';', ','));
    END LOOP;
    FOREACH type IN ARRAY '{text,name,oid,integer}'::text[] LOOP
        EXECUTE format('CREATE FUNCTION planted.compare(%1$s, %1$s) RETURNS boolean LANGUAGE sql AS ''SELECT planted.called() IS NULL''', type);
        FOREACH name IN ARRAY '{=,<>,>=}'::text[] LOOP
            EXECUTE format('CREATE OPERATOR planted.%s (FUNCTION = planted.compare, LEFTARG = %s, RIGHTARG = %2$s)', name, type);
        END LOOP;
    END LOOP;
END
$$;
CREATE FUNCTION planted.victim() RETURNS text LANGUAGE sql SET search_path = planted, pg_catalog SET check_function_bodies = off AS $$ SELECT current_setting('search_path'::text, true) $$;
\set VERBOSITY terse
SELECT planted.victim();
\set VERBOSITY default
-- The command runs here, but the servers answer what the settings say.
CREATE FUNCTION pg_catalog.run_command_on_workers(command text, OUT nodename text, OUT nodeport integer, OUT success boolean, OUT result text) RETURNS SETOF record
LANGUAGE plpgsql SET search_path = planted, pg_catalog AS $$
DECLARE
    is_set boolean;
BEGIN
    EXECUTE command INTO STRICT is_set;
    RAISE NOTICE '%', command;
    RETURN QUERY VALUES ('one', 5432, true, 't'), ('two', 5433, true, pg_catalog.current_setting('app.of_two')),
        ('three', 5434, NOT pg_catalog.current_setting('app.three_fails')::pg_catalog.bool, 't');
END
$$;
-- On a server, the command runs with the search_path of the role.
CREATE FUNCTION pg_catalog.run_command_on_all_nodes(command text, OUT nodeid integer, OUT success boolean, OUT result text) RETURNS SETOF record
LANGUAGE plpgsql SET search_path = planted, pg_catalog, distributed AS $$
BEGIN
    FOR nodeid IN SELECT n.nodeid FROM pg_catalog.pg_dist_node AS n LOOP
        success := nodeid OPERATOR(pg_catalog.<) 3 OR NOT pg_catalog.current_setting('app.three_fails')::pg_catalog.bool;
        EXECUTE command INTO STRICT result;
        RETURN NEXT;
    END LOOP;
END
$$;
RESET allow_system_table_mods;
SET app.three_fails = false;

CREATE TABLE whole (id text PRIMARY KEY, doc_id text, title text, body text, embedding vector(2));
INSERT INTO whole SELECT 'p' || i, 'd' || i / 5, 'Title ' || i, concat_ws(' ', 'w' || i % 5, 'w' || i % 7, repeat('w' || i % 11 || ' ', i % 4)), ARRAY[1, i % 13]::real[]::vector
FROM generate_series(1, 300) AS i;
CREATE INDEX whole_body ON whole USING reground_bm25 (body);
CREATE TABLE "Spread %s" (LIKE whole);
CREATE TABLE "Spread %s_102008" () INHERITS ("Spread %s");
CREATE TABLE "Spread %s_102009" () INHERITS ("Spread %s");
CREATE TABLE "Spread %s_102010" () INHERITS ("Spread %s");
INSERT INTO "Spread %s_102008" SELECT * FROM whole WHERE substr(id, 2)::integer % 3 > 0;
INSERT INTO "Spread %s_102009" SELECT * FROM whole WHERE substr(id, 2)::integer % 3 = 0;
CREATE INDEX "body %s" ON "Spread %s" USING reground_bm25 (body);
CREATE INDEX "body %s_102008" ON "Spread %s_102008" USING reground_bm25 (body);
CREATE INDEX "body %s_102009" ON "Spread %s_102009" USING reground_bm25 (body);
CREATE INDEX "body %s_102010" ON "Spread %s_102010" USING reground_bm25 (body);
INSERT INTO pg_dist_partition VALUES ('"Spread %s"');
INSERT INTO pg_dist_shard SELECT '"Spread %s"', shardid FROM generate_series(102008, 102010) AS shardid;

-- A query without statistics is refused.
SELECT id FROM "Spread %s" WHERE body @@@ reground.bm25_query('w3', '"Spread %s"');

-- All shards are asked once, because one is empty; then only those with rows, by a statement.
SELECT reground.bm25_with_statistics(reground.bm25_query('w3 %L w9''', 'whole')) AS one \gset
SELECT reground.bm25_with_statistics(reground.bm25_query('w3 %L w9''', '"Spread %s"')) AS other \gset
SELECT :'one' = :'other' AS as_one_table;
SELECT reground.bm25_with_statistics(reground.bm25_query('w3 %L w9''', '"body %s"'))::text = :'other' AS of_the_index;
SELECT count(*) AS differences FROM
    (SELECT id, body <@> :'one' AS distance FROM whole WHERE body @@@ :'one') AS a
    FULL JOIN (SELECT id, body <@> :'other' AS distance FROM "Spread %s" WHERE body @@@ :'other') AS b USING (id, distance) WHERE a IS NULL OR b IS NULL;

-- Searches and turns.
SELECT reground.add_corpus(name, relation, chunk_id => 'id', content => 'body', doc_id => 'doc_id', title => 'title', embedding => 'embedding', title_weight => 0)
FROM (VALUES ('whole', 'distributed.whole'::regclass), ('spread', 'distributed."Spread %s"')) AS c(name, relation);
CREATE FUNCTION found(corpus text, query text, embedding vector, settings jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_agg(to_jsonb(s) ORDER BY s.score DESC, s.chunk_id) FROM reground.search(corpus, query, embedding => embedding, max_results => 20, settings => settings) AS s
$$;
SELECT query, settings, found('whole', query, embedding, settings) = found('spread', query, embedding, settings) AS equal
FROM (VALUES ('w3 w9', NULL::vector), ('w1', '[1,3]'), ('w4 w10 w2', '[1,12]')) AS q(query, embedding), unnest(ARRAY['{}', '{"fusion": "rrf"}']::jsonb[]) AS settings ORDER BY query, settings;
SELECT item, status, detail, hint FROM reground.check_corpus('spread') WHERE item = 'chunk_id';
CREATE INDEX ON "Spread %s" (id);
SELECT item, status FROM reground.check_corpus('spread') WHERE item = 'chunk_id';
-- Servers that do not scan a vector index as this one does. There is no such check without an index.
SET app.of_two = 'f';
SET app.three_fails = true;
SELECT count(*) FROM reground.check_corpus('spread') WHERE item = 'vector settings';
CREATE INDEX spread_vectors ON "Spread %s" USING hnsw (embedding vector_cosine_ops);
SELECT status, detail, replace(hint, quote_ident(current_database()), 'NAME') AS hint FROM reground.check_corpus('spread') WHERE item = 'vector settings';
SET app.of_two = 't';
SELECT status, detail FROM reground.check_corpus('spread') WHERE item = 'vector settings';
SET app.three_fails = false;
SELECT status, detail FROM reground.check_corpus('spread') WHERE item = 'vector settings';
DROP INDEX spread_vectors;
-- Schemas of the servers where other roles can create objects.
CREATE VIEW schemas_finding AS SELECT status, detail, hint FROM reground.check_corpus('spread') WHERE item = 'schemas of the servers';
SELECT * FROM schemas_finding;
CREATE ROLE distributed_writer;
GRANT CREATE ON SCHEMA distributed TO PUBLIC, distributed_writer, current_user;
SELECT * FROM schemas_finding;
SET app.three_fails = true;
SELECT * FROM schemas_finding;
REVOKE CREATE ON SCHEMA distributed FROM PUBLIC, distributed_writer;
SELECT * FROM schemas_finding;
SET app.three_fails = false;
SELECT * FROM schemas_finding;
DROP ROLE distributed_writer;
-- The settings while a distributed table is read, also through a view.
CREATE FUNCTION settings() RETURNS text LANGUAGE sql AS $$ SELECT string_agg(s || ' ' || current_setting(s), '; ' ORDER BY s) FROM unnest('{search_path,plan_cache_mode,DateStyle,IntervalStyle}'::text[]) AS s $$;
CREATE VIEW of_whole AS SELECT id, body, settings() FROM whole;
CREATE VIEW of_spread AS SELECT id, body, settings() FROM (SELECT * FROM "Spread %s" AS s WHERE EXISTS (SELECT FROM whole AS w WHERE w.id = s.id)) AS s;
SELECT reground.add_corpus(name, name::regclass, chunk_id => 'id', content => 'body', title => 'settings') FROM unnest('{of_whole,of_spread}'::text[]) AS name;
SET plan_cache_mode = force_generic_plan;
SET DateStyle = 'SQL, DMY';
SET IntervalStyle = 'sql_standard';
SELECT DISTINCT corpus, title FROM unnest('{of_whole,of_spread}'::text[]) AS corpus, reground.search(corpus, 'w3') ORDER BY 1;
-- A table that is distributed after its statement was prepared.
INSERT INTO pg_dist_partition VALUES ('whole');
ALTER TABLE whole ADD COLUMN later integer;
SELECT DISTINCT title FROM reground.search('of_whole', 'w3');
DELETE FROM pg_dist_partition WHERE logicalrelid = 'whole'::regclass;
ALTER TABLE whole DROP COLUMN later;
RESET plan_cache_mode;
RESET DateStyle;
RESET IntervalStyle;
SELECT reground.drop_corpus(name) FROM unnest('{of_whole,of_spread}'::text[]) AS name;
DROP VIEW of_whole, of_spread, schemas_finding;
SELECT count(*) FROM reground.begin_turn('of whole', 'What of w3 and w9?', corpus => 'whole', embedding => '[1,2]');
SELECT count(*) FROM reground.begin_turn('of spread', 'What of w3 and w9?', corpus => 'spread', embedding => '[1,2]');
SELECT count(DISTINCT (c.candidate_no, c.chunk_id, c.lexical_score, c.vector_distance, c.dropped_stage)) * 2 = count(*) AND count(*) > 20 AS equal_candidates
FROM reground.turn_candidates AS c JOIN reground.turns USING (turn_id) JOIN reground.conversations AS v USING (conversation_id) WHERE v.conversation_ref IN ('of whole', 'of spread');

-- A shard with rows, but none on its first page: all are asked again.
CREATE TABLE moved (id integer, body text);
CREATE TABLE moved_1 () INHERITS (moved);
CREATE TABLE moved_2 () INHERITS (moved);
INSERT INTO moved_1 SELECT i, repeat('red shoes ', 20) FROM generate_series(1, 200) AS i;
INSERT INTO moved_2 SELECT i, 'red' FROM generate_series(1, 5) AS i;
CREATE INDEX ON moved_1 USING reground_bm25 (body);
CREATE INDEX ON moved_2 USING reground_bm25 (body);
INSERT INTO pg_dist_partition VALUES ('moved');
INSERT INTO pg_dist_shard VALUES ('moved', 1), ('moved', 2);
SELECT reground.bm25_with_statistics(reground.bm25_query('shoes', 'moved'));
DELETE FROM moved_1 WHERE ctid < '(1,0)';
SELECT reground.bm25_with_statistics(reground.bm25_query('shoes', 'moved'));
SELECT reground.bm25_with_statistics(reground.bm25_query('shoes', 'moved'));

-- A table without rows, twice.
CREATE TABLE nothing (id integer, body text);
CREATE TABLE nothing_3 () INHERITS (nothing);
CREATE INDEX ON nothing_3 USING reground_bm25 (body);
INSERT INTO pg_dist_partition VALUES ('nothing');
INSERT INTO pg_dist_shard VALUES ('nothing', 3);
SELECT reground.bm25_with_statistics(reground.bm25_query('shoes', 'nothing'));
SELECT reground.bm25_with_statistics(reground.bm25_query('shoes', 'nothing'));

-- Errors of a shard, and indexes that differ.
DROP INDEX moved_2_body_idx;
SELECT reground.bm25_with_statistics(reground.bm25_query('shoes', 'moved'));
CREATE INDEX ON moved_2 USING reground_bm25 (body) WITH (b = 0.5);
SELECT reground.bm25_with_statistics(reground.bm25_query('shoes', 'moved'));

DROP INDEX nothing_3_body_idx;
SELECT reground.bm25_with_statistics(reground.bm25_query('shoes', 'nothing'));

SELECT reground.drop_corpus(name) FROM unnest('{whole,spread}'::text[]) AS name;
RESET search_path;
DROP SCHEMA distributed CASCADE;
SET client_min_messages = warning;
DROP SCHEMA planted CASCADE;
RESET client_min_messages;
SET allow_system_table_mods = on;
DROP FUNCTION pg_catalog.run_command_on_shards, pg_catalog.run_command_on_workers, pg_catalog.run_command_on_all_nodes;
DROP TABLE pg_catalog.pg_dist_partition, pg_catalog.pg_dist_shard, pg_catalog.pg_dist_node;
RESET allow_system_table_mods;
