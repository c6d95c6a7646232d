-- The structure of the index, every row of the table, and the best of some queries by both plans. Prints only what is wrong.
SELECT item, fault FROM reground.bm25_check('articles_body', heapallindexed => true);
CREATE FUNCTION pg_temp.best(query text, by_index boolean) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('enable_seqscan', CASE WHEN by_index THEN 'off' ELSE 'on' END, true), set_config('enable_indexscan', CASE WHEN by_index THEN 'on' ELSE 'off' END, true),
        set_config('enable_bitmapscan', 'off', true);
    RETURN (SELECT string_agg(round((-score)::numeric, 9)::text, ',' ORDER BY score) FROM (SELECT body <@> reground.bm25_query(query, 'articles') AS score FROM articles
        WHERE body @@@ reground.bm25_query(query, 'articles') ORDER BY body <@> reground.bm25_query(query, 'articles') LIMIT 20) AS d);
END
$$;
SELECT 'the best differ by plan', q FROM (SELECT format('w%s w%s w%s', n, n * 7, n * 31) AS q FROM generate_series(0, 60, 3) AS n) AS queries
WHERE pg_temp.best(q, true) IS DISTINCT FROM pg_temp.best(q, false);
