-- A filter applies to both searches: other candidates are never ranked.
CREATE SCHEMA filters;
SET search_path = filters, public;
CREATE TABLE books (isbn text PRIMARY KEY, title text, lang text, year integer);
CREATE TABLE pages (n integer PRIMARY KEY, book text REFERENCES books, body text, emb vector(2), kind text, price numeric, printed date, draft boolean,
    note jsonb, "odd ""name""" text, code varchar(8), seen timestamptz);
INSERT INTO books VALUES ('b1', 'First', 'en', 2019), ('b2', 'Second', 'de', 2021), ('b3', NULL, NULL, NULL);
INSERT INTO pages VALUES
    (1, 'b1', 'water one', '[1,0]', 'text', 9.50, '2020-01-01', false, '{"k": "v", "deep": {"a": [1, 2]}}', 'x', 'A-1', '2026-01-01 00:00+00'),
    (2, 'b1', 'water two', '[0.9,0.1]', 'table', 10, '2020-06-01', true, '{"k": "w"}', 'y', 'B-2', '2026-02-01 00:00+00'),
    (3, 'b2', 'water three', '[0.8,0.2]', 'text', 10.00, '2021-01-01', NULL, '[]', NULL, NULL, NULL),
    (4, 'b3', 'water four', '[0.7,0.3]', NULL, NULL, NULL, false, NULL, 'it''s', 'C-3', '2026-03-01 00:00+00');
SELECT reground.add_corpus('pages', relation => 'pages', chunk_id => 'n', doc_id => 'book', content => 'body', embedding => 'emb',
    documents => 'books', documents_doc_id => 'isbn', title => 'title');
CREATE FUNCTION passing(filter jsonb) RETURNS TABLE (hybrid text, lexical text, vector text) LANGUAGE sql AS $$
    SELECT (SELECT string_agg(chunk_id, ' ' ORDER BY chunk_id) FROM reground.search('pages', 'water', '[1,0]', filter => $1)),
           (SELECT string_agg(chunk_id, ' ' ORDER BY chunk_id) FROM reground.search('pages', 'water', filter => $1)),
           (SELECT string_agg(chunk_id, ' ' ORDER BY chunk_id) FROM reground.search('pages', NULL, '[1,0]', filter => $1))
$$;
SET client_min_messages = error;

SELECT f AS filter, passing.* FROM unnest(ARRAY[
    NULL, '{}',
    -- equality, lists, null
    '{"kind": "text"}', '{"kind": ["text", "table"]}', '{"kind": null}', '{"kind": []}', '{"draft": true}', '{"n": 2}', '{"price": 10}', '{"price": "10.0"}',
    -- comparisons
    '{"n": {">": 2}}', '{"n": {">=": 2, "<": 4}}', '{"n": {"<=": 1}}', '{"kind": {"<>": "text"}}', '{"kind": {"=": "table"}}',
    '{"printed": {">=": "2020-06-01"}}', '{"seen": {"<": "2026-02-01 00:00+00"}}', '{"code": {">=": "B"}}', '{"code": "A-1"}',
    -- several conditions
    '{"kind": "text", "price": {">": 9.6}}',
    -- columns of the documents
    '{"lang": "de"}', '{"year": {">=": 2019}, "kind": "text"}', '{"lang": null}', '{"isbn": ["b1", "b3"]}',
    -- inside jsonb
    '{"note": {"k": "v"}}', '{"note": {"deep": {"a": [2]}}}', '{"note": []}', '{"note": {}}', '{"note": null}',
    -- names and values that need quotes
    '{"odd \"name\"": "y"}', '{"odd \"name\"": "it''s"}']) WITH ORDINALITY AS u(f, i), passing(f::jsonb) ORDER BY i;

-- Arrays, not and or, compared with plain SQL.
ALTER TABLE pages ADD COLUMN tags text[], ADD COLUMN sizes integer[];
UPDATE pages SET tags = v.tags, sizes = v.sizes FROM (VALUES (1, ARRAY['a', 'b'], ARRAY[1, 2]), (2, ARRAY['b', 'c'], ARRAY[2]), (3, '{}', ARRAY[3, NULL])) AS v(n, tags, sizes)
WHERE v.n = pages.n;
CREATE TEMP TABLE expected (i integer GENERATED ALWAYS AS IDENTITY, filter jsonb, condition text);
INSERT INTO expected (filter, condition) VALUES
    ('{"tags": "b"}', $$tags @> '{b}'$$), ('{"tags": ["a", "c"]}', $$tags && '{a,c}'$$), ('{"tags": {"any": ["a", "c"]}}', $$tags && '{a,c}'$$),
    ('{"tags": {"all": ["a", "b"]}}', $$tags @> '{a,b}'$$), ('{"tags": []}', 'false'), ('{"tags": {"all": []}}', 'tags IS NOT NULL'),
    ('{"sizes": [2, 9]}', $$sizes && '{2,9}'$$), ('{"sizes": {"all": [3]}}', $$sizes @> '{3}'$$), ('{"tags": null}', 'tags IS NULL'),
    ('{"kind": {"any": ["text", "x"]}}', $$kind IN ('text', 'x')$$),
    ('{"kind": {"not": "text"}}', $$kind IS DISTINCT FROM 'text'$$), ('{"tags": {"not": {"any": ["a"]}}}', $$(tags && '{a}') IS NOT TRUE$$),
    ('{"n": {">": 1, "not": 3}}', 'n > 1 AND n <> 3'), ('{"kind": {"not": null}}', 'kind IS NOT NULL'),
    ('{"lang": {"not": ["en"]}}', $$n IN (3, 4)$$),
    ('{"$or": [{"kind": "table"}, {"tags": "a"}]}', $$kind = 'table' OR tags @> '{a}'$$), ('{"$or": [{"n": 1}, {}]}', 'true'),
    ('{"$not": {"kind": "text"}}', $$(kind = 'text') IS NOT TRUE$$), ('{"$not": {}}', 'false'),
    ('{"$not": {"$or": [{"n": 1}, {"note": {"k": "w"}}]}, "n": {"<": 4}}', $$n = 3$$),
    ('{"note": {"k": {"any": ["w", "x"]}}}', $$note ->> 'k' IN ('w', 'x')$$), ('{"note": {"k": {"not": "v"}}}', $$(note @> '{"k": "v"}') IS NOT TRUE$$),
    ('{"note": {"deep": {"a": {"any": [2, 9]}}}}', 'n = 1'), ('{"note": {"deep": {"a": {"all": [1, 2]}}}}', 'n = 1'), ('{"note": {"deep": {"a": {"all": [1, 3]}}}}', 'false'),
    ('{"note": {"k": {">": "v", "<=": "w"}}}', 'n = 2'), ('{"note": {"k": {">=": 2}}}', 'false'), ('{"note": {"not": null}}', 'note IS NOT NULL'),
    ('{"note": {"any": [{"k": "w"}, []]}}', $$note @> '{"k": "w"}' OR note @> '[]'$$), ('{"note": {"any": "v"}}', 'false'),
    ('{"$or": [{"$not": {"price": {">": 9.6}}}, {"n": 2, "$or": [{"code": "B-2"}, {"lang": "de"}]}]}', $$(price > 9.6) IS NOT TRUE OR n = 2$$);
CREATE FUNCTION plain(condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    found text;
BEGIN
    EXECUTE format('SELECT string_agg(n::text, %L ORDER BY n) FROM filters.pages WHERE %s', ' ', condition) INTO found;
    RETURN found;
END $$;
SELECT e.filter, p.lexical AS found, p.lexical IS NOT DISTINCT FROM plain(e.condition) AND p.hybrid IS NOT DISTINCT FROM p.lexical
    AND p.vector IS NOT DISTINCT FROM p.lexical AS as_plain_sql
FROM expected AS e, passing(e.filter) AS p ORDER BY e.i;

-- With HNSW, the filter does not reduce the number of results.
CREATE INDEX ON pages USING hnsw (emb vector_cosine_ops);
SELECT chunk_id FROM reground.search('pages', NULL, '[1,0]', filter => '{"n": 4}', settings => '{"vector_search": "index"}');

-- A turn stores its filter and carries no source that the filter excludes.
SELECT chunk_id FROM reground.begin_turn('filters-1', 'water', 'pages', '[1,0]', filter => '{"lang": "en"}');
SELECT chunk_id, holds FROM reground.end_turn(regress.turn('filters-1'), 'Water one [A1].');
SELECT chunk_id, origin FROM reground.begin_turn('filters-1', 'and more of it?', 'pages', '[1,0]', filter => '{"$or": [{"lang": "de"}, {"tags": {"all": ["z"]}}]}');
SELECT turn_no, filter FROM reground.turns JOIN reground.conversations USING (conversation_id) WHERE conversation_ref = 'filters-1' ORDER BY turn_no;

-- Filters that are refused.
SELECT f AS filter, r.* FROM unnest(ARRAY[
    '{"nope": 1}', '{"ctid": "(0,1)"}', '{"n; DROP TABLE filters.pages": 1}', '[]', '"n"', '{"n": {"~": "x"}}', '{"n": {}}', '{"n": {"=": {"a": 1}}}', '{"n": {"=": null}}',
    '{"n": [[1]]}', '{"n": [null]}', '{"kind": {"all": ["text"]}}', '{"tags": {"all": "a"}}', '{"tags": [["a"]]}', '{"$or": []}', '{"$or": {"n": 1}}', '{"$not": [1]}', '{"$and": []}', '{"sizes": ["two"]}', '{"emb": {"<": "[1,0]"}, "kind": {"k": "v"}}']) WITH ORDINALITY AS u(f, i),
    regress.refusal(format('SELECT * FROM reground.search(%L, %L, filter => %L)', 'pages', 'water', f)) AS r ORDER BY i;
SELECT * FROM regress.refusal($$SELECT * FROM reground.search('pages', 'water', filter => '{"n": "two"}')$$);
SELECT count(*) FROM pages;
SELECT reground.drop_corpus('pages');
