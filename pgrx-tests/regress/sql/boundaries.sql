-- What a role must not learn or do: hidden rows, other columns, locks, code that runs with other rights, the tenant of another role.
CREATE SCHEMA boundaries;
SET search_path = boundaries, public;
CREATE ROLE regress_reader;
GRANT reground_user TO regress_reader;
GRANT USAGE ON SCHEMA boundaries, regress TO regress_reader;

-- delete_edges neither deletes nor counts edges of passages that row-level security hides.
SELECT reground.create_corpus('papers', dimensions => 2);
SELECT count(*) FROM (VALUES ('open', 'The goat climbs.'), ('secret', 'The goat is a spy.')) AS v(doc_id, body),
    reground.put_document('papers', doc_id, passages => jsonb_build_array(jsonb_build_object('content', body)));
SELECT * FROM reground.put_edges('papers', '[{"source": "Goat", "target": "Tree", "chunk_id": 1}, {"source": "Goat", "target": "Spy Ring", "chunk_id": 2},
    {"source": "Spy Ring", "target": "Moon", "chunk_id": 2}]');
GRANT SELECT, INSERT, UPDATE, DELETE ON papers, papers_documents, papers_history TO regress_reader;
ALTER TABLE papers ENABLE ROW LEVEL SECURITY;
CREATE POLICY open_only ON papers TO regress_reader USING (doc_id = 'open');

-- A turn does not store entities that only hidden passages name.
SET ROLE regress_reader;
SELECT count(*) FROM reground.begin_turn('boundaries', 'What is the Goat, and the Spy Ring?', 'papers', '[1,0]', settings => '{"graph": true}');
SELECT count(*) FROM reground.end_turn((SELECT max(turn_id) FROM reground.turns), 'The Goat and the Spy Ring.');
SELECT count(*) FROM reground.begin_turn('boundaries', 'And does the Goat of the Spy Ring climb?', 'papers', '[1,0]', settings => '{"graph": true}');
SELECT query_expansion -> 'entities' AS entities FROM reground.turns WHERE turn_id = regress.turn('boundaries');
SELECT reground.delete_edges('papers', entity => 'Spy Ring');
SELECT reground.delete_edges('papers', doc_id => 'secret');
SELECT reground.delete_edges('papers', chunk_id => '2');
SELECT reground.delete_edges('papers', everything => true);
RESET ROLE;
SELECT source, target FROM reground.edges AS e JOIN reground.corpora AS c USING (corpus_id) WHERE c.corpus = 'papers' ORDER BY 1, 2;
-- The owner sees all rows, and also deletes edges whose passage no longer exists.
DELETE FROM papers;
SELECT reground.delete_edges('papers', everything => true);

-- A score for words of a column needs the privilege to read this column.
CREATE TABLE letters (id integer PRIMARY KEY, body text, subject text);
INSERT INTO letters VALUES (1, 'the password is swordfish', 'hello');
CREATE INDEX letters_body ON letters USING reground_bm25 (body);
GRANT SELECT (id, subject) ON letters TO regress_reader;
SET ROLE regress_reader;
SELECT * FROM regress.refusal($$SELECT reground.bm25_score('swordfish', reground.bm25_query('swordfish', 'boundaries.letters'))$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.bm25_explain('swordfish', reground.bm25_query('swordfish', 'boundaries.letters_body'))$$);
RESET ROLE;
GRANT SELECT (body) ON letters TO regress_reader;
SET ROLE regress_reader;
SELECT reground.bm25_score('swordfish', reground.bm25_query('swordfish', 'boundaries.letters')) > 0 AS scored;
RESET ROLE;
-- An index on an expression needs the privilege on all its columns.
CREATE TABLE tongues (id integer PRIMARY KEY, body text, lang text);
INSERT INTO tongues VALUES (1, 'das Kennwort ist Schwertfisch', 'de');
CREATE INDEX tongues_body ON tongues USING reground_bm25 (reground.in_language(body, lang));
GRANT SELECT (id, lang) ON tongues TO regress_reader;
SET ROLE regress_reader;
SELECT * FROM regress.refusal($$SELECT reground.bm25_score(reground.in_language('Schwertfisch', 'de'), reground.bm25_query('Schwertfisch', 'boundaries.tongues'))$$);
RESET ROLE;
GRANT SELECT (body) ON tongues TO regress_reader;
SET ROLE regress_reader;
SELECT reground.bm25_score(reground.in_language('Schwertfisch', 'de'), reground.bm25_query('Schwertfisch', 'boundaries.tongues')) > 0 AS scored;
RESET ROLE;

-- So does its predicate. An index that reads whole rows needs the privilege on the table.
CREATE TABLE drafts (id integer PRIMARY KEY, body text, secret boolean);
INSERT INTO drafts VALUES (1, 'swordfish', true);
CREATE INDEX drafts_body ON drafts USING reground_bm25 (body) WHERE secret;
GRANT SELECT (id, body) ON drafts TO regress_reader;
CREATE TABLE sheets (id integer PRIMARY KEY, body text);
CREATE FUNCTION row_text(sheets) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN $1.body; END $$;
CREATE INDEX sheets_row ON sheets USING reground_bm25 (row_text(sheets));
GRANT SELECT (id, body) ON sheets TO regress_reader;
SET ROLE regress_reader;
SELECT f, r.* FROM unnest(ARRAY['boundaries.drafts', 'boundaries.sheets']) AS f,
    regress.refusal(format('SELECT reground.bm25_score(%L, reground.bm25_query(%L, %L))', 'swordfish', 'swordfish', f)) AS r;
RESET ROLE;

-- A session that holds every advisory lock that it can compute blocks no writer (isolation/specs/corpora uses two sessions).
BEGIN;
SELECT count(*) FROM reground.put_document('papers', 'held', content => 'The goat sleeps.');
SELECT locktype, mode FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory';
SELECT count(*) AS own FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'object' AND classid = 'reground.documents'::regclass;
ROLLBACK;

-- Functions of a view run with the rights of the caller of the search: superusers are refused, and check_corpus reports it to others.
CREATE ROLE regress_maker;
GRANT reground_admin, reground_user TO regress_maker;
CREATE SCHEMA workshop AUTHORIZATION regress_maker;
GRANT USAGE ON SCHEMA workshop TO regress_reader;
SET ROLE regress_maker;
CREATE FUNCTION workshop.trap(text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'run as %', current_user; END $$;
CREATE TABLE workshop.stock (id integer PRIMARY KEY, body text);
INSERT INTO workshop.stock VALUES (1, 'a hammer');
CREATE VIEW workshop.goods AS SELECT id, workshop.trap(body) AS body FROM workshop.stock;
GRANT SELECT ON workshop.goods, workshop.stock TO regress_reader;
SELECT reground.add_corpus('goods', 'workshop.goods', 'id', 'body');
CREATE TYPE workshop.grade AS ENUM ('good', 'bad');
CREATE FUNCTION workshop.graded(workshop.grade) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'cast as %', current_user; END $$;
CREATE CAST (workshop.grade AS text) WITH FUNCTION workshop.graded(workshop.grade);
CREATE TABLE workshop.graded_stock (id workshop.grade PRIMARY KEY, body text);
INSERT INTO workshop.graded_stock VALUES ('good', 'a hammer');
SELECT reground.add_corpus('graded', 'workshop.graded_stock', 'id', 'body');
CREATE DOMAIN workshop.checked AS text CHECK (workshop.trap(VALUE) IS NOT NULL);
CREATE TABLE workshop.checked_stock (id integer PRIMARY KEY, body text, kind workshop.checked);
SELECT reground.add_corpus('checked', 'workshop.checked_stock', 'id', 'body');
-- A type without such functions is no obstacle.
CREATE TYPE workshop.state AS ENUM ('new', 'old');
CREATE TABLE workshop.plain_stock (id integer PRIMARY KEY, body text, state workshop.state);
INSERT INTO workshop.plain_stock VALUES (1, 'a hammer', 'new');
SELECT reground.add_corpus('plain', 'workshop.plain_stock', 'id', 'body');
-- A cast of a type inside another type is found too: the conversion to JSON calls it for a field, and a list in a filter is cast to an array.
CREATE TYPE workshop.medal AS ENUM ('gold', 'iron');
CREATE FUNCTION workshop.medal_json(workshop.medal) RETURNS json LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'field as %', current_user; END $$;
CREATE CAST (workshop.medal AS json) WITH FUNCTION workshop.medal_json(workshop.medal);
CREATE TYPE workshop.badge AS (medal workshop.medal);
CREATE TABLE workshop.badged_stock (id integer PRIMARY KEY, body text, badge workshop.badge);
INSERT INTO workshop.badged_stock VALUES (1, 'a hammer', ROW('gold'));
SELECT reground.add_corpus('badged', 'workshop.badged_stock', 'id', 'body', published => 'badge');
CREATE TYPE workshop.width AS ENUM ('narrow', 'wide');
CREATE FUNCTION workshop.widths(text[]) RETURNS workshop.width[] LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'list as %', current_user; END $$;
CREATE CAST (text[] AS workshop.width[]) WITH FUNCTION workshop.widths(text[]);
CREATE TABLE workshop.wide_stock (id integer PRIMARY KEY, body text, width workshop.width);
INSERT INTO workshop.wide_stock VALUES (1, 'a hammer', 'wide');
SELECT reground.add_corpus('wide', 'workshop.wide_stock', 'id', 'body');
-- check_corpus counts embeddings and reads the names of configurations.
CREATE VIEW workshop.counted AS SELECT id, body, 'en'::text AS lang FROM workshop.stock WHERE workshop.trap(body) IS NOT NULL;
SELECT reground.add_corpus('counted', 'workshop.counted', 'id', 'body', text_config_column => 'lang');
RESET ROLE;
SELECT * FROM regress.refusal($$SELECT * FROM reground.search('goods', 'hammer')$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.begin_turn('boundaries-2', 'hammer', 'goods')$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.search('graded', 'hammer')$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.search('checked', 'hammer', filter => '{"kind": "x"}')$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.search('badged', 'hammer')$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.search('wide', 'hammer', filter => '{"width": ["wide"]}')$$);
SELECT item, status FROM reground.check_corpus('counted');
SELECT chunk_id FROM reground.search('plain', 'hammer', filter => '{"state": "new"}');
SET ROLE regress_reader;
-- SET ROLE does not help, because a function can undo it.
SELECT * FROM regress.refusal($$SELECT * FROM reground.search('goods', 'hammer')$$);
SELECT status, detail, hint FROM reground.check_corpus('goods') WHERE item = 'owner';
RESET ROLE;
-- Not even as the owner: the session is still a superuser's.
SET ROLE regress_maker;
SELECT f, r.state, r.message FROM unnest(ARRAY['goods', 'graded', 'checked']) AS f,
    regress.refusal(format('SELECT * FROM reground.search(%L, %L)', f, 'hammer')) AS r;
RESET ROLE;

-- A role that is a tenant can be renamed if reground.tenant names the tenant; the old name then gives access to nothing.
CREATE ROLE regress_alice;
GRANT reground_user TO regress_alice;
SET reground.tenant_from = 'reground.tenant';
SET reground.tenant = 'customer-7';
SELECT reground.current_tenant();
SET ROLE regress_alice;
SELECT * FROM regress.refusal($$SET reground.tenant = 'customer-8'$$);
SELECT reground.current_tenant();
RESET ROLE;
RESET reground.tenant;
SELECT * FROM regress.refusal($$SELECT reground.pin('boundaries-3', doc_id => 'open', corpus => 'papers')$$);
RESET reground.tenant_from;

SELECT reground.drop_corpus(corpus, drop_tables => managed) FROM reground.corpora WHERE corpus IN ('papers', 'goods', 'graded', 'checked', 'plain', 'badged', 'wide', 'counted') ORDER BY corpus;
DROP SCHEMA boundaries, workshop CASCADE;
DROP OWNED BY regress_reader, regress_maker, regress_alice;
DROP ROLE regress_reader, regress_maker, regress_alice;
