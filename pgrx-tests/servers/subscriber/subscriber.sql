-- The server with the extension: the same table with one more column, filled by the subscription, with the indexes for searches.
CREATE EXTENSION reground CASCADE;
CREATE TABLE articles (id bigint PRIMARY KEY, title text NOT NULL, body text NOT NULL, revision integer NOT NULL, embedding vector(2), own text);
CREATE INDEX articles_body ON articles USING reground_bm25 ((ARRAY[title, body])) WITH (text_config = 'english', weights = '2');
CREATE INDEX articles_embedding ON articles USING hnsw (embedding vector_cosine_ops);
SELECT reground.add_corpus('articles', relation => 'articles', chunk_id => 'id', content => 'body', title => 'title', version => 'revision', embedding => 'embedding');
