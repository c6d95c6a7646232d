-- The same rows in a table distributed by :column and in one of the coordinator, and a corpus of each.
SET client_min_messages = warning;
SELECT setseed(0.5);
CREATE TABLE plain (id text NOT NULL, doc_id text NOT NULL, tenant text NOT NULL, title text, body text NOT NULL, embedding vector(8), PRIMARY KEY (tenant, doc_id, id));
INSERT INTO plain
SELECT 'p' || i, 'd' || i / 7, 't' || i / 7 % 3, 'Title ' || i / 7,
       (SELECT string_agg('w' || floor(power(random(), 3) * 800 + k * 0), ' ') FROM generate_series(1, 10 + i % 40) AS k),
       (SELECT array_agg(random() - 0.5 + k * 0) FROM generate_series(1, 8 + i * 0) AS k)::real[]::vector
FROM generate_series(1, 6000) AS i;
CREATE INDEX plain_body ON plain USING reground_bm25 (body);
CREATE INDEX plain_embedding ON plain USING hnsw (embedding vector_cosine_ops);

CREATE TABLE spread (LIKE plain INCLUDING ALL EXCLUDING INDEXES, PRIMARY KEY (tenant, doc_id, id));
SELECT create_distributed_table('spread', :'column', shard_count => 4);
INSERT INTO spread SELECT * FROM plain;
CREATE INDEX spread_id ON spread (id);
CREATE INDEX spread_body ON spread USING reground_bm25 (body);
CREATE INDEX spread_embedding ON spread USING hnsw (embedding vector_cosine_ops);
ANALYZE plain, spread;

-- Two rows, so that most shards are empty.
CREATE TABLE few (id text, doc_id text, body text, PRIMARY KEY (doc_id, id));
SELECT create_distributed_table('few', 'doc_id', shard_count => 8);
INSERT INTO few VALUES ('a', 'd1', 'red shoes'), ('b', 'd2', 'blue shoes');
CREATE INDEX few_body ON few USING reground_bm25 (body);

-- No row at all; a table of partitions; a table with two indexes, of which the corpus uses the one with titles.
CREATE TABLE nothing (id text, doc_id text, body text, PRIMARY KEY (doc_id, id));
SELECT create_distributed_table('nothing', 'doc_id', shard_count => 4);
CREATE INDEX nothing_body ON nothing USING reground_bm25 (body);
CREATE TABLE parts (LIKE plain, part integer) PARTITION BY LIST (part);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES IN (0);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
SELECT create_distributed_table('parts', 'doc_id', shard_count => 4);
INSERT INTO parts SELECT *, substr(id, 2)::integer % 2 FROM plain;
CREATE INDEX parts_id ON parts (id);
CREATE INDEX parts_body ON parts USING reground_bm25 (body);
CREATE TABLE "Odd % table" (LIKE plain);
SELECT create_distributed_table('"Odd % table"', 'doc_id', shard_count => 4);
INSERT INTO "Odd % table" SELECT * FROM plain;
CREATE INDEX "odd % body" ON "Odd % table" USING reground_bm25 (body);
CREATE INDEX "odd % titles" ON "Odd % table" USING reground_bm25 ((ARRAY[title, body])) WITH (weights = '3,1');
CREATE INDEX ON plain USING reground_bm25 ((ARRAY[title, body])) WITH (weights = '3,1');

SELECT reground.add_corpus(name, name, chunk_id => 'id', content => 'body', doc_id => 'doc_id', title => 'title', embedding => 'embedding', title_weight => 0)
FROM unnest('{plain,spread}'::text[]) AS name;
SELECT reground.add_corpus(name || '_of_tenants', name, chunk_id => 'id', content => 'body', doc_id => 'doc_id', embedding => 'embedding', title_weight => 0, tenant_column => 'tenant')
FROM unnest('{plain,spread}'::text[]) AS name;
SELECT reground.add_corpus('titled ' || name, name, chunk_id => 'id', content => 'body', doc_id => 'doc_id', title => 'title', title_weight => 3)
FROM unnest(ARRAY['plain', '"Odd % table"']) AS name;
SELECT reground.add_corpus(name, name, chunk_id => 'id', content => 'body', doc_id => 'doc_id') FROM unnest('{nothing,parts}'::text[]) AS name;
SELECT reground.add_corpus('few', 'few', chunk_id => 'id', content => 'body', doc_id => 'doc_id');
GRANT SELECT ON plain, spread, few, nothing, parts, "Odd % table" TO reader;
