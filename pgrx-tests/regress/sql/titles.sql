-- Titles and headings are searched in both branches.
CREATE SCHEMA titles;
SET search_path = titles, public;

-- A managed corpus. The title and the Markdown headings above a passage count as title_weight says.
SELECT reground.create_corpus('pumps', schema => 'titles', dimensions => 2, chunk_size => 60, chunk_overlap => 0, chunk_unit => 'characters');
SELECT chunk_count, pending_embeddings FROM reground.put_document('pumps', 'manual', title => 'Heat pumps', content =>
    E'# Heat pumps\nThey move warmth from a place to another.\n\n## Maintenance\nChange the oil every year.\n\n```\n# no heading\n```\n\n# Disposal\nBring it back.');
SELECT chunk_count FROM reground.put_document('pumps', 'plain', title => 'Notes', media_type => 'text/plain', content => E'# a comment\nx = 1');
SELECT chunk_count FROM reground.put_document('pumps', 'given', title => 'Given', passages => '[{"content": "One part.", "heading": "Part\n1"}, {"content": "Another part."}]');
SELECT doc_id, ordinal, heading, left(content, 20) AS content FROM pumps ORDER BY doc_id, ordinal;
SELECT content FROM reground.pending_embeddings('pumps') WHERE doc_id = 'manual' ORDER BY chunk_id::int;
SELECT chunk_id::int, lexical_rank FROM reground.search('pumps', 'maintenance') ORDER BY 2;
SELECT detail, hint FROM reground.check_corpus('pumps') WHERE item IN ('lexical index', 'title', 'heading');

-- The index and the exact search score alike; so does plain SQL: weighted frequencies and lengths, one saturation.
CREATE TABLE made AS SELECT n, (ARRAY['oak', 'boat', 'rope', 'keel and mast', NULL])[1 + n % 5] AS title,
    (SELECT string_agg((ARRAY['saw', 'boat', 'oak', 'glue', 'sail', 'mast', 'rope', 'keel'])[1 + (hashint4(n * 100 + w) & 2147483647) % 8], ' ') FROM generate_series(1, 1 + n % 25) AS w) AS body
    FROM generate_series(1, 300) AS n;
SELECT reground.create_corpus('boats', schema => 'titles', title_weight => 3);
SELECT sum(p.added) FROM made, reground.put_document('boats', n::text, content => body, title => title) AS p;
CREATE FUNCTION expected(query text, weight integer) RETURNS TABLE (doc_id text, score numeric) LANGUAGE sql AS $$
    WITH words AS (SELECT n, lexeme, sum(f.weight * cardinality(positions))::float8 AS tf FROM titles.made, LATERAL (VALUES (title, weight), (body, 1)) AS f (content, weight),
            unnest(to_tsvector('english', f.content)) WHERE f.weight > 0 GROUP BY 1, 2),
        lengths AS (SELECT m.n, coalesce(sum(tf), 0) AS length FROM titles.made AS m LEFT JOIN words AS w USING (n) GROUP BY 1)
    SELECT w.n::text, round(sum(ln(1 + (c.n - f.df + 0.5) / (f.df + 0.5)) * w.tf / (w.tf + 1.2 * (0.25 + 0.75 * l.length / c.mean)))::numeric, 9)
    FROM unnest(to_tsvector('english', query)) AS q JOIN words AS w USING (lexeme) JOIN lengths AS l USING (n),
        (SELECT count(*)::float8, avg(length) FROM lengths) AS c (n, mean), LATERAL (SELECT count(*) FROM words AS o WHERE o.lexeme = q.lexeme) AS f (df)
    GROUP BY w.n
$$;
CREATE FUNCTION wrong(corpus text, weight integer) RETURNS TABLE (way text, differ bigint, many boolean) LANGUAGE sql AS $$
    SELECT w, count(*) FILTER (WHERE e.score IS DISTINCT FROM s.score), count(s.score) > 300
    FROM unnest(ARRAY['auto', 'exact']) AS w, unnest(ARRAY['oak', 'boats and keels', 'glue']) AS q,
        LATERAL (SELECT * FROM titles.expected(q, weight)) AS e
        FULL JOIN LATERAL (SELECT doc_id, round(lexical_score::numeric, 9) AS score FROM reground.search(corpus, q, max_results => 1000, settings => jsonb_build_object('lexical_search', w))) AS s USING (doc_id)
    GROUP BY w ORDER BY w
$$;
CREATE FUNCTION scans(index text) RETURNS bigint LANGUAGE sql AS $$ SELECT pg_stat_get_xact_numscans(to_regclass(index)) $$;
SELECT * FROM wrong('boats', 3);
SELECT reground.alter_corpus('boats', title_weight => 1);
SELECT * FROM wrong('boats', 1);
SELECT reground.alter_corpus('boats', title_weight => 0);
SELECT * FROM wrong('boats', 0);
SELECT detail FROM reground.check_corpus('boats') WHERE item = 'lexical index';
SELECT reground.alter_corpus('boats', title_weight => 2);
SELECT * FROM wrong('boats', 2);
SELECT * FROM regress.refusal($$SELECT reground.alter_corpus('boats', title_weight => 101)$$);
SELECT * FROM regress.refusal($$SELECT reground.create_corpus('bad', title_weight => -1)$$);
SELECT * FROM regress.refusal($$SELECT reground.create_corpus('bad', title_weight => NULL)$$);

-- A changed title or heading makes the vector stale; a changed text next to it does not.
SELECT reground.put_embeddings('pumps', array_agg(chunk_id), array_agg('[1, 0]'::vector)) FROM reground.pending_embeddings('pumps');
SELECT changed, reused, pending_embeddings FROM reground.put_document('pumps', 'given', title => 'Given', passages => '[{"content": "One part.", "heading": "Part\n1"}, {"content": "Another part."}]');
SELECT changed, reused, pending_embeddings FROM reground.put_document('pumps', 'given', title => 'Taken', passages => '[{"content": "One part.", "heading": "Part\n1"}, {"content": "Another part."}]');
SELECT content FROM reground.pending_embeddings('pumps') ORDER BY chunk_id::int;
SELECT reground.put_embeddings('pumps', array_agg(chunk_id), array_agg('[1, 0]'::vector)) FROM reground.pending_embeddings('pumps');
SELECT changed, reused, pending_embeddings FROM reground.put_document('pumps', 'given', title => 'Taken', passages => '[{"content": "One part.", "heading": "Part 2"}, {"content": "Another part."}]');
SELECT heading, embedding FROM pumps WHERE doc_id = 'given' ORDER BY ordinal;
-- Without titles, the vectors are of the texts alone.
SELECT reground.alter_corpus('pumps', title_weight => 0);
SELECT content FROM reground.pending_embeddings('pumps');
SELECT changed, pending_embeddings FROM reground.put_document('pumps', 'given', title => 'Other', passages => '[{"content": "One part.", "heading": "Part 2"}, {"content": "Another part."}]');
SELECT count(*) FROM reground.search('pumps', 'maintenance');
SELECT reground.alter_corpus('pumps', title_weight => 2);
SELECT doc_id FROM reground.search('pumps', 'other');

-- Documents in several languages.
SELECT reground.create_corpus('proverbs', schema => 'titles', text_config_per_document => true);
SELECT sum(p.added) FROM (VALUES ('a', 'de', 'Wärmepumpen', 'Sie laufen leise.'), ('b', 'en', 'Heat pumps', 'They run.')) AS d (id, lang, title, body),
    reground.put_document('proverbs', id, content => body, title => title, language => lang) AS p;
SELECT q, w, s.doc_id, round(s.lexical_score::numeric, 9) AS score FROM unnest(ARRAY['Wärmepumpe', 'pump']) AS q, unnest(ARRAY['auto', 'exact']) AS w,
    reground.search('proverbs', q, settings => jsonb_build_object('lexical_search', w)) AS s ORDER BY 1, 2;
SELECT detail FROM reground.check_corpus('proverbs') WHERE item = 'lexical index';
SELECT reground.alter_corpus('proverbs', title_weight => 0);
SELECT count(*) FROM reground.search('proverbs', 'Wärmepumpe');

-- A registered corpus with titles and headings in the table. An index without them is used, but check_corpus says what is missing.
CREATE TABLE articles (id integer PRIMARY KEY, name varchar(40), section text, body text, lang text, emb vector(2));
INSERT INTO articles SELECT n, title, CASE WHEN n % 7 = 0 THEN 'Saws' END, body, 'en' FROM made;
SELECT reground.add_corpus('articles', 'articles', 'id', 'body', title => 'name', heading => 'section', embedding => 'emb');
SELECT count(*) > 100 AS by_title FROM reground.search('articles', 'mast', max_results => 1000);
CREATE INDEX articles_body ON articles USING reground_bm25 (body);
SELECT status, detail, hint FROM reground.check_corpus('articles') WHERE item = 'lexical index';
BEGIN;
SELECT count(*) > 0 AS found, count(*) FILTER (WHERE a.body !~ 'mast') AS by_title FROM reground.search('articles', 'mast', max_results => 1000) AS s JOIN articles AS a ON a.id = s.chunk_id::int;
SELECT scans('articles_body') > 0 AS used;
COMMIT;
SELECT hint AS command FROM reground.check_corpus('articles') WHERE item = 'lexical index' \gset
:command
BEGIN;
-- Earlier scans are counted until the session reports them, once a second.
SELECT scans('articles_body') AS earlier \gset
SELECT count(*) FILTER (WHERE a.body !~ 'mast') > 0 AS by_title FROM reground.search('articles', 'mast', max_results => 1000) AS s JOIN articles AS a ON a.id = s.chunk_id::int;
SELECT scans('articles_array_idx') > 0 AS used, scans('articles_body') - :earlier AS other;
COMMIT;
SELECT status, detail, hint FROM reground.check_corpus('articles') WHERE item = 'lexical index';
SELECT count(*) FILTER (WHERE round(e.lexical_score::numeric, 9) IS DISTINCT FROM round(i.lexical_score::numeric, 9)) AS differ, count(*) > 100 AS many
FROM reground.search('articles', 'saw oak', max_results => 1000, settings => '{"lexical_search": "exact", "candidates": 1000}') AS e
    FULL JOIN reground.search('articles', 'saw oak', max_results => 1000, settings => '{"candidates": 1000}') AS i USING (chunk_id);
SELECT content FROM reground.pending_embeddings('articles', 7) WHERE chunk_id IN ('4', '5', '7');
-- Another weight: the index is used as it is.
SELECT reground.alter_corpus('articles', title_weight => 5);
SELECT status, detail, hint FROM reground.check_corpus('articles') WHERE item = 'lexical index';
SELECT hint AS command FROM reground.check_corpus('articles') WHERE item = 'lexical index' \gset
:command
SELECT status FROM reground.check_corpus('articles') WHERE item = 'lexical index';
-- A row with a title and without a text counts, but is not found.
INSERT INTO articles VALUES (1000, 'sandpiper', NULL, NULL), (1001, 'sandpiper', NULL, 'A bird.'), (1002, repeat('x', 40), repeat('sandpiper ', 100000), 'Long.');
SELECT w, string_agg(s.chunk_id, ' ' ORDER BY s.lexical_rank) FROM unnest(ARRAY['auto', 'exact']) AS w, reground.search('articles', 'sandpiper', settings => jsonb_build_object('lexical_search', w)) AS s GROUP BY w;
SELECT length(content) FROM reground.pending_embeddings('articles', 1000) WHERE chunk_id IN ('1000', '1001', '1002') ORDER BY chunk_id;
-- With the language of each row.
SELECT reground.alter_corpus('articles', mapping => '{"text_config_column": "lang"}');
SELECT status, hint FROM reground.check_corpus('articles') WHERE item = 'lexical index';
SELECT hint AS command FROM reground.check_corpus('articles') WHERE item = 'lexical index' \gset
:command
SELECT status FROM reground.check_corpus('articles') WHERE item = 'lexical index';
SELECT w, string_agg(s.chunk_id, ' ' ORDER BY s.lexical_rank) FROM unnest(ARRAY['auto', 'exact']) AS w, reground.search('articles', 'sandpipers', settings => jsonb_build_object('lexical_search', w)) AS s GROUP BY w;

-- Titles in the relation of the documents are embedded; an index on the passages cannot read them.
CREATE TABLE books (book integer PRIMARY KEY, name text);
CREATE TABLE pages (id integer PRIMARY KEY, book integer, body text, emb vector(2), kind jsonb);
INSERT INTO books VALUES (1, 'Sea birds'), (2, NULL);
INSERT INTO pages VALUES (1, 1, 'They fly.'), (2, 2, 'They swim.'), (3, NULL, 'They walk.'), (4, 1, NULL);
SELECT reground.add_corpus('books', 'pages', 'id', 'body', doc_id => 'book', documents => 'books', documents_doc_id => 'book', title => 'name', embedding => 'emb');
SELECT item, status, detail, hint FROM reground.check_corpus('books') WHERE item IN ('lexical index', 'title', 'heading');
SELECT chunk_id, content FROM reground.pending_embeddings('books');
SELECT count(*) FROM reground.search('books', 'bird');
SELECT reground.alter_corpus('books', mapping => '{"heading": "kind"}');
SELECT item, status, detail, hint FROM reground.check_corpus('books') WHERE item = 'heading';
SELECT chunk_id, content FROM reground.pending_embeddings('books', 1);
CREATE INDEX ON pages USING reground_bm25 (body);
SELECT item, status FROM reground.check_corpus('books') WHERE item IN ('lexical index', 'title');

-- in_language of several texts: the text form, and the weights.
SELECT reground.in_language(ARRAY['Schuhe', NULL, 'rot'], 'german'), reground.in_language(ARRAY['x']::text[], 'simple'::regconfig), reground.in_language(ARRAY[]::text[], NULL::text), reground.in_language(NULL::text[], 'german');
SELECT t::reground.bm25text::text = t AS kept FROM unnest(ARRAY['"german"["a","b"]: c', 'null["]: "]: d', '"x": ["a"]: b', 'null: e']) AS t;
SELECT t, r.message FROM unnest(ARRAY['"german"["a": b', '"german"[1]: b', '"german"["a"]b']) AS t, regress.refusal(format('SELECT %L::reground.bm25text', t)) AS r;
RESET search_path;
