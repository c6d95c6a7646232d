-- Tables whose rows are the documents of a corpus. The view difference compares both in plain SQL.
\set VERBOSITY terse
SET client_min_messages = warning;
CREATE SCHEMA synced;
SET search_path = synced, public;

CREATE TABLE posts (id integer PRIMARY KEY, body text, headline text, link text, seen_at timestamptz, tags jsonb, clicks integer NOT NULL DEFAULT 0);
INSERT INTO posts VALUES (1, 'Cows give milk.', 'Cows', 'HTTP://Farm.Example/cows', '2026-01-02T03:04:05Z', '{"kind": "animal"}'), (2, 'Sheep give wool.', 'Sheep', NULL, NULL, NULL), (3, NULL, 'Nothing', NULL, NULL, NULL);
SELECT reground.create_corpus('barn', dimensions => 2, schema => 'synced');
SELECT reground.sync_table('barn', 'posts', key => 'id', content => 'body', title => 'headline', uri => 'link', published => 'seen_at', metadata => 'tags');
SELECT doc_id, version, title, uri, published, metadata, content FROM barn_documents ORDER BY doc_id;
CREATE VIEW difference AS
    SELECT * FROM ((SELECT id::text AS doc_id, body, headline FROM posts WHERE body IS NOT NULL EXCEPT SELECT doc_id, content, title FROM barn_documents WHERE replaced_at IS NULL)
        UNION ALL (SELECT doc_id, content, title FROM barn_documents WHERE replaced_at IS NULL EXCEPT SELECT id::text AS doc_id, body, headline FROM posts WHERE body IS NOT NULL)) AS d
    UNION ALL
    SELECT * FROM ((SELECT id::text, body, NULL FROM posts WHERE body IS NOT NULL EXCEPT SELECT doc_id, content, NULL FROM barn)
        UNION ALL (SELECT doc_id, content, NULL FROM barn EXCEPT SELECT id::text, body, NULL FROM posts WHERE body IS NOT NULL)) AS p;
SELECT * FROM difference;
SELECT item, status, detail FROM reground.check_corpus('barn') WHERE item LIKE 'sync%';

-- Each kind of statement.
INSERT INTO posts VALUES (4, 'Goats climb trees.', 'Goats'), (5, 'Hens lay eggs.', 'Hens');
UPDATE posts SET body = 'Cows give milk and meat.' WHERE id = 1;
UPDATE posts SET body = 'Now there is a text.' WHERE id = 3;
UPDATE posts SET body = NULL WHERE id = 5;
UPDATE posts SET id = 20 WHERE id = 2;
DELETE FROM posts WHERE id = 4;
INSERT INTO posts VALUES (20, 'Sheep give wool and milk.', 'Sheep'), (21, 'Ducks swim.', 'Ducks') ON CONFLICT (id) DO UPDATE SET body = excluded.body;
MERGE INTO posts AS p USING (VALUES (21, 'Ducks dive.'), (22, 'Geese fly.'), (1, NULL)) AS n(id, body) ON p.id = n.id
    WHEN MATCHED AND n.body IS NULL THEN DELETE WHEN MATCHED THEN UPDATE SET body = n.body WHEN NOT MATCHED THEN INSERT (id, body, headline) VALUES (n.id, n.body, 'Geese');
WITH gone AS (DELETE FROM posts WHERE id = 22 RETURNING *), moved AS (INSERT INTO posts SELECT 23, body, headline FROM gone RETURNING *), more AS (UPDATE posts SET body = 'Ducks dive deep.' WHERE id = 21)
SELECT id FROM moved;
COPY posts (id, body, headline) FROM stdin;
30	Frogs jump.	Frogs
31	Newts swim.	Newts
\.
SELECT * FROM difference;
SELECT doc_id, version, title, content FROM barn_documents WHERE replaced_at IS NULL ORDER BY doc_id;

-- An update of other columns does nothing; one of the title changes the description, not the version.
BEGIN;
UPDATE posts SET clicks = clicks + 1;
SELECT pg_stat_get_xact_tuples_updated('barn'::regclass) AS updated;
COMMIT;
UPDATE posts SET headline = 'Tree frogs' WHERE id = 30;
SELECT doc_id, version, title FROM barn_documents WHERE doc_id = '30';
SELECT heading FROM barn WHERE doc_id = '30';

-- Rolled back changes.
BEGIN;
UPDATE posts SET body = 'Never.';
SELECT count(*) FROM difference;
ROLLBACK;
BEGIN;
INSERT INTO posts VALUES (40, 'Kept.', 'Kept');
SAVEPOINT s;
INSERT INTO posts VALUES (41, 'Not kept.', 'Not kept');
ROLLBACK TO s;
COMMIT;
SELECT * FROM difference;

-- keep_versions: a synchronised corpus keeps one version by default.
UPDATE posts SET body = 'Frogs jump twice.' WHERE id = 30;
UPDATE posts SET body = 'Frogs jump thrice.' WHERE id = 30;
SELECT doc_id, content FROM barn_documents WHERE doc_id = '30';
SELECT count(*) FROM barn_history WHERE doc_id = '30';
SELECT count(*) FROM reground.documents JOIN reground.corpora USING (corpus_id) WHERE corpus = 'barn' AND doc_id = '30';
SELECT reground.alter_corpus('barn', keep_versions => 2);
UPDATE posts SET body = 'Frogs jump four times.' WHERE id = 30;
UPDATE posts SET body = 'Frogs jump five times.' WHERE id = 30;
SELECT content FROM barn_documents WHERE doc_id = '30' ORDER BY version;

-- The corpus is not written by hand.
SELECT reground.put_document('barn', 'x', content => 'By hand.');
SELECT reground.delete_document('barn', '30');
SELECT reground.forget_document('barn', '30');
UPDATE posts SET body = NULL WHERE id = 31;
SELECT count(*) > 0 AS erased FROM reground.forget_document('barn', '31');

-- A writer without privileges on the corpus.
CREATE ROLE regress_writer;
GRANT USAGE ON SCHEMA synced TO regress_writer;
GRANT SELECT, INSERT, UPDATE, DELETE ON posts TO regress_writer;
SET ROLE regress_writer;
INSERT INTO posts VALUES (50, 'Written by a role without privileges.', 'Role');
UPDATE posts SET body = 'Changed by a role without privileges.' WHERE id = 50;
RESET ROLE;
SELECT * FROM difference;

-- The trigger does nothing on other tables.
CREATE TABLE other (id integer PRIMARY KEY, body text);
SELECT format('CREATE TRIGGER forged AFTER INSERT ON other REFERENCING NEW TABLE AS reground_new FOR EACH STATEMENT EXECUTE FUNCTION reground._sync_rows(%s)', corpus_id) AS forge
FROM reground.corpora WHERE corpus = 'barn' \gset
:forge;
INSERT INTO other VALUES (1, 'Forged.');
SELECT count(*) FROM barn WHERE content = 'Forged.';
DROP TRIGGER forged ON other;
SELECT reground._sync_rows();

-- Changes without triggers.
SET session_replication_role = replica;
UPDATE posts SET body = 'Unseen.' WHERE id = 50;
DELETE FROM posts WHERE id = 40;
INSERT INTO posts VALUES (60, 'Unseen too.', 'Unseen');
RESET session_replication_role;
SELECT count(*) FROM difference;
SELECT reground.resync('barn');
SELECT * FROM difference;
SELECT reground.resync();
ALTER TABLE posts DISABLE TRIGGER USER;
SELECT item, status, detail FROM reground.check_corpus('barn') WHERE item LIKE 'sync%';
UPDATE posts SET body = 'Unseen again.' WHERE id = 50;
ALTER TABLE posts ENABLE TRIGGER USER;
SELECT task, processed, error FROM reground.run_maintenance('resync');
SELECT task, processed, error FROM reground.run_maintenance('sync_queue');
SELECT * FROM difference;

-- An error does not stop the writer.
SET client_min_messages = error;
INSERT INTO posts (id, body, tags) VALUES (70, 'Wrong metadata.', '[1]'), (71, 'Right metadata.', '{}');
SELECT doc_id, attempts, last_error FROM reground.sync_queue;
SELECT item, status, detail FROM reground.check_corpus('barn') WHERE item LIKE 'sync%';
UPDATE posts SET tags = '{}' WHERE id = 70;
SELECT reground.resync('barn');
SELECT count(*) FROM reground.sync_queue;
SELECT * FROM difference;
ALTER TABLE posts RENAME COLUMN body TO text;
INSERT INTO posts (id, text) VALUES (80, 'The column has another name.');
SELECT item, status, detail FROM reground.check_corpus('barn') WHERE item LIKE 'sync%';
ALTER TABLE posts RENAME COLUMN text TO body;
SELECT * FROM difference;
SET client_min_messages = warning;

TRUNCATE posts;
SELECT * FROM difference;
SELECT count(*) FROM barn;

-- Mode queued, foreign keys and partitions.
CREATE TABLE owners (id integer PRIMARY KEY);
INSERT INTO owners VALUES (1), (2);
CREATE TABLE pets (id uuid PRIMARY KEY, owner_id integer REFERENCES owners ON DELETE CASCADE ON UPDATE CASCADE, body text) PARTITION BY HASH (id);
CREATE TABLE pets_0 PARTITION OF pets FOR VALUES WITH (MODULUS 2, REMAINDER 0);
SELECT reground.create_corpus('animals', schema => 'synced');
SELECT reground.sync_table('animals', 'pets', key => 'id', content => 'body', mode => 'queued');
CREATE TABLE pets_1 PARTITION OF pets FOR VALUES WITH (MODULUS 2, REMAINDER 1);
SELECT item, status, detail, hint FROM reground.check_corpus('animals') WHERE item LIKE 'sync%';
SELECT reground.sync_table('animals', 'pets', key => 'id', content => 'body', mode => 'queued');
SELECT item, status, detail FROM reground.check_corpus('animals') WHERE item LIKE 'sync%';
INSERT INTO pets SELECT ('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid, 1 + n % 2, 'Pet ' || n || '.' FROM generate_series(1, 20) AS n;
SELECT count(*) FROM animals;
SELECT task, processed, error FROM reground.run_maintenance('sync_queue');
SELECT count(*) FROM animals;
DELETE FROM owners WHERE id = 1;
UPDATE pets_0 SET body = body || ' In its partition.';
UPDATE pets_1 SET body = body || ' In its partition.';
SELECT error FROM reground.run_maintenance('sync_queue');
SELECT id::text, body FROM pets EXCEPT SELECT doc_id, content FROM animals;
SELECT doc_id, content FROM animals EXCEPT SELECT id::text, body FROM pets;
SELECT count(*) FROM animals;
TRUNCATE pets_0;
SELECT error FROM reground.run_maintenance('sync_queue');
SELECT (SELECT count(*) FROM pets) = (SELECT count(*) FROM animals) AS same;

-- What cannot be synchronised.
CREATE VIEW posts_view AS SELECT * FROM posts;
SELECT reground.create_corpus('refused', schema => 'synced');
SELECT reground.sync_table('refused', 'posts_view', key => 'id', content => 'body');
SELECT reground.sync_table('refused', 'posts', key => 'headline', content => 'body');
SELECT reground.sync_table('refused', 'posts', key => 'id', content => 'none');
SELECT reground.sync_table('refused', 'posts', key => 'id', content => 'body', mode => 'later');
SELECT reground.sync_table('barn', 'pets', key => 'id', content => 'body');
SELECT reground.sync_table('refused', 'refused', key => 'chunk_id', content => 'content');
SELECT reground.put_document('refused', 'hand', content => 'By hand.');
SELECT reground.sync_table('refused', 'posts', key => 'id', content => 'body');
SELECT reground.resync('refused');
SELECT reground.stop_sync('refused');

-- The end.
INSERT INTO posts (id, body) VALUES (1, 'Before the end.');
SELECT reground.stop_sync('barn');
SELECT count(*) FROM pg_trigger WHERE tgrelid = 'posts'::regclass AND NOT tgisinternal;
INSERT INTO posts (id, body) VALUES (2, 'After the end.');
SELECT content FROM barn;
SELECT version FROM reground.put_document('barn', 'x', content => 'By hand.');
DROP TABLE pets;
SELECT item, status, detail FROM reground.check_corpus('animals') WHERE item LIKE 'sync%';
DROP VIEW difference;
SELECT reground.drop_corpus('animals', drop_tables => true), reground.drop_corpus('refused', drop_tables => true), reground.drop_corpus('barn', drop_tables => true);
SELECT count(*) FROM reground.synchronised_tables;
DROP SCHEMA synced CASCADE;
DROP ROLE regress_writer;
