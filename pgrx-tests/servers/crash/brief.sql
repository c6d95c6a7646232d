-- After a crash the unlogged table is empty and its index works. Prints only differences.
SELECT 'an unlogged table has outlived the crash' FROM brief HAVING count(*) > 0;
INSERT INTO brief SELECT 'sandpiper w' || n FROM generate_series(1, 100) AS n;
SET enable_seqscan = off;
SELECT 'the index of an unlogged table finds', count(*) FROM brief WHERE body @@@ reground.bm25_query('sandpiper', 'brief') HAVING count(*) <> 100;
SELECT item, problem FROM reground.bm25_check('brief_body', heapallindexed => true);
TRUNCATE brief;
