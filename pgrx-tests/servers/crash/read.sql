-- Compares index scans with a sequential scan, and prints the difference or "same". The index changes while an ordered scan pauses.
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT 'w' || (random() ^ 3 * 2000)::integer || ' w' || (random() ^ 3 * 2000)::integer AS query, 'w' || (random() ^ 3 * 20)::integer AS other \gset
SET LOCAL enable_seqscan = off;
SET LOCAL enable_bitmapscan = off;
SELECT coalesce(string_agg(id::text, ',' ORDER BY id), '') AS found
  FROM (SELECT id, CASE WHEN random() < 0.002 THEN pg_sleep(0.05) END
          FROM (SELECT id FROM docs WHERE body @@@ reground.bm25_query(:'query', 'docs') ORDER BY body <@> reground.bm25_query(:'query', 'docs')) AS d) AS slow \gset
SET LOCAL enable_indexscan = off;
SET LOCAL enable_bitmapscan = on;
SELECT coalesce(string_agg(id::text, ',' ORDER BY id), '') AS found_by_both
  FROM docs WHERE body @@@ reground.bm25_query(:'query', 'docs') AND body @@@ reground.bm25_query(:'other', 'docs') AND part = 1 \gset
SET LOCAL enable_seqscan = on;
SET LOCAL enable_bitmapscan = off;
SELECT coalesce(string_agg(id::text, ',' ORDER BY id), '') AS there,
       coalesce(string_agg(id::text, ',' ORDER BY id) FILTER (WHERE body @@@ reground.bm25_query(:'other', 'docs') AND part = 1), '') AS there_by_both
  FROM docs WHERE body @@@ reground.bm25_query(:'query', 'docs') \gset
SELECT CASE WHEN :'found' <> :'there' THEN format('for %s the index finds %s, and there are %s', :'query', :'found', :'there')
            WHEN :'found_by_both' <> :'there_by_both' THEN format('for %s and %s the index finds %s, and there are %s', :'query', :'other', :'found_by_both', :'there_by_both')
            WHEN :'found' = '' THEN 'nothing' ELSE 'same' END;
COMMIT;
SELECT item || ': ' || problem FROM reground.bm25_check('docs_body');
