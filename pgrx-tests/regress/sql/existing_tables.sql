-- Tables of an application: partitioned passages with text keys, titles in another table, row-level security, and a view.
CREATE SCHEMA library;
SET search_path = library, public;
CREATE TABLE books (slug text PRIMARY KEY, name text);
INSERT INTO books VALUES ('otters', 'On Otters'), ('owls', 'On Owls');
CREATE TABLE parts (part_key text NOT NULL, book text NOT NULL REFERENCES books, lang text NOT NULL, words text NOT NULL, emb vector(2)) PARTITION BY LIST (lang);
CREATE TABLE parts_en PARTITION OF parts FOR VALUES IN ('en');
CREATE TABLE parts_de PARTITION OF parts FOR VALUES IN ('de');
INSERT INTO parts VALUES ('o/1', 'otters', 'en', 'Otters sleep on their backs.', '[1,0]'), ('o/2', 'otters', 'de', 'Otter schlafen auf dem Rücken.', '[1,0.1]'), ('w/1', 'owls', 'en', 'Owls hunt at night.', '[0,1]');
SELECT reground.add_corpus('parts', relation => 'parts', chunk_id => 'part_key', doc_id => 'book', content => 'words', embedding => 'emb', documents => 'books', documents_doc_id => 'slug', title => 'name');
SELECT item, status, detail, hint FROM reground.check_corpus('parts');
-- After all printed commands have been run, no finding is left.
SELECT hint FROM reground.check_corpus('parts') WHERE hint IS NOT NULL \gexec
SELECT item, status, detail, hint FROM reground.check_corpus('parts');
CREATE FUNCTION found(query text, embedding vector, settings jsonb DEFAULT NULL) RETURNS TABLE (chunk_id text, title text, lexical_rank integer, lexical_score numeric, vector_rank integer) LANGUAGE sql AS $$
    SELECT s.chunk_id, s.title, s.lexical_rank, round(s.lexical_score::numeric, 9), s.vector_rank FROM reground.search('parts', $1, $2, settings => $3) AS s $$;
SELECT * FROM found('sleeping otters', '[1,0]');
SELECT count(*) AS different FROM ((SELECT * FROM found('sleeping otters at night', '[1,0]') EXCEPT SELECT * FROM found('sleeping otters at night', '[1,0]', '{"lexical_search": "exact", "vector_search": "exact"}'))
    UNION ALL (SELECT * FROM found('sleeping otters at night', '[1,0]', '{"lexical_search": "exact", "vector_search": "exact"}') EXCEPT SELECT * FROM found('sleeping otters at night', '[1,0]'))) AS d;
-- A partition is added, then another is detached.
CREATE TABLE parts_fr PARTITION OF parts FOR VALUES IN ('fr');
INSERT INTO parts VALUES ('o/3', 'otters', 'fr', 'Les loutres dorment sur le dos.', '[0.9,0.1]');
SELECT chunk_id FROM found('loutres', '[0,-1]', '{"vector_share": 0}') WHERE lexical_rank = 1;
SELECT marker, title FROM reground.begin_turn('library-1', 'comment dorment les loutres?', 'parts', '[0.9,0.1]', settings => '{"max_sources": 1}');
SELECT marker, status, holds FROM reground.end_turn(regress.turn('library-1'), 'Les loutres dorment sur le dos [A1].');
ALTER TABLE parts DETACH PARTITION parts_fr;
SELECT marker, title, origin FROM reground.begin_turn('library-1', 'and how do otters sleep?', 'parts', '[1,0]', settings => '{"max_sources": 5}');
SELECT doc_id, chunk_id, dropped_stage, drop_reason FROM reground.explain_turn(regress.turn('library-1')) WHERE chunk_id = 'o/3';
-- Policies of the table apply with and without the index.
CREATE ROLE regress_library IN ROLE reground_user;
GRANT USAGE ON SCHEMA library, regress TO regress_library;
GRANT SELECT ON parts, books TO regress_library;
ALTER TABLE parts ENABLE ROW LEVEL SECURITY;
CREATE POLICY english ON parts USING (lang = 'en');
SET ROLE regress_library;
SELECT chunk_id, lexical_rank FROM found('Otter schlafen', '[1,0]');
SELECT chunk_id FROM reground.begin_turn('library-2', 'Otter schlafen', 'parts', '[1,0]');
RESET ROLE;
-- A view over the tables; no index is requested for it.
CREATE VIEW shelf AS SELECT p.part_key, p.book, p.words, p.emb, b.name FROM parts AS p JOIN books AS b ON b.slug = p.book;
SELECT reground.add_corpus('shelf', relation => 'shelf', chunk_id => 'part_key', doc_id => 'book', content => 'words', embedding => 'emb', title => 'name');
SELECT item, status, detail FROM reground.check_corpus('shelf') WHERE item = 'chunk_id';
SELECT chunk_id, title FROM reground.search('shelf', 'sleeping otters', '[1,0]', max_results => 1);
-- A column is renamed: check_corpus names it and prints the command that repairs the corpus.
ALTER TABLE parts RENAME COLUMN words TO body;
SELECT f, r.* FROM unnest(ARRAY[$$SELECT * FROM reground.search('parts', 'otters')$$]) AS f, regress.refusal(f) AS r;
SELECT item, status, detail, hint FROM reground.check_corpus('parts') WHERE status <> 'ok';
SELECT replace(hint, '…', 'body') FROM reground.check_corpus('parts') WHERE hint IS NOT NULL \gexec
SELECT item, status FROM reground.check_corpus('parts') WHERE status <> 'ok';
SELECT chunk_id FROM reground.search('parts', 'sleeping otters', '[1,0]', max_results => 1);
SELECT reground.drop_corpus('parts'), reground.drop_corpus('shelf');
-- Unusual rows: a passage without a document is its own document, a row without a key is ignored, and a document has one name, whatever
-- the titles of its passages are.
SET client_min_messages = warning;
CREATE TABLE leaves (id integer UNIQUE, doc text, title text, body text, emb vector(2));
INSERT INTO leaves VALUES (1, 'd1', 'One', 'milk from cows', '[1,0]'), (2, NULL, 'Loose leaf', 'Pumps run at 40 bar.', '[0,1]'), (NULL, 'd1', 'None', 'milk without a key', '[1,0.1]');
INSERT INTO leaves SELECT n, 'handbook', 'Heading ' || n, 'Section ' || n || ' is about valves.', '[-1,0]' FROM generate_series(10, 400) AS n;
SELECT reground.add_corpus('leaves', relation => 'leaves', chunk_id => 'id', content => 'body', doc_id => 'doc', title => 'title', embedding => 'emb');
SELECT chunk_id, doc_id FROM reground.search('leaves', 'milk', '[1,0]', max_results => 2);
SELECT chunk_id FROM reground.begin_turn('leaves-1', 'milk cows', 'leaves', '[1,0]', settings => '{"max_sources": 1, "lexical_search": "exact"}');
SELECT raw, status, doc_id FROM reground.end_turn(regress.turn('leaves-1'), 'Pumps run at 40 bar [Source: Loose leaf]. Section 12 is about valves [Source: handbook]. So says [Source: Heading 12].');
SELECT title, count(*) FROM reground.message_citations AS c JOIN reground.turns AS t USING (turn_id) WHERE t.turn_id = regress.turn('leaves-1') GROUP BY 1 ORDER BY 1;
SELECT reground.drop_corpus('leaves');
-- Keys have the same text in every session.
CREATE TABLE log (at timestamptz PRIMARY KEY, day date, body text);
INSERT INTO log VALUES ('2025-03-01 10:00+00', '2025-03-04', 'The pump failed.');
SELECT reground.add_corpus('log', relation => 'log', chunk_id => 'at', doc_id => 'day', content => 'body');
SET TimeZone = 'Europe/Berlin'; SET DateStyle = 'German, DMY';
SELECT chunk_id, doc_id FROM reground.search('log', 'pump');
SELECT marker FROM reground.begin_turn('log-1', 'pump', 'log');
SELECT count(*) FROM reground.end_turn(regress.turn('log-1'), 'The pump failed [A1].');
SET TimeZone = 'Asia/Tokyo'; SET DateStyle = 'SQL, MDY';
SELECT chunk_id, doc_id, origin FROM reground.begin_turn('log-1', 'and why?', settings => '{"strategy": "first_turn"}');
RESET TimeZone; RESET DateStyle;
SELECT reground.drop_corpus('log');
-- Sources of a corpus with another metric are weighted by their words alone.
SELECT reground.create_corpus('by_product', dimensions => 2, metric => 'inner_product');
SELECT reground.create_corpus('by_angle', dimensions => 2);
SELECT count(*) FROM reground.put_document('by_product', 'p', content => 'Trains are late.') AS p, reground.put_document('by_angle', 'a', content => 'Cows give milk.') AS a;
SELECT reground.put_embeddings('by_product', '{1}', '{"[0.1,0.995]"}'::vector[]), reground.put_embeddings('by_angle', '{1}', '{"[0.8,0.6]"}'::vector[]);
SELECT marker FROM reground.begin_turn('metrics-1', 'trains', 'by_product', '[0,1]');
SELECT count(*) FROM reground.end_turn(regress.turn('metrics-1'), 'Trains are late [A1].');
SELECT marker, doc_id, origin, round(score::numeric, 2) AS score FROM reground.begin_turn('metrics-1', 'What do cows on this farm give in the morning?', 'by_angle', '[1,0]', intent => 'drill_down');
SELECT reground.drop_corpus('by_product', true), reground.drop_corpus('by_angle', true);
-- Operators of the search_path of the caller are not called.
CREATE FUNCTION evil(jsonb, jsonb) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE 'called'; END $$;
CREATE OPERATOR #>> (LEFTARG = jsonb, RIGHTARG = jsonb, FUNCTION = evil);
CREATE FUNCTION evil(oid, regclass) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'called'; END $$;
CREATE OPERATOR = (LEFTARG = oid, RIGHTARG = regclass, FUNCTION = evil);
CREATE FUNCTION evil(numeric, integer) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'called'; END $$;
CREATE OPERATOR >= (LEFTARG = numeric, RIGHTARG = integer, FUNCTION = evil);
CREATE OPERATOR <= (LEFTARG = numeric, RIGHTARG = integer, FUNCTION = evil);
CREATE FUNCTION evil_number(float8, integer) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'called'; END $$;
CREATE OPERATOR > (LEFTARG = float8, RIGHTARG = integer, FUNCTION = evil_number);
CREATE FUNCTION evil_number(integer, float8) RETURNS float8 LANGUAGE plpgsql AS $$ BEGIN RAISE 'called'; END $$;
CREATE OPERATOR - (LEFTARG = integer, RIGHTARG = float8, FUNCTION = evil_number);
CREATE TABLE dated (id integer PRIMARY KEY, doc text, page numeric, published date, body text, emb vector(2));
INSERT INTO dated VALUES (1, 'd', 3, '2025-03-01', 'Cows give milk.', '[1,0]'), (2, 'd', 4, '2025-03-01', 'Sheep give wool.', '[0.9,0.1]');
CREATE INDEX ON dated USING reground_bm25 (body) WITH (text_config = 'english');
SELECT reground.add_corpus('dated', relation => 'dated', chunk_id => 'id', doc_id => 'doc', content => 'body', page_start => 'page', published => 'published', embedding => 'emb');
SELECT chunk_id, published, locator FROM reground.search('dated', 'milk', '[1,0]', max_results => 1);
SELECT marker FROM reground.begin_turn('dated-1', 'milk', 'dated', '[1,0]', settings => '{"max_sources": 1}');
SELECT status FROM reground.end_turn(regress.turn('dated-1'), 'Cows give milk [A1].');
SELECT count(*) > 0 AS found FROM reground.begin_turn('dated-1', 'and wool?', embedding => '[0.9,0.1]');
SELECT reground.drop_corpus('dated');
DROP OWNED BY regress_library;
DROP ROLE regress_library;
DROP SCHEMA library CASCADE;
