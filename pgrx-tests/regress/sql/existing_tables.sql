-- Tables as applications have them: partitioned passages with text keys, titles in another table, row-level security, a view over all of it.
CREATE SCHEMA library;
SET search_path = library, public;
CREATE TABLE books (slug text PRIMARY KEY, name text);
INSERT INTO books VALUES ('otters', 'On Otters'), ('owls', 'On Owls');
CREATE TABLE parts (part_key text NOT NULL, book text NOT NULL REFERENCES books, lang text NOT NULL, words text NOT NULL, emb vector(2)) PARTITION BY LIST (lang);
CREATE TABLE parts_en PARTITION OF parts FOR VALUES IN ('en');
CREATE TABLE parts_de PARTITION OF parts FOR VALUES IN ('de');
INSERT INTO parts VALUES ('o/1', 'otters', 'en', 'Otters sleep on their backs.', '[1,0]'), ('o/2', 'otters', 'de', 'Otter schlafen auf dem Rücken.', '[1,0.1]'), ('w/1', 'owls', 'en', 'Owls hunt at night.', '[0,1]');
SELECT reground.add_corpus('parts', relation => 'parts', key => 'part_key', document => 'book', content => 'words', embedding => 'emb', documents => 'books', document_key => 'slug', title => 'name');
SELECT item, status, detail, hint FROM reground.check_corpus('parts');
-- Every command that is given can be run, and then nothing is missing.
SELECT hint FROM reground.check_corpus('parts') WHERE hint IS NOT NULL \gexec
SELECT item, status, detail, hint FROM reground.check_corpus('parts');
CREATE FUNCTION found(query text, embedding vector, settings jsonb DEFAULT NULL) RETURNS TABLE (chunk_id text, title text, lexical_rank integer, lexical_score numeric, vector_rank integer) LANGUAGE sql AS $$
    SELECT s.chunk_id, s.title, s.lexical_rank, round(s.lexical_score::numeric, 9), s.vector_rank FROM reground.search('parts', $1, $2, settings => $3) AS s $$;
SELECT * FROM found('sleeping otters', '[1,0]');
SELECT count(*) AS different FROM ((SELECT * FROM found('sleeping otters at night', '[1,0]') EXCEPT SELECT * FROM found('sleeping otters at night', '[1,0]', '{"lexical_search": "exact", "vector_search": "exact"}'))
    UNION ALL (SELECT * FROM found('sleeping otters at night', '[1,0]', '{"lexical_search": "exact", "vector_search": "exact"}') EXCEPT SELECT * FROM found('sleeping otters at night', '[1,0]'))) AS d;
-- A partition that comes later, and one that is taken away.
CREATE TABLE parts_fr PARTITION OF parts FOR VALUES IN ('fr');
INSERT INTO parts VALUES ('o/3', 'otters', 'fr', 'Les loutres dorment sur le dos.', '[0.9,0.1]');
SELECT chunk_id FROM found('loutres', '[0,-1]', '{"vector_weight": 0}') WHERE lexical_rank = 1;
SELECT marker, title FROM reground.begin_turn('library-1', 'comment dorment les loutres?', 'parts', '[0.9,0.1]', settings => '{"max_sources": 1}');
SELECT marker, status, holds FROM reground.end_turn(regress.turn('library-1'), 'Les loutres dorment sur le dos [A1].');
ALTER TABLE parts DETACH PARTITION parts_fr;
SELECT marker, title, origin FROM reground.begin_turn('library-1', 'and how do otters sleep?', 'parts', '[1,0]', settings => '{"max_sources": 5}');
SELECT doc_id, chunk_id, left_at, reason FROM reground.explain_turn(regress.turn('library-1')) WHERE chunk_id = 'o/3';
-- Policies of the table decide, through the index or without.
CREATE ROLE regress_library IN ROLE reground_user;
GRANT USAGE ON SCHEMA library, regress TO regress_library;
GRANT SELECT ON parts, books TO regress_library;
ALTER TABLE parts ENABLE ROW LEVEL SECURITY;
CREATE POLICY english ON parts USING (lang = 'en');
SET ROLE regress_library;
SELECT chunk_id, lexical_rank FROM found('Otter schlafen', '[1,0]');
SELECT chunk_id FROM reground.begin_turn('library-2', 'Otter schlafen', 'parts', '[1,0]');
RESET ROLE;
-- A view over it, which has no indexes to ask for.
CREATE VIEW shelf AS SELECT p.part_key, p.book, p.words, p.emb, b.name FROM parts AS p JOIN books AS b ON b.slug = p.book;
SELECT reground.add_corpus('shelf', relation => 'shelf', key => 'part_key', document => 'book', content => 'words', embedding => 'emb', title => 'name');
SELECT item, status, detail FROM reground.check_corpus('shelf') WHERE item = 'key';
SELECT chunk_id, title FROM reground.search('shelf', 'sleeping otters', '[1,0]', max_results => 1);
-- A column that is called otherwise later: what is missing is named, with the command that mends it.
ALTER TABLE parts RENAME COLUMN words TO body;
SELECT f, r.* FROM unnest(ARRAY[$$SELECT * FROM reground.search('parts', 'otters')$$]) AS f, regress.refusal(f) AS r;
SELECT item, status, detail, hint FROM reground.check_corpus('parts') WHERE status <> 'ok';
SELECT replace(hint, '…', 'body') FROM reground.check_corpus('parts') WHERE hint IS NOT NULL \gexec
SELECT item, status FROM reground.check_corpus('parts') WHERE status <> 'ok';
SELECT chunk_id FROM reground.search('parts', 'sleeping otters', '[1,0]', max_results => 1);
SELECT reground.drop_corpus('parts'), reground.drop_corpus('shelf');
SET client_min_messages = warning;
DROP OWNED BY regress_library;
DROP ROLE regress_library;
DROP SCHEMA library CASCADE;
