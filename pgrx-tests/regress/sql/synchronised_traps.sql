-- Changes of a synchronised table that a user makes without thinking of the corpus, and registrations that cannot work.
\set VERBOSITY default
SET client_min_messages = warning;
CREATE SCHEMA followed;
SET search_path = followed, public;

-- Triggers of another database, as after loading a file of the structure. Two corpora of a table keep their triggers.
CREATE TABLE loaded (id integer PRIMARY KEY, body text);
CREATE TRIGGER reground_sync_987654_insert AFTER INSERT ON loaded REFERENCING NEW TABLE AS reground_new FOR EACH STATEMENT EXECUTE FUNCTION reground._sync_rows('987654');
CREATE TRIGGER reground_sync_987654_delete AFTER DELETE ON loaded REFERENCING OLD TABLE AS reground_old FOR EACH STATEMENT EXECUTE FUNCTION reground._sync_rows('987654');
INSERT INTO loaded VALUES (1, 'Written, with one warning.');
INSERT INTO loaded VALUES (2, 'Written without another.');
SELECT reground.create_corpus('again', schema => 'followed');
SELECT item, status, detail, hint FROM reground.check_corpus('again') WHERE item LIKE 'sync%';
SELECT reground.sync_table('again', 'loaded', key => 'id', content => 'body');
SELECT count(*) AS triggers, count(*) FILTER (WHERE tgname LIKE '%987654%') AS stale FROM pg_trigger WHERE tgrelid = 'loaded'::regclass;
INSERT INTO loaded VALUES (3, 'Followed.');
SELECT doc_id FROM again ORDER BY doc_id;
SELECT reground.create_corpus('second', schema => 'followed');
SELECT reground.sync_table('second', 'loaded', key => 'id', content => 'body');
SELECT count(*) AS triggers FROM pg_trigger WHERE tgrelid = 'loaded'::regclass;

-- A detached partition is written without its corpus. The session has had its warning.
CREATE TABLE logs (id integer PRIMARY KEY, body text) PARTITION BY RANGE (id);
CREATE TABLE logs_low PARTITION OF logs FOR VALUES FROM (0) TO (100);
CREATE TABLE logs_high PARTITION OF logs FOR VALUES FROM (100) TO (200);
SELECT reground.create_corpus('log', schema => 'followed');
SELECT reground.sync_table('log', 'logs', key => 'id', content => 'body');
INSERT INTO logs VALUES (1, 'Low.'), (101, 'High.');
ALTER TABLE logs DETACH PARTITION logs_low;
INSERT INTO logs_low VALUES (2, 'Detached.');
UPDATE logs_low SET body = 'Changed.';
DELETE FROM logs_low WHERE id = 2;
TRUNCATE logs_low;
SELECT item, status, regexp_replace(detail, '\d+', 'N', 'g') AS detail, regexp_replace(hint, 'sync_\d+', 'sync_N', 'g') AS hint FROM reground.check_corpus('log') WHERE item LIKE 'sync%';
SELECT task, processed, error FROM reground.run_maintenance('resync');
SELECT task, processed, error FROM reground.run_maintenance('sync_queue');
SELECT doc_id FROM log;
ALTER TABLE logs ATTACH PARTITION logs_low FOR VALUES FROM (0) TO (100);
INSERT INTO logs VALUES (3, 'Attached.');
SELECT doc_id FROM log ORDER BY doc_id;

-- Broken synchronisation is an error of the tasks; the other tables are followed. The command of the hint can be run as it is.
CREATE TABLE broken (id integer PRIMARY KEY, body text, note text);
SELECT reground.create_corpus('broken_one', schema => 'followed');
SELECT reground.sync_table('broken_one', 'broken', key => 'id', content => 'body', title => 'note');
ALTER TABLE broken DROP COLUMN note;
SET client_min_messages = error;
INSERT INTO broken VALUES (1, 'Its column is gone.');
SET client_min_messages = warning;
CREATE TABLE whole (id integer PRIMARY KEY, body text);
SELECT reground.create_corpus('whole_one', schema => 'followed');
SELECT reground.sync_table('whole_one', 'whole', key => 'id', content => 'body');
ALTER TABLE whole DISABLE TRIGGER USER;
INSERT INTO whole VALUES (1, 'Unseen.');
SELECT reground.resync();
SELECT doc_id FROM whole_one;
SELECT task, processed, error FROM reground.run_maintenance('resync');
SELECT task, last_error FROM reground.maintenance_status WHERE task IN ('resync', 'sync_queue') ORDER BY task;
SELECT task, processed, error FROM reground.run_maintenance('sync_queue');
SELECT task, last_error FROM reground.maintenance_status WHERE task IN ('resync', 'sync_queue') ORDER BY task;
SELECT corpus, last_error FROM reground.synchronised_tables JOIN reground.corpora USING (corpus_id) WHERE last_error IS NOT NULL;
SELECT item, status, detail, hint FROM reground.check_corpus('broken_one') WHERE item LIKE 'sync%';
SELECT hint FROM reground.check_corpus('broken_one') WHERE item = 'sync_table' \gexec
SELECT task, processed, error FROM reground.run_maintenance('resync');
SELECT task, processed, error FROM reground.run_maintenance('sync_queue');
SELECT doc_id FROM broken_one;

-- Columns of types that cannot be converted.
CREATE TABLE typed (id integer PRIMARY KEY, body text, tags text[], label text, day date, seconds integer, attributes jsonb, old json, who varchar(10)[]);
SELECT reground.create_corpus('typing', schema => 'followed');
SELECT reground.sync_table('typing', 'typed', key => 'id', content => 'body', metadata => 'tags');
SELECT reground.sync_table('typing', 'typed', key => 'id', content => 'body', metadata => 'label');
SELECT reground.sync_table('typing', 'typed', key => 'id', content => 'body', published => 'seconds');
SELECT reground.sync_table('typing', 'typed', key => 'id', content => 'body', modified_at => 'attributes');
SELECT reground.create_corpus('readers', schema => 'followed', principals_column => 'who');
SELECT reground.sync_table('readers', 'typed', key => 'id', content => 'body', principals_column => 'label');
SELECT reground.sync_table('readers', 'typed', key => 'id', content => 'body', metadata => 'old', published => 'day', principals_column => 'who');

-- A key that is only unique together with another column.
CREATE TABLE dated (id integer, d date, body text, PRIMARY KEY (id, d)) PARTITION BY RANGE (d);
CREATE TABLE dated_all PARTITION OF dated DEFAULT;
INSERT INTO dated VALUES (1, '2026-01-01', 'One.'), (1, '2026-01-02', 'Two.');
SELECT reground.create_corpus('dating', schema => 'followed');
SELECT reground.sync_table('dating', 'dated', key => 'id', content => 'body');

-- An empty key.
CREATE TABLE keyed (id text PRIMARY KEY, body text);
INSERT INTO keyed VALUES ('', 'It has no key.'), ('k', 'It has a key.');
SELECT reground.create_corpus('keys', schema => 'followed');
SELECT reground.sync_table('keys', 'keyed', key => 'id', content => 'body');
SELECT doc_id FROM keys;
SELECT doc_id, last_error FROM reground.sync_queue JOIN reground.corpora USING (corpus_id) WHERE corpus = 'keys';
DELETE FROM keyed WHERE id = '';
SELECT count(*) FROM reground.sync_queue JOIN reground.corpora USING (corpus_id) WHERE corpus = 'keys';

-- Rows that cannot be stored: one entry for each.
CREATE TABLE queued (id integer PRIMARY KEY, body text, attributes jsonb);
SELECT reground.create_corpus('queue_now', schema => 'followed');
SELECT reground.create_corpus('queue_later', schema => 'followed');
SELECT reground.sync_table('queue_now', 'queued', key => 'id', content => 'body', metadata => 'attributes');
SELECT reground.sync_table('queue_later', 'queued', key => 'id', content => 'body', metadata => 'attributes', mode => 'queued');
SET client_min_messages = error;
INSERT INTO queued SELECT n, 'Text ' || n, '[]' FROM generate_series(1, 3) AS n;
UPDATE queued SET body = body || '.';
SELECT corpus, doc_id, count(*) FROM reground.sync_queue JOIN reground.corpora USING (corpus_id) GROUP BY corpus, doc_id ORDER BY corpus, doc_id;
SELECT error IS NOT NULL AS error FROM reground.run_maintenance('sync_queue');
SELECT processed, error FROM reground.run_maintenance('resync');
SELECT error IS NOT NULL AS error FROM reground.run_maintenance('sync_queue');
UPDATE queued SET body = body || '!';
SELECT reground.resync('queue_now');
SELECT error FROM reground.run_maintenance('sync_queue');
SELECT corpus, doc_id, count(*) FROM reground.sync_queue JOIN reground.corpora USING (corpus_id) GROUP BY corpus, doc_id ORDER BY corpus, doc_id;
SET client_min_messages = warning;
SELECT corpus, status, detail, regexp_replace(hint, 'corpus_id = \d+', 'corpus_id = N') AS hint FROM (VALUES ('queue_now'), ('queue_later')) AS c(corpus), reground.check_corpus(c.corpus) WHERE item LIKE 'sync%';
UPDATE queued SET attributes = '{}';
SELECT count(*) FROM reground.sync_queue JOIN reground.corpora USING (corpus_id) WHERE corpus = 'queue_now';
SELECT error FROM reground.run_maintenance('sync_queue');
SELECT count(*) FROM reground.sync_queue;
SELECT (SELECT count(*) FROM queue_now) AS now, (SELECT count(*) FROM queue_later) AS later;

-- A renamed column is followed, also if another column gets its name. After a restore, the numbers of columns belong to another table.
CREATE TABLE renamed (id integer PRIMARY KEY, body text);
SELECT reground.create_corpus('renaming', schema => 'followed');
SELECT reground.sync_table('renaming', 'renamed', key => 'id', content => 'body');
ALTER TABLE renamed RENAME COLUMN body TO text;
INSERT INTO renamed VALUES (1, 'Followed.');
ALTER TABLE renamed ADD COLUMN body text DEFAULT 'Another column.';
INSERT INTO renamed VALUES (2, 'Followed, too.');
SELECT doc_id, content FROM renaming ORDER BY doc_id;
SELECT item, status, detail, hint FROM reground.check_corpus('renaming') WHERE item LIKE 'sync%';
SELECT reground.sync_table('renaming', 'renamed', key => 'id', content => 'text');
SELECT columns FROM reground.synchronised_tables JOIN reground.corpora USING (corpus_id) WHERE corpus = 'renaming';
ALTER TABLE renamed DROP COLUMN body;
ALTER TABLE renamed ADD COLUMN copy varchar;
UPDATE renamed SET copy = text;
BEGIN;
ALTER TABLE renamed DROP COLUMN text;
ALTER TABLE renamed RENAME COLUMN copy TO text;
COMMIT;
UPDATE renamed SET text = 'Changed.' WHERE id = 2;
SELECT doc_id, content FROM renaming ORDER BY doc_id;
UPDATE reground.synchronised_tables SET relation_id = 1, column_numbers = '{"key": 2, "content": 1}' WHERE source = 'renamed'::regclass;
UPDATE renamed SET text = 'Restored.' WHERE id = 1;
SELECT doc_id, content FROM renaming ORDER BY doc_id;
SELECT reground.resync('renaming');
SELECT relation_id = source AS same, column_numbers FROM reground.synchronised_tables WHERE source = 'renamed'::regclass;

-- Deleted rows leave no text, unless an answer cites it. The same holds for delete_document.
CREATE TABLE short (id integer PRIMARY KEY, body text);
SELECT reground.create_corpus('shortly', schema => 'followed');
SELECT reground.sync_table('shortly', 'short', key => 'id', content => 'body');
INSERT INTO short SELECT n, 'Text of number ' || n || '.' FROM generate_series(1, 30) AS n;
INSERT INTO short VALUES (31, 'The moon circles the earth.');
SELECT marker, doc_id FROM reground.begin_turn('short-1', 'What circles the earth?', 'shortly', settings => '{"max_sources": 1}');
SELECT status, source_state FROM reground.end_turn(regress.turn('short-1'), 'The moon circles the earth [A1].');
UPDATE short SET body = 'The moon is a satellite.' WHERE id = 31;
DELETE FROM short;
SELECT doc_id, version, deleted_at IS NOT NULL AS deleted FROM reground.documents JOIN reground.corpora USING (corpus_id) WHERE corpus = 'shortly' ORDER BY version;
SELECT doc_id, version, content FROM shortly_documents ORDER BY version;
SELECT count(*) FROM shortly_history WHERE doc_id <> '31';
SELECT doc_id, source_version FROM reground.stale_citations WHERE corpus = 'shortly';
INSERT INTO short VALUES (1, 'It is back.'), (31, 'The moon circles the earth.');
SELECT doc_id, version FROM shortly ORDER BY doc_id;
SELECT reground.create_corpus('by_hand', schema => 'followed', keep_versions => 1);
SELECT version FROM reground.put_document('by_hand', 'a', 'Text.');
SELECT reground.delete_document('by_hand', 'a');
SELECT count(*) FROM by_hand_documents;
SELECT reground.create_corpus('by_hand_2', schema => 'followed', keep_versions => 2);
SELECT version FROM reground.put_document('by_hand_2', 'a', 'Text.');
SELECT version FROM reground.put_document('by_hand_2', 'a', 'Other text.');
SELECT reground.delete_document('by_hand_2', 'a');
SELECT version, content FROM by_hand_2_documents;

-- Columns of the table that the corpus does not have.
SELECT reground.sync_table('typing', 'typed', key => 'id', content => 'none');
SELECT content FROM reground.search('readers', 'unseen', filter => '{"label": "x"}');

-- An error in code of the owner of the corpus stops no writer of the table. The error may contain values of rows, so only the owner sees it.
CREATE TABLE written (id integer PRIMARY KEY, body text);
SELECT reground.create_corpus('hostile', schema => 'followed');
SELECT reground.sync_table('hostile', 'written', key => 'id', content => 'body');
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION USING ERRCODE = TG_ARGV[0], MESSAGE = 'refused: ' || NEW.content;
END $$;
DO $$
DECLARE
    state text;
BEGIN
    FOREACH state IN ARRAY ARRAY['55P03', '40P01', '40001', '57014', 'P0001'] LOOP
        EXECUTE format('CREATE TRIGGER refuse BEFORE INSERT ON hostile FOR EACH ROW EXECUTE FUNCTION refuse(%L)', state);
        SET LOCAL client_min_messages = error;
        EXECUTE format('INSERT INTO written VALUES (%s, %L)', (SELECT count(*) FROM written), 'Secret of ' || state);
        DROP TRIGGER refuse ON hostile;
    END LOOP;
END $$;
SELECT count(*) FROM written;
SELECT q.doc_id, q.last_error FROM reground.sync_queue AS q JOIN reground.corpora USING (corpus_id) WHERE corpus = 'hostile' ORDER BY 1;
SELECT item, detail FROM reground.check_corpus('hostile') WHERE item = 'sync_queue';
CREATE ROLE followed_reader IN ROLE reground_user;
GRANT USAGE ON SCHEMA followed TO followed_reader;
GRANT SELECT ON hostile, hostile_documents TO followed_reader;
SET ROLE followed_reader;
SELECT item, detail FROM reground.check_corpus('hostile') WHERE item = 'sync_queue';
RESET ROLE;
DROP OWNED BY followed_reader;
DROP ROLE followed_reader;
SELECT reground.resync('hostile');
SELECT doc_id FROM hostile ORDER BY 1;

-- A key whose text is too long for the index of documents stops no writer.
CREATE TABLE long_keys (id bytea PRIMARY KEY, body text);
SELECT reground.create_corpus('long_key', schema => 'followed');
SELECT reground.sync_table('long_key', 'long_keys', key => 'id', content => 'body');
SET client_min_messages = error;
INSERT INTO long_keys SELECT decode(string_agg(md5(n::text), ''), 'hex'), 'Text.' FROM generate_series(1, 90) AS n;
SET client_min_messages = warning;
SELECT length(doc_id), last_error FROM reground.sync_queue JOIN reground.corpora USING (corpus_id) WHERE corpus = 'long_key';
SELECT count(*) FROM long_keys;

-- The end.
SELECT count(reground.drop_corpus(corpus, drop_tables => true)) > 0 AS dropped FROM reground.corpora WHERE relation IN (SELECT oid FROM pg_class WHERE relnamespace = 'followed'::regnamespace);
DROP SCHEMA followed CASCADE;
