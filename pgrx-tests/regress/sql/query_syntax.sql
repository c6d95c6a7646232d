-- Queries with phrases, required and excluded words. PostgreSQL's own phrase search is the oracle.
CREATE SCHEMA query_syntax;
SET search_path = query_syntax, public;
CREATE TABLE notes (id integer PRIMARY KEY, body text);
INSERT INTO notes SELECT i, concat_ws(' ', 'w' || i % 5, CASE i % 3 WHEN 0 THEN 'the' END, 'w' || i % 7, CASE i % 4 WHEN 0 THEN 'foo_bar' ELSE 'bar foo' END,
    'w' || i % 11, repeat('w' || i % 5 || ' ', i % 3))
FROM generate_series(1, 600) AS i;
CREATE INDEX notes_body ON notes USING reground_bm25 (body) WITH (text_config = english);
INSERT INTO notes SELECT 600 + i, concat_ws(' ', 'w' || i % 5, 'w' || i % 7, 'of a w' || i % 3) FROM generate_series(1, 60) AS i;
CREATE FUNCTION q(query text) RETURNS reground.bm25query LANGUAGE sql STABLE AS $$SELECT reground.bm25_query(query, 'query_syntax.notes', syntax => true)$$;

-- Rows by each plan, and by the oracle: a condition on to_tsvector(body) as v.
CREATE FUNCTION in_each_plan(query text, oracle text) RETURNS TABLE (rows bigint, same_by_table boolean, same_by_index boolean, same_by_bitmap boolean, same_order boolean)
LANGUAGE plpgsql AS $$
DECLARE
    expected jsonb;
    found jsonb;
    ordered jsonb;
    plan text;
BEGIN
    EXECUTE format('SELECT coalesce(jsonb_agg(id ORDER BY id), ''[]'') FROM (SELECT id, to_tsvector(''english'', body) AS v FROM notes) AS n WHERE %s', oracle) INTO expected;
    rows := jsonb_array_length(expected);
    FOREACH plan IN ARRAY ARRAY['seqscan', 'indexscan', 'bitmapscan'] LOOP
        PERFORM set_config('enable_seqscan', (plan = 'seqscan')::text, true), set_config('enable_indexscan', (plan = 'indexscan')::text, true),
            set_config('enable_bitmapscan', (plan = 'bitmapscan')::text, true);
        EXECUTE 'SELECT coalesce(jsonb_agg(id ORDER BY id), ''[]'') FROM (SELECT id FROM notes WHERE body @@@ q($1) ORDER BY body <@> q($1)) AS n' INTO found USING query;
        same_by_table := CASE plan WHEN 'seqscan' THEN found = expected ELSE same_by_table END;
        same_by_index := CASE plan WHEN 'indexscan' THEN found = expected ELSE same_by_index END;
        same_by_bitmap := CASE plan WHEN 'bitmapscan' THEN found = expected ELSE same_by_bitmap END;
        -- Without a condition, rows that the query does not find have the distance 0, or are not returned.
        EXECUTE 'SELECT jsonb_agg(jsonb_build_array(id, round(distance::numeric, 9)) ORDER BY distance, id) FROM (SELECT id, body <@> q($1) AS distance FROM notes ORDER BY body <@> q($1)) AS n WHERE distance < 0'
            INTO found USING query;
        same_order := coalesce(same_order, true) AND (ordered IS NULL OR ordered IS NOT DISTINCT FROM found) AND coalesce(jsonb_array_length(found), 0) = rows;
        ordered := coalesce(ordered, found);
    END LOOP;
    PERFORM set_config('enable_seqscan', 'on', true), set_config('enable_indexscan', 'on', true), set_config('enable_bitmapscan', 'on', true);
    RETURN NEXT;
END
$$;
CREATE TEMPORARY TABLE queries AS SELECT * FROM (VALUES
    (1, 'w1 w2', $$v @@ 'w1 | w2'$$), (2, 'w1 +w2', $$v @@ 'w2'$$), (3, '+w1 +w2', $$v @@ 'w1 & w2'$$), (4, 'w1 -w2', $$v @@ 'w1 & !w2'$$),
    (5, '"w1 w2"', $$v @@ phraseto_tsquery('english', 'w1 w2')$$), (6, 'w9 "w1 the w2"', $$v @@ phraseto_tsquery('english', 'w1 the w2')$$),
    (7, '"foo_bar"', $$v @@ phraseto_tsquery('english', 'foo_bar')$$), (8, '+foo_bar w3', $$v @@ 'foo <-> bar'$$), (9, 'w3 -foo_bar', $$v @@ 'w3' AND NOT v @@ 'foo <-> bar'$$),
    (10, 'w1 -"w1 w2"', $$v @@ 'w1' AND NOT v @@ 'w1 <-> w2'$$), (11, '"w1 w2" -"foo bar" +w1', $$v @@ 'w1 <-> w2' AND NOT v @@ 'foo <-> bar'$$),
    (12, '+nowhere w1', 'false'), (13, 'w1 -nowhere', $$v @@ 'w1'$$), (14, '+the w1', $$v @@ 'w1'$$), (15, 'w1 -the', $$v @@ 'w1'$$), (16, '"the"', 'false'), (17, '', 'false'),
    (18, '"w2 of a w1"', $$v @@ phraseto_tsquery('english', 'w2 of a w1')$$), (19, 'the +WALKING -w3', 'false'), (20, '+w1 -w1', 'false')) AS q (n, query, oracle);
SELECT q.query, p.* FROM queries AS q, in_each_plan(q.query, q.oracle) AS p ORDER BY q.n;

-- Several conditions, and another order.
SET enable_seqscan = off;
CREATE TEMPORARY TABLE by_index AS SELECT a.n AS a, b.n AS b, (SELECT array_agg(id ORDER BY id) FROM notes WHERE body @@@ q(a.query) AND body @@@ q(b.query)) AS both,
    (SELECT array_agg(id ORDER BY id) FROM (SELECT id FROM notes WHERE body @@@ q(a.query) ORDER BY body <@> q(b.query), id) AS n) AS found,
    (SELECT array_agg(round(d::numeric, 9) ORDER BY d, id) FROM (SELECT id, body <@> q(b.query) AS d FROM notes WHERE body @@@ q(a.query) ORDER BY body <@> q(b.query)) AS n) AS ordered
FROM queries AS a, queries AS b WHERE a.n <> 17 AND b.n <> 17;
SET enable_seqscan = on;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
CREATE TEMPORARY TABLE by_table AS SELECT a.n AS a, b.n AS b, (SELECT array_agg(id ORDER BY id) FROM notes WHERE body @@@ q(a.query) AND body @@@ q(b.query)) AS both,
    (SELECT array_agg(id ORDER BY id) FROM (SELECT id FROM notes WHERE body @@@ q(a.query) ORDER BY body <@> q(b.query), id) AS n) AS found,
    (SELECT array_agg(round(d::numeric, 9) ORDER BY d, id) FROM (SELECT id, body <@> q(b.query) AS d FROM notes WHERE body @@@ q(a.query) ORDER BY body <@> q(b.query)) AS n) AS ordered
FROM queries AS a, queries AS b WHERE a.n <> 17 AND b.n <> 17;
RESET enable_indexscan;
RESET enable_bitmapscan;
SELECT count(*), count(*) FILTER (WHERE i.both IS DISTINCT FROM t.both) AS both, count(*) FILTER (WHERE i.found IS DISTINCT FROM t.found) AS found,
    count(*) FILTER (WHERE i.ordered IS DISTINCT FROM t.ordered) AS ordered FROM by_index AS i JOIN by_table AS t USING (a, b);
-- Required words are in the index; LIMIT takes the best of the rows that have a phrase.
SET enable_seqscan = off;
EXPLAIN (COSTS off) SELECT id FROM notes WHERE body @@@ '+"syntax" query_syntax.notes: +w1 "w2 w3"'::reground.bm25query ORDER BY body <@> '+"syntax" query_syntax.notes: +w1 "w2 w3"'::reground.bm25query LIMIT 3;
SELECT count(*), bool_and(body LIKE '%w1 w2%') FROM (SELECT body FROM notes ORDER BY body <@> q('w4 "w1 w2"') LIMIT 8) AS n;
RESET enable_seqscan;

-- Scores: words of phrases and required words count, excluded ones do not.
SELECT round(reground.bm25_score('w1 w2 x', q('w1 "w2 x"'))::numeric, 9) = round(reground.bm25_score('w1 w2 x', reground.bm25_query('w1 w2 x', 'notes'))::numeric, 9) AS same,
    reground.bm25_score('w1 w2 x', q('w1 "x w2"')) AS without_phrase, reground.bm25_score('w1 w2', q('w1 -w2')) AS with_excluded;
SELECT lexeme, frequency, score > 0 AS scored FROM reground.bm25_explain('w1 w2', q('w1 +w2 -w3'));
SELECT lexeme, frequency, score > 0 AS scored FROM reground.bm25_explain('w1 w3', q('w1 +w2 -w3'));

-- The text form.
SELECT q('+w1 "w2 w3"'), q('w1 -w2')::text::reground.bm25query, reground.bm25_query('+w1 "w2', 'notes'),
    reground.bm25_query('+w1', 'notes', '{"w4": 0.5}', '{german}', syntax => true)::text::reground.bm25query;
SELECT reground._bm25query_send(q('w1 -w2')) = reground._bm25query_send(q('w1 -w2')::text::reground.bm25query) AS same;
SELECT q('w1 -w2')::text = reground.bm25_query('w1 -w2', 'notes', syntax => true)::text AS same, reground.bm25_query('w1', 'notes', syntax => true) IS NULL AS is_null;

-- Each text of several, and rows in several languages.
CREATE TABLE pages (id integer PRIMARY KEY, title text, body text);
INSERT INTO pages VALUES (1, 'red', 'shoes and socks'), (2, 'red shoes', 'and socks'), (3, 'socks', 'with red shoes'), (4, 'shoes', 'red');
CREATE INDEX pages_text ON pages USING reground_bm25 ((ARRAY[title, body])) WITH (weights = '3,1');
SELECT array_agg(id ORDER BY id) FROM pages WHERE ARRAY[title, body] @@@ reground.bm25_query('"red shoes"', 'pages', syntax => true);
CREATE TABLE spoken (id integer PRIMARY KEY, body text, lang text);
INSERT INTO spoken VALUES (1, 'die roten Schuhe', 'de'), (2, 'rote Socken und Schuhe', 'de'), (3, 'the red shoes', 'en'), (4, 'red socks and shoes', 'en'), (5, 'Schuhe', 'de');
CREATE INDEX spoken_body ON spoken USING reground_bm25 (reground.in_language(body, lang)) WITH (text_config = simple);
SET enable_seqscan = off;
SELECT s.query, array_agg(n.id ORDER BY n.id) FROM unnest(ARRAY['"red shoe"', '"rotes Schuh"', '+schuhen -rot', '+shoe', 'shoe -sock']) AS s (query)
    LEFT JOIN spoken AS n ON reground.in_language(n.body, n.lang) @@@ reground.bm25_query(s.query, 'spoken', text_configs => '{de,en}', syntax => true) GROUP BY 1 ORDER BY 1;
RESET enable_seqscan;
SELECT s.query, array_agg(n.id ORDER BY n.id) FROM unnest(ARRAY['"red shoe"', '"rotes Schuh"', '+schuhen -rot', '+shoe', 'shoe -sock']) AS s (query)
    LEFT JOIN spoken AS n ON reground.in_language(n.body, n.lang) @@@ reground.bm25_query(s.query, 'spoken', text_configs => '{de,en}', syntax => true) GROUP BY 1 ORDER BY 1;

-- A stop word of one language is no condition.
SELECT array_agg(id ORDER BY id) FROM spoken WHERE reground.in_language(body, lang) @@@ reground.bm25_query('+die +Schuhe', 'spoken', text_configs => '{de,en}', syntax => true);

-- A phrase of many words, and a long text.
INSERT INTO notes VALUES (1001, (SELECT string_agg('x' || i, ' ' ORDER BY i) FROM generate_series(1, 3000) AS i));
SELECT array_agg(id) FROM notes WHERE body @@@ q((SELECT '"' || string_agg('x' || i, ' ' ORDER BY i) || '"' FROM generate_series(1, 3000) AS i));
SELECT array_agg(id) FROM notes WHERE body @@@ q((SELECT '"' || string_agg('x' || i, ' ' ORDER BY i DESC) || '"' FROM generate_series(1, 3000) AS i));
SELECT array_agg(id) FROM notes WHERE body @@@ q((SELECT string_agg('+x' || i, ' ' ORDER BY i DESC) || ' -x3001' FROM generate_series(1, 3000) AS i));
SELECT array_agg(id) FROM notes WHERE body @@@ q((SELECT string_agg('+x' || i, ' ' ORDER BY i DESC) || ' -x2999' FROM generate_series(1, 3000) AS i));

-- Errors.
SELECT s.query, r.* FROM unnest(ARRAY['red "shoes', '""', '"a"b', 'red + shoes', 'sho*', 'title:red', '(red)', 'red AND blue', '-red', '“red shoes”']) WITH ORDINALITY AS s (query, n),
    regress.refusal(format($$SELECT query_syntax.q(%L)$$, s.query)) AS r ORDER BY s.n;
SELECT * FROM regress.refusal($$SELECT '+"syntax" query_syntax.notes: "open'::reground.bm25query$$);
SELECT * FROM regress.refusal($$SELECT '+"grammar" query_syntax.notes: red'::reground.bm25query$$);
SELECT * FROM regress.refusal($$SELECT reground.bm25_query('red', 'query_syntax.notes', syntax => NULL)$$);
RESET search_path;
SET client_min_messages = error;
DROP SCHEMA query_syntax CASCADE;
