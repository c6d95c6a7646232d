-- Checks the BM25 index :index on the column body of :relation: its structure, all rows of the table, and the top results of some
-- queries by both plans. Prints only differences.
SELECT item, problem FROM reground.bm25_check(:'index', heapallindexed => true);
CREATE FUNCTION pg_temp.best(relation text, query text, by_index boolean) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    best text;
BEGIN
    PERFORM set_config('enable_seqscan', CASE WHEN by_index THEN 'off' ELSE 'on' END, true), set_config('enable_indexscan', CASE WHEN by_index THEN 'on' ELSE 'off' END, true),
        set_config('enable_bitmapscan', 'off', true);
    EXECUTE format('SELECT string_agg(round((-score)::numeric, 9)::text, '','' ORDER BY score) FROM (SELECT body <@> reground.bm25_query($1, %1$L) AS score FROM %1$I
        WHERE body @@@ reground.bm25_query($1, %1$L) ORDER BY body <@> reground.bm25_query($1, %1$L) LIMIT 20) AS d', relation) INTO best USING query;
    RETURN best;
END
$$;
SELECT 'the best differ by plan', q FROM (SELECT format('w%s w%s w%s', n, n * 7, n * 31) AS q FROM generate_series(0, 60, 3) AS n) AS queries
WHERE pg_temp.best(:'relation', q, true) IS DISTINCT FROM pg_temp.best(:'relation', q, false);
