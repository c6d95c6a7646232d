-- Several texts in one index, each with a weight that multiplies its word frequencies.
CREATE SCHEMA fields;
SET search_path = fields, public;
CREATE TABLE pages (id integer PRIMARY KEY, title text, body text, tags text[]);
INSERT INTO pages SELECT n,
    CASE WHEN n % 13 > 0 THEN (SELECT string_agg('w' || (hashint4(n * 31 + w) & 255) % 40, ' ') FROM generate_series(1, 1 + n % 4) AS w) END,
    CASE WHEN n % 17 > 0 THEN (SELECT string_agg('w' || (hashint4(n * 97 + w) & 1023) % 200, ' ') FROM generate_series(1, 1 + n % 25) AS w) END,
    CASE n % 5 WHEN 0 THEN NULL WHEN 1 THEN '{}' WHEN 2 THEN ARRAY['w7', NULL, 'w8 w9'] ELSE ARRAY['w' || n % 50] END
FROM generate_series(1, 2000) AS n;
CREATE INDEX pages_text ON pages USING reground_bm25 ((ARRAY[title, body])) WITH (text_config = simple, weights = '3, 1');
CREATE INDEX pages_tags ON pages USING reground_bm25 (tags) WITH (text_config = simple);

-- The same in SQL: weighted frequencies and lengths, one saturation. No length exceeds 40, so all lengths are exact.
CREATE VIEW words AS SELECT p.id, t.lexeme, sum(f.weight * cardinality(t.positions))::float8 AS tf
    FROM pages AS p, LATERAL (VALUES (title, 3), (body, 1)) AS f (content, weight), unnest(to_tsvector('simple', f.content)) AS t GROUP BY 1, 2;
CREATE TABLE lengths AS SELECT p.id, coalesce(sum(w.tf), 0) AS length FROM pages AS p LEFT JOIN words AS w USING (id) GROUP BY 1;
CREATE FUNCTION oracle(query text) RETURNS TABLE (id integer, score float8) LANGUAGE sql STABLE AS $$
    SELECT w.id, sum(cardinality(q.positions) * ln(1 + (c.n - f.df + 0.5) / (f.df + 0.5)) * w.tf / (w.tf + 1.2 * (0.25 + 0.75 * l.length / c.mean)))
    FROM unnest(to_tsvector('simple', query)) AS q JOIN words AS w USING (lexeme) JOIN lengths AS l USING (id),
        (SELECT count(*)::float8, avg(length) FROM lengths) AS c (n, mean), LATERAL (SELECT count(*) FROM words AS o WHERE o.lexeme = q.lexeme) AS f (df)
    GROUP BY w.id
$$;
SELECT max(length) <= 40 AS exact FROM lengths;
CREATE FUNCTION wrong(query text, plan text) RETURNS TABLE (differ bigint, rows bigint) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('enable_' || k, CASE WHEN k = plan THEN 'on' ELSE 'off' END, true) FROM unnest(ARRAY['indexscan', 'bitmapscan', 'seqscan']) AS k;
    RETURN QUERY SELECT count(*) FILTER (WHERE o.score IS NULL OR f.score IS NULL OR abs(o.score - f.score) > 1e-9 * o.score), count(*)
        FROM fields.oracle(query) AS o FULL JOIN (SELECT p.id, - (ARRAY[title, body] <@> reground.bm25_query(query, 'fields.pages_text')) AS score FROM fields.pages AS p
            WHERE ARRAY[title, body] @@@ reground.bm25_query(query, 'fields.pages_text') ORDER BY ARRAY[title, body] <@> reground.bm25_query(query, 'fields.pages_text')) AS f USING (id);
END
$$;
SELECT plan, sum(w.differ) AS differ, sum(w.rows) > 500 AS many FROM unnest(ARRAY['w3', 'w7 w120', 'w1 w2 w190 nothing', 'w39 w39']) AS q,
    unnest(ARRAY['indexscan', 'bitmapscan', 'seqscan']) AS plan, wrong(q, plan) AS w GROUP BY plan ORDER BY plan COLLATE "C";
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM pages ORDER BY ARRAY[title, body] <@> reground.bm25_query('w3', 'pages_text') LIMIT 3;

-- Rows are inserted and changed. A NULL text is empty; a NULL array is not indexed.
INSERT INTO pages VALUES (3001, 'sandpiper', NULL, NULL), (3002, NULL, 'a sandpiper', NULL), (3003, NULL, NULL, NULL);
UPDATE pages SET title = 'plover' WHERE id = 3001;
SELECT id FROM pages WHERE ARRAY[title, body] @@@ reground.bm25_query('sandpiper', 'pages_text');
SELECT id FROM pages WHERE ARRAY[title, body] @@@ reground.bm25_query('plover sandpiper', 'pages_text') ORDER BY ARRAY[title, body] <@> reground.bm25_query('plover sandpiper', 'pages_text');
SELECT lexeme, frequency, length FROM reground.bm25_explain(ARRAY['plover w1', 'plover w2 w3'], reground.bm25_query('plover w3', 'pages_text'));
SELECT count(*) AS tagged FROM pages WHERE tags @@@ reground.bm25_query('w9', 'pages_tags');
SELECT count(*) AS tagged FROM pages WHERE tags IS NOT NULL AND 'w9' = ANY (string_to_array(array_to_string(tags, ' '), ' '));
SELECT documents = (SELECT count(*) FROM pages WHERE tags IS NOT NULL) AS counted FROM reground.bm25_explain(ARRAY['w9'], reground.bm25_query('w9', 'pages_tags'));
SELECT i, c.* FROM unnest(ARRAY['pages_text', 'pages_tags']) AS i, reground.bm25_check(i::regclass, heapallindexed => true) AS c;

-- The weights are fixed when the index is built; bm25_check reports other declared weights.
ALTER INDEX pages_text SET (weights = '3,2');
SELECT * FROM reground.bm25_check('pages_text');
REINDEX INDEX pages_text;
SELECT * FROM reground.bm25_check('pages_text');
SELECT frequency FROM reground.bm25_explain(ARRAY['plover', 'plover plover'], reground.bm25_query('plover', 'pages_text'));

-- Options that are refused.
SELECT w.*, r.* FROM unnest(ARRAY['0,1', '101', '1.5', 'many', '', '1,,2', repeat('1,', 16) || '1']) AS w,
    regress.refusal(format($$CREATE INDEX ON fields.pages USING reground_bm25 (tags) WITH (weights = %L)$$, w)) AS r;
SELECT * FROM regress.refusal($$CREATE INDEX ON fields.pages USING reground_bm25 (title) WITH (weights = '2')$$);
SELECT * FROM regress.refusal($$CREATE INDEX ON fields.pages USING reground_bm25 (title, body)$$);
