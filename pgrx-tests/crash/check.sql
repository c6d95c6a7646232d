-- The structure, every row of the table, and the best of some queries by both plans. Prints only what is wrong.
SELECT item, fault FROM reground.bm25_check('docs_body', heapallindexed => true);
CREATE FUNCTION pg_temp.best(query text, by_index boolean) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('enable_seqscan', CASE WHEN by_index THEN 'off' ELSE 'on' END, true), set_config('enable_indexscan', CASE WHEN by_index THEN 'on' ELSE 'off' END, true),
        set_config('enable_bitmapscan', 'off', true);
    RETURN (SELECT string_agg(round((-score)::numeric, 9)::text, ',' ORDER BY score) FROM (SELECT body <@> reground.bm25_query(query, 'docs') AS score FROM docs
        WHERE body @@@ reground.bm25_query(query, 'docs') ORDER BY body <@> reground.bm25_query(query, 'docs') LIMIT 20) AS d);
END
$$;
SELECT 'the best differ by plan', q FROM (SELECT format('w%s w%s w%s', n, n * 7, n * 31) AS q FROM generate_series(0, 60, 3) AS n) AS queries
WHERE pg_temp.best(q, true) IS DISTINCT FROM pg_temp.best(q, false);
SELECT 'an unlogged table has outlived the crash' FROM brief HAVING count(*) > 0;
INSERT INTO brief SELECT 'sandpiper w' || n FROM generate_series(1, 100) AS n;
SET enable_seqscan = off;
SELECT 'the index of an unlogged table finds', count(*) FROM brief WHERE body @@@ reground.bm25_query('sandpiper', 'brief') HAVING count(*) <> 100;
SELECT item, fault FROM reground.bm25_check('brief_body', heapallindexed => true);
TRUNCATE brief;
