-- The database of an application: plain tables, without the extension.
CREATE EXTENSION vector;
CREATE TABLE articles (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, title text NOT NULL, body text NOT NULL, revision integer NOT NULL DEFAULT 1, embedding vector(2));
CREATE FUNCTION random_body() RETURNS text LANGUAGE sql VOLATILE AS $$
    SELECT string_agg('w' || (random() ^ 3 * 2000)::integer, ' ') FROM generate_series(1, 20 + (random() * 80)::integer)
$$;
INSERT INTO articles (title, body, embedding) VALUES ('Otters', 'Otters sleep on their backs and hold hands.', '[1,0]'), ('Badgers', 'Badgers dig setts in woods.', '[0,1]'), ('Herons', 'Herons stand still in shallow water.', '[1,1]');
INSERT INTO articles (title, body, embedding) SELECT 'Article ' || n, random_body(), ARRAY[random() - 0.5, random()]::real[]::vector FROM generate_series(1, 2000) AS n;
CREATE PUBLICATION articles FOR TABLE articles;
