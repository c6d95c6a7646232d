-- Texts of frequent and rare words, made by the server; and what a reader compares.
CREATE TABLE docs (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text) WITH (autovacuum_vacuum_scale_factor = 0.02);
CREATE FUNCTION random_body() RETURNS text LANGUAGE sql VOLATILE AS $$
    SELECT string_agg('w' || (random() ^ 3 * 2000)::integer, ' ') FROM generate_series(1, 20 + (random() * 80)::integer)
$$;
INSERT INTO docs (body) SELECT random_body() FROM generate_series(1, 2000);
CREATE INDEX docs_body ON docs USING reground_bm25 (body) WITH (text_config = 'simple');
-- After a crash it is empty, and its index with it.
CREATE UNLOGGED TABLE brief (body text);
INSERT INTO brief SELECT random_body() FROM generate_series(1, 100);
CREATE INDEX brief_body ON brief USING reground_bm25 (body) WITH (text_config = 'simple');
