-- add_corpus registers existing tables: no rows are copied, and keys may be of any type.
CREATE SCHEMA help;
SET search_path = help, public;
SET client_min_messages = error;

CREATE TABLE docs (id uuid PRIMARY KEY, name text, url text, changed timestamptz, lang text, pages integer);
CREATE TABLE chunks (id uuid, doc uuid REFERENCES docs, body text NOT NULL, emb vector(3), pos integer, attributes jsonb);
INSERT INTO docs VALUES
    ('00000000-0000-0000-0000-0000000000d1', 'Passwords', 'https://help.example/passwords', '2026-01-02 00:00+00', 'en', 3),
    ('00000000-0000-0000-0000-0000000000d2', 'Invoices', NULL, NULL, 'de', NULL);
INSERT INTO chunks VALUES
    ('00000000-0000-0000-0000-0000000000c1', '00000000-0000-0000-0000-0000000000d1', 'Reset a password from the login page.', '[1,0,0]', 1, '{"audience": "all"}'),
    ('00000000-0000-0000-0000-0000000000c2', '00000000-0000-0000-0000-0000000000d1', 'Administrators reset any password in settings.', '[0.8,0.6,0]', 5, '{"audience": "admin"}'),
    ('00000000-0000-0000-0000-0000000000c3', '00000000-0000-0000-0000-0000000000d2', 'Invoices are sent on the first of the month.', NULL, 1, NULL);

SELECT reground.add_corpus('help', relation => 'chunks', chunk_id => 'id', doc_id => 'doc', content => 'body', embedding => 'emb', ordinal => 'pos',
    documents => 'docs', documents_doc_id => 'id', title => 'name', uri => 'url', modified_at => 'changed', page_count => 'pages', metadata => 'attributes');
SELECT relation, documents, managed, dimensions, embedding_type, metric FROM reground.corpora WHERE corpus = 'help';
SELECT mapping -> 'content' AS content, mapping -> 'title' AS title, mapping -> 'chunk_id' AS chunk_id FROM reground.corpora WHERE corpus = 'help';
SELECT reground.add_corpus('help', relation => 'chunks', chunk_id => 'id', doc_id => 'doc', content => 'body', embedding => 'emb', ordinal => 'pos',
    documents => 'docs', documents_doc_id => 'id', title => 'name', uri => 'url', modified_at => 'changed', page_count => 'pages', metadata => 'attributes');
SELECT * FROM regress.refusal($$SELECT reground.add_corpus('help', relation => 'chunks', chunk_id => 'id', content => 'body')$$);

-- Each hint is a command. After all hints have been run, no finding is left.
SELECT * FROM reground.check_corpus('help');
SELECT hint FROM reground.check_corpus('help') WHERE item = 'chunk_id' \gexec
SELECT hint FROM reground.check_corpus('help') WHERE item = 'embedding' \gexec
SELECT hint FROM reground.check_corpus('help') WHERE item = 'vector index' \gexec
SELECT item, status FROM reground.check_corpus('help');

-- Searches and turns work as on any other corpus.
SELECT chunk_id, doc_id, title, uri, locator, metadata, lexical_rank, vector_rank FROM reground.search('help', 'reset password', '[1,0,0]');
SELECT chunk_id FROM reground.search('help', 'invoices');
SELECT chunk_id FROM reground.search('help', 'password', filter => '{"lang": "de"}');
SELECT chunk_id FROM reground.search('help', 'password', filter => '{"attributes": {"audience": "admin"}}');
SELECT chunk_id FROM reground.search('help', 'password', filter => '{"doc": "00000000-0000-0000-0000-0000000000d1", "pos": {">": 1}}');
SELECT * FROM regress.refusal($$SELECT * FROM reground.search('help', 'password', filter => '{"doc": "not a uuid"}')$$);
SELECT marker, doc_id, title, uri, origin FROM reground.begin_turn('help-1', 'reset password', 'help', '[1,0,0]');
SELECT marker, title, uri, status, source_state FROM reground.end_turn(regress.turn('help-1'), 'On the login page you reset a password [A1].');
SELECT reground.pin('help-1', doc_id => '00000000-0000-0000-0000-0000000000d2');
SELECT reground.pin('help-1', chunk_id => '00000000-0000-0000-0000-0000000000c3');
SELECT * FROM regress.refusal($$SELECT reground.pin('help-1', doc_id => 'no uuid')$$);
SELECT doc_id, origin FROM reground.begin_turn('help-1', 'and for administrators?', 'help', '[0.8,0.6,0]');

-- The application writes its tables itself; embeddings may also be set by put_embeddings.
SELECT * FROM reground.pending_embeddings('help');
SELECT reground.put_embeddings('help', ARRAY['00000000-0000-0000-0000-0000000000c3', '00000000-0000-0000-0000-0000000000ff'], ARRAY['[0,0,1]', '[0,1,0]']::vector[]);
SELECT * FROM regress.refusal($$SELECT reground.put_embeddings('help', ARRAY['c3'], ARRAY['[0,0,1]']::vector[])$$);
SELECT * FROM regress.refusal($$SELECT reground.put_document('help', 'x', content => 'y')$$);
SELECT * FROM regress.refusal($$SELECT reground.delete_document('help', '00000000-0000-0000-0000-0000000000d1')$$);

-- Arguments that are refused.
SELECT * FROM regress.refusal($$SELECT reground.add_corpus('x', relation => 'chunks', chunk_id => 'nope', content => 'body')$$);
SELECT * FROM regress.refusal($$SELECT reground.add_corpus('x', relation => 'chunks', chunk_id => 'id', content => 'nope')$$);
SELECT * FROM regress.refusal($$SELECT reground.add_corpus('x', relation => 'chunks', chunk_id => 'id', content => 'body', embedding => 'pos')$$);
-- A type of another schema that is only called vector.
CREATE TYPE help.vector AS (x real);
CREATE TABLE lookalikes (id integer, body text, emb help.vector);
SELECT * FROM regress.refusal($$SELECT reground.add_corpus('x', relation => 'lookalikes', chunk_id => 'id', content => 'body', embedding => 'emb')$$);
DROP TABLE lookalikes;
DROP TYPE help.vector;
SELECT * FROM regress.refusal($$SELECT reground.add_corpus('x', relation => 'chunks', chunk_id => 'id', content => 'pos')$$);
SELECT * FROM regress.refusal($$SELECT reground.add_corpus('x', relation => 'chunks', chunk_id => 'id', content => 'body', documents => 'docs')$$);
SELECT * FROM regress.refusal($$SELECT reground.add_corpus('x', relation => 'nowhere', chunk_id => 'id', content => 'body')$$);
SELECT * FROM regress.refusal($$SELECT reground.add_corpus('x', relation => NULL, chunk_id => 'id', content => 'body')$$);
SELECT * FROM regress.refusal($$SELECT reground.add_corpus('x', relation => 'chunks', chunk_id => NULL, content => 'body')$$);

-- An integer key and a view that has only text: each passage is its own document.
CREATE VIEW lines AS SELECT row_number() OVER (ORDER BY id) AS n, body FROM chunks;
SELECT reground.add_corpus('lines', relation => 'lines', chunk_id => 'n', content => 'body');
SELECT chunk_id, doc_id, title, vector_rank FROM reground.search('lines', 'invoices');
SELECT item, status, detail FROM reground.check_corpus('lines');
SELECT * FROM regress.refusal($$SELECT * FROM reground.search('lines', 'invoices', '[1,0,0]')$$);
SELECT * FROM regress.refusal($$SELECT reground.put_embeddings('lines', ARRAY['1'], ARRAY['[0,0,1]']::vector[])$$);

-- check_corpus reports a renamed column, and a new mapping repairs the corpus.
ALTER TABLE chunks RENAME COLUMN body TO words;
SELECT item, status, detail, hint FROM reground.check_corpus('help');
SELECT * FROM regress.refusal($$SELECT * FROM reground.search('help', 'password')$$);
SELECT reground.alter_corpus('help', mapping => '{"content": "words"}');
SELECT chunk_id FROM reground.search('help', 'invoices');

-- Row-level security of the tables filters the results for each reader.
CREATE ROLE regress_guest IN ROLE reground_user;
GRANT USAGE ON SCHEMA help TO regress_guest;
GRANT SELECT ON docs, chunks TO regress_guest;
ALTER TABLE chunks ENABLE ROW LEVEL SECURITY;
CREATE POLICY everyone ON chunks USING (attributes ->> 'audience' = 'all');
SET ROLE regress_guest;
SELECT chunk_id, lexical_rank FROM reground.search('help', 'password', '[0.8,0.6,0]');
RESET ROLE;
-- drop_corpus keeps tables that the application made, also with drop_tables.
SELECT reground.drop_corpus('lines');
SELECT * FROM regress.refusal($$SELECT reground.drop_corpus('help', drop_tables => true)$$);
SELECT count(*) FROM chunks;
DROP OWNED BY regress_guest;
DROP ROLE regress_guest;
