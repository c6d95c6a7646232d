-- Embeddings that a worker keeps up to date: of new and changed passages, and with a new model.
CREATE SCHEMA embed;
SET search_path = embed, public;
SELECT reground.set_model('embed-2', task => 'embed', api => 'local', api_model => 'two', dimensions => 2);
SELECT reground.set_model('embed-3', task => 'embed', api => 'local', api_model => 'three', dimensions => 3);
SELECT reground.set_model('embed-b', task => 'embed', api => 'local', api_model => 'other', dimensions => 2);
SELECT reground.set_model('embed-r', task => 'rerank', api => 'local', api_model => 'r');
-- Stands in for a worker: the vector of a text is its length, and zeros or ones.
CREATE FUNCTION work(models text[] DEFAULT '{embed-2,embed-3,embed-b}') RETURNS TABLE (model text, content text) LANGUAGE sql VOLATILE AS $$
    SELECT c.model, c.request ->> 'text' FROM reground.claim_tasks('worker', models => $1) AS c
    CROSS JOIN LATERAL (SELECT reground.complete_task(c.task_id, c.lease_token, jsonb_build_object('embedding',
        CASE c.model WHEN 'embed-3' THEN jsonb_build_array(length(c.request ->> 'text'), 0, 0) WHEN 'embed-b' THEN jsonb_build_array(length(c.request ->> 'text'), 1)
             ELSE jsonb_build_array(length(c.request ->> 'text'), 0) END))) AS done
    ORDER BY 1, 2 $$;
CREATE VIEW progress AS SELECT corpus, model, is_current, passages, embedded, waiting, dead, stale, last_error FROM reground.embedding_progress WHERE corpus LIKE 'embed%' ORDER BY 1, 2;

-- A registered table.
CREATE TABLE article (id integer PRIMARY KEY, body text, emb vector(2), emb3 vector(3));
INSERT INTO article VALUES (1, 'a'), (2, 'bb'), (3, 'ccc'), (4, ''), (5, NULL);
SELECT * FROM regress.refusal($$SELECT reground.add_corpus('embed', 'embed.article', 'id', 'body', embedding => 'emb3', embedding_model => 'embed-2')$$);
SELECT * FROM regress.refusal($$SELECT reground.add_corpus('embed', 'embed.article', 'id', 'body', embedding => 'emb', embedding_model => 'nothing')$$);
SELECT * FROM regress.refusal($$SELECT reground.add_corpus('embed', 'embed.article', 'id', 'body', embedding => 'emb', embedding_model => 'embed-r')$$);
SELECT * FROM regress.refusal($$SELECT reground.add_corpus('embed', 'embed.article', 'id', 'body', embedding_model => 'embed-2')$$);
SET client_min_messages = warning;
SELECT reground.add_corpus('embed', 'embed.article', 'id', 'body', embedding => 'emb', embedding_model => 'embed-2');
RESET client_min_messages;
TABLE progress;
SELECT reground.queue_embeddings('embed');
TABLE progress;
SELECT * FROM work();
SELECT id, emb FROM article ORDER BY id;
SELECT reground.queue_embeddings('embed');
TABLE progress;
-- A change of the text makes the vector stale, other changes do not.
UPDATE article SET body = 'bbbb' WHERE id = 2;
UPDATE article SET body = body;
INSERT INTO article VALUES (6, 'sixsix');
DELETE FROM article WHERE id = 3;
SELECT reground.queue_embeddings('embed');
TABLE progress;
SELECT * FROM work();
SELECT id, emb FROM article ORDER BY id;
SELECT reground.queue_embeddings('embed');
TABLE progress;
-- A text that changes while its task is leased.
UPDATE article SET body = 'eleven char' WHERE id = 6;
SELECT reground.queue_embeddings('embed');
CREATE TEMPORARY TABLE leased AS SELECT * FROM reground.claim_tasks('worker', models => '{embed-2}');
UPDATE article SET body = 'changed again' WHERE id = 6;
SELECT reground.complete_task(task_id, lease_token, '{"embedding": [11, 0]}') FROM leased;
SELECT id, emb FROM article WHERE id = 6;
SELECT reground.queue_embeddings('embed');
SELECT * FROM work();
SELECT id, emb FROM article WHERE id = 6;
-- Vectors that the owner removes are computed again; those that it writes with put_embeddings count as of the present text.
UPDATE article SET emb = NULL WHERE id = 1;
UPDATE article SET body = 'own' WHERE id = 2;
SELECT reground.put_embeddings('embed', '{2}', ARRAY['[9,9]']::vector[], 'embed-2');
SELECT * FROM regress.refusal($$SELECT reground.put_embeddings('embed', '{2}', ARRAY['[9,9]']::vector[], 'embed-b')$$);
SELECT reground.queue_embeddings('embed');
SELECT * FROM work();
SELECT id, emb FROM article WHERE id IN (1, 2) ORDER BY id;

-- The model of a question.
SELECT chunk_id FROM reground.search('embed', 'own', '[9,9]', embedding_model => 'embed-2', max_results => 1);
SELECT * FROM regress.refusal($$SELECT * FROM reground.search('embed', 'own', '[9,9]', embedding_model => 'embed-b')$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.begin_turn('embed-1', 'own', 'embed', '[9,9]', embedding_model => 'embed-b')$$);
SELECT doc_id FROM reground.begin_turn('embed-1', 'own', 'embed', '[9,9]', embedding_model => 'embed-2', settings => '{"max_sources": 1}');
SELECT * FROM regress.refusal($$SELECT * FROM reground.retrieve(regress.turn('embed-1'), 'own', embedding => '[9,9]', embedding_model => 'embed-b')$$);

-- A new model: its vectors are computed beside the present ones; then searches use them.
SELECT * FROM regress.refusal($$SELECT reground.alter_corpus('embed', embedding_model => 'embed-3')$$);
SELECT * FROM regress.refusal($$SELECT reground.alter_corpus('embed', mapping => '{"next_embedding": "emb"}', embedding_model => 'embed-3')$$);
SELECT reground.alter_corpus('embed', mapping => '{"next_embedding": "emb3"}', embedding_model => 'embed-3');
SELECT embedding_model, next_embedding_model, dimensions FROM reground.corpora WHERE corpus = 'embed';
SELECT reground.queue_embeddings('embed');
TABLE progress;
SELECT count(*) FROM work();
SELECT chunk_id FROM reground.search('embed', 'own', '[9,9]', embedding_model => 'embed-2', max_results => 1);
UPDATE article SET body = 'late' WHERE id = 1;
SELECT reground.queue_embeddings('embed');
TABLE progress;
SELECT * FROM work();
-- The worker makes the change, with no right on any table.
CREATE ROLE regress_embed_worker LOGIN IN ROLE reground_worker;
UPDATE reground.embedding_checks SET checked_at = NULL;
SET SESSION AUTHORIZATION regress_embed_worker;
SELECT reground.queue_embeddings();
RESET SESSION AUTHORIZATION;
DROP ROLE regress_embed_worker;
TABLE progress;
SELECT embedding_model, next_embedding_model, dimensions, mapping -> 'embedding' AS embedding, mapping -> 'next_embedding' AS next FROM reground.corpora WHERE corpus = 'embed';
SELECT id, emb3 FROM article ORDER BY id;
SELECT chunk_id FROM reground.search('embed', 'own', '[1,0,0]', embedding_model => 'embed-3', max_results => 1);
SELECT count(*) FROM reground.passage_embeddings AS e JOIN reground.corpora AS c USING (corpus_id) WHERE c.corpus = 'embed' AND e.model <> 'embed-3';
-- The owner takes over.
SELECT reground.alter_corpus('embed', embedding_model => '');
TABLE progress;
SELECT embedding_model FROM reground.corpora WHERE corpus = 'embed';
-- Vectors that exist are taken as the model's, so nothing is computed twice.
SELECT reground.alter_corpus('embed', embedding_model => 'embed-3');
SELECT reground.queue_embeddings('embed');
TABLE progress;

-- A corpus of create_corpus: a corpus without vectors gets a column, a new model another one, with the same index.
SELECT reground.create_corpus('embed_m', schema => 'embed');
SELECT (reground.put_document('embed_m', 'd', passages => '[{"content": "first"}, {"content": "second one"}]')).added;
SELECT reground.alter_corpus('embed_m', embedding_model => 'embed-2');
SELECT item, status, hint FROM reground.check_corpus('embed_m') WHERE item LIKE '%embedding%';
CREATE INDEX ON embed_m USING hnsw (embedding vector_cosine_ops) WITH (m = 8);
SELECT reground.queue_embeddings('embed_m');
SELECT * FROM work();
SELECT (reground.put_document('embed_m', 'd', passages => '[{"content": "first"}, {"content": "third one"}]')).added;
SELECT * FROM work();
SELECT content, embedding FROM embed_m ORDER BY ordinal;
UPDATE embed_m_history SET embedding = '[1,0]' WHERE is_last;
SELECT reground.alter_corpus('embed_m', embedding_model => 'embed-b');
SELECT indexdef FROM pg_indexes WHERE schemaname = 'embed' AND tablename = 'embed_m' AND indexdef LIKE '%hnsw%' ORDER BY 1;
-- put_document queues for both models.
SELECT (reground.put_document('embed_m', 'e', 'another')).added;
SELECT * FROM work();
SELECT reground.queue_embeddings('embed_m');
SELECT * FROM work();
SELECT reground.queue_embeddings('embed_m');
SELECT content, embedding_2 FROM embed_m ORDER BY doc_id, ordinal;
SELECT embedding_model, mapping -> 'embedding' AS embedding FROM reground.corpora WHERE corpus = 'embed_m';
-- Vectors of earlier passages are of the previous model.
SELECT count(*) AS earlier, count(embedding) AS vectors FROM embed_m_history;
SELECT item, status, detail, hint FROM reground.check_corpus('embed_m') WHERE item LIKE '%embedding%';
-- A rebuild of the lexemes keeps the column.
SELECT reground.alter_corpus('embed_m', text_config => 'simple');
SELECT mapping -> 'embedding' AS embedding FROM reground.corpora WHERE corpus = 'embed_m';
-- Forgetting a document removes what is recorded of it.
SELECT count(*) FROM reground.passage_embeddings AS e JOIN reground.corpora AS c USING (corpus_id) WHERE c.corpus = 'embed_m';
SELECT reground.delete_document('embed_m', 'd');
SELECT count(*) FROM reground.passage_embeddings AS e JOIN reground.corpora AS c USING (corpus_id) WHERE c.corpus = 'embed_m';

-- Two corpora of one search need one model.
SELECT * FROM regress.refusal($$SELECT * FROM reground.begin_turn('embed-2', 'x', corpora => '{embed,embed_m}')$$);

-- Only the owner of a table lets workers read and write it; a view cannot be kept up to date.
CREATE TABLE theirs (id integer PRIMARY KEY, body text, emb vector(2));
CREATE VIEW seen AS SELECT * FROM theirs;
CREATE ROLE regress_embed_admin IN ROLE reground_admin;
GRANT USAGE ON SCHEMA embed, regress TO regress_embed_admin;
GRANT SELECT, UPDATE ON theirs TO regress_embed_admin;
SET ROLE regress_embed_admin;
SELECT * FROM regress.refusal($$SELECT reground.add_corpus('embed_t', 'embed.theirs', 'id', 'body', embedding => 'emb', embedding_model => 'embed-2')$$);
RESET ROLE;
SELECT * FROM regress.refusal($$SELECT reground.add_corpus('embed_t', 'embed.seen', 'id', 'body', embedding => 'emb', embedding_model => 'embed-2')$$);
-- Nor can another role change which columns it reads and writes.
SET client_min_messages = warning;
SELECT reground.add_corpus('embed_t', 'embed.theirs', 'id', 'body', embedding => 'emb', embedding_model => 'embed-2');
RESET client_min_messages;
SET ROLE regress_embed_admin;
SELECT * FROM regress.refusal($$SELECT reground.alter_corpus('embed_t', mapping => '{"content": "id"}')$$);
RESET ROLE;
-- Unusual rows: ids twice, an id that is too long, no id, a text of white space.
CREATE TABLE odd (id text, body text, emb vector(2));
INSERT INTO odd VALUES ('x', 'one'), ('x', 'two'), (repeat('y', 9600), 'long id'), (NULL, 'no id'), ('s', E' \t\n'), ('z', 'fine');
SET client_min_messages = warning;
SELECT reground.add_corpus('embed_o', 'embed.odd', 'id', 'body', embedding => 'emb', embedding_model => 'embed-2');
RESET client_min_messages;
SELECT reground.queue_embeddings('embed_o');
SELECT count(*) FROM work();
SELECT corpus, passages, embedded, last_error FROM progress WHERE corpus = 'embed_o';
SELECT id, emb IS NOT NULL AS embedded FROM odd WHERE id = 'z';
-- A table that does not keep the vector: the attempts count.
CREATE TABLE forgets (id integer PRIMARY KEY, body text, emb vector(2));
CREATE FUNCTION forget() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.emb := NULL; RETURN NEW; END $$;
CREATE TRIGGER forget BEFORE UPDATE ON forgets FOR EACH ROW EXECUTE FUNCTION forget();
INSERT INTO forgets VALUES (1, 'gone');
SET client_min_messages = warning;
SELECT reground.add_corpus('embed_f', 'embed.forgets', 'id', 'body', embedding => 'emb', embedding_model => 'embed-2');
RESET client_min_messages;
SELECT reground.queue_embeddings('embed_f');
CREATE TEMPORARY TABLE forgotten AS SELECT * FROM reground.claim_tasks('worker', models => '{embed-2}');
SELECT state, message FROM regress.refusal($$SELECT reground.complete_task(task_id, lease_token, '{"embedding": [1, 0]}') FROM forgotten$$);
CREATE OR REPLACE FUNCTION forget() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'out of order' USING ERRCODE = '57P01'; END $$;
SELECT state, message FROM regress.refusal($$SELECT reground.complete_task(task_id, lease_token, '{"embedding": [1, 0]}') FROM forgotten$$);
SELECT reground.drop_corpus('embed_f'), reground.drop_corpus('embed_o'), reground.drop_corpus('embed_t');
-- A policy that pretends a cancel delays its own corpus only.
CREATE TABLE stops (id integer PRIMARY KEY, body text, emb vector(2));
CREATE ROLE regress_embed_stopper;
INSERT INTO stops VALUES (1, 'stop');
SET client_min_messages = warning;
SELECT reground.add_corpus('embed_x', 'embed.stops', 'id', 'body', embedding => 'emb', embedding_model => 'embed-2');
RESET client_min_messages;
SELECT reground.queue_embeddings('embed_x');
CREATE FUNCTION stop() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'stop' USING ERRCODE = '57014'; END $$;
GRANT USAGE ON SCHEMA embed TO regress_embed_stopper;
ALTER TABLE stops OWNER TO regress_embed_stopper;
ALTER TABLE stops ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY stop ON stops USING (embed.stop());
SELECT reground.queue_embeddings('embed_m') AS others;
SELECT * FROM work();
SELECT state, attempts, due_at > clock_timestamp() AS delayed, last_error FROM reground.model_tasks WHERE corpus_id = (SELECT corpus_id FROM reground.corpora WHERE corpus = 'embed_x');
SELECT reground.queue_embeddings('embed_x');
SELECT corpus, last_error FROM progress WHERE corpus = 'embed_x';
SELECT reground.drop_corpus('embed_x');
DROP TABLE stops;
DROP OWNED BY regress_embed_stopper;
DROP ROLE regress_embed_stopper;
-- A column that is dropped before its model is in use breaks no search, and the change can be cancelled.
CREATE TABLE nx (id integer PRIMARY KEY, body text, emb vector(2), e2 vector(3));
INSERT INTO nx VALUES (1, 'tea', '[1,0]');
SET client_min_messages = warning;
SELECT reground.add_corpus('embed_n', 'embed.nx', 'id', 'body', embedding => 'emb', embedding_model => 'embed-2');
SELECT reground.alter_corpus('embed_n', mapping => '{"next_embedding": "e2"}', embedding_model => 'embed-3');
RESET client_min_messages;
ALTER TABLE nx DROP COLUMN e2;
SELECT chunk_id FROM reground.search('embed_n', 'tea', '[1,0]');
SELECT reground.alter_corpus('embed_n', embedding_model => 'embed-2');
SELECT next_embedding_model, mapping ? 'next_embedding' AS mapped FROM reground.corpora WHERE corpus = 'embed_n';
SELECT reground.drop_corpus('embed_n');
-- The worker reads as the owner of the table, whoever calls: code of the table has the owner's rights.
CREATE ROLE regress_owner;
GRANT USAGE, CREATE ON SCHEMA embed TO regress_owner;
GRANT reground_admin TO regress_owner;
SET ROLE regress_owner;
CREATE TABLE embed.spied (id integer PRIMARY KEY, body text, emb vector(2), by text);
CREATE FUNCTION embed.spy() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.by := current_user; RETURN NEW; END $$;
CREATE TRIGGER spy BEFORE UPDATE ON embed.spied FOR EACH ROW EXECUTE FUNCTION embed.spy();
INSERT INTO embed.spied (id, body) VALUES (1, 'spy');
SET client_min_messages = warning;
SELECT reground.add_corpus('embed_s', 'embed.spied', 'id', 'body', embedding => 'emb', embedding_model => 'embed-2');
RESET client_min_messages;
RESET ROLE;
SELECT reground.queue_embeddings('embed_s');
SELECT * FROM work();
SELECT * FROM embed.spied;
-- Code that wants more fails, and harms only its own corpus.
SET ROLE regress_owner;
CREATE OR REPLACE FUNCTION embed.spy() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RESET ROLE; RETURN NEW; END $$;
RESET ROLE;
UPDATE reground.passage_embeddings SET input_hash = '\x00' WHERE chunk_id = '1' AND corpus_id = (SELECT corpus_id FROM reground.corpora WHERE corpus = 'embed_s');
SELECT reground.queue_embeddings('embed_s');
CREATE TEMPORARY TABLE spied AS SELECT * FROM reground.claim_tasks('worker', models => '{embed-2}');
SELECT state, message FROM regress.refusal($$SELECT reground.complete_task(task_id, lease_token, '{"embedding": [1, 0]}') FROM spied$$);
SELECT reground.fail_task(task_id, lease_token, 'cannot be stored') FROM spied;
-- An error while a corpus is compared is recorded, and other corpora go on.
ALTER TABLE embed.spied RENAME COLUMN body TO text;
SELECT reground.queue_embeddings('embed_s');
SELECT corpus, last_error FROM progress WHERE last_error IS NOT NULL;
-- Without a name, the corpora that have changed are compared, here at least the one that was never compared.
SELECT reground.queue_embeddings() >= 0 AS compared;
SELECT count(*) FROM reground.embedding_checks WHERE checked_at IS NULL;

SELECT reground.drop_corpus('embed'), reground.drop_corpus('embed_m', drop_tables => true), reground.drop_corpus('embed_s');
TABLE progress;
-- A model takes over vectors of the application: those of an earlier text are stale.
CREATE TABLE taken (id integer PRIMARY KEY, body text, emb vector(2));
INSERT INTO taken VALUES (1, 'a', '[1,0]'), (2, 'bb', '[1,0]');
SELECT reground.add_corpus('embed_k', 'embed.taken', 'id', 'body', embedding => 'emb');
UPDATE taken SET body = 'changed' WHERE id = 2;
SELECT reground.alter_corpus('embed_k', embedding_model => 'embed-2');
SELECT passages, embedded, waiting, stale FROM progress WHERE corpus = 'embed_k';
SELECT reground.queue_embeddings('embed_k');
SELECT content FROM work();
SELECT passages, embedded, waiting, stale FROM progress WHERE corpus = 'embed_k';
-- A model with other dimensions replaces them; nothing is left of their records.
SELECT reground.create_corpus('embed_w', schema => 'embed', dimensions => 2);
SELECT (reground.put_document('embed_w', 'd', 'one')).added;
SELECT reground.put_embeddings('embed_w', '{1}', ARRAY['[1,0]']::vector[]);
SELECT reground.alter_corpus('embed_w', embedding_model => 'embed-3');
SELECT passages, embedded, waiting, stale, is_current FROM progress WHERE corpus = 'embed_w';
SELECT reground.queue_embeddings('embed_w');
SELECT content FROM work();
SELECT reground.queue_embeddings('embed_w');
SELECT e.model, e.chunk_id FROM reground.passage_embeddings AS e JOIN reground.corpora AS c USING (corpus_id) WHERE c.corpus IN ('embed_k', 'embed_w') ORDER BY 1, 2;
SELECT reground.drop_corpus('embed_k'), reground.drop_corpus('embed_w', true);
SELECT reground.drop_model(m) FROM unnest('{embed-2,embed-3,embed-b,embed-r}'::text[]) AS m;
DROP OWNED BY regress_owner, regress_embed_admin;
DROP ROLE regress_owner, regress_embed_admin;
