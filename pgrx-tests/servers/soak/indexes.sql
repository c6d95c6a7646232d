-- Checks the BM25 indexes of the corpora with all rows of their tables. Prints only differences.
SELECT i.indexrelid::regclass, b.item, b.problem FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_am AS a ON a.oid = c.relam
CROSS JOIN LATERAL reground.bm25_check(i.indexrelid, heapallindexed => true) AS b WHERE a.amname = 'reground_bm25';
