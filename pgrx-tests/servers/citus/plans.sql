-- Lists of a search that are not found by an index of each shard, or for which a shard returns more rows than the list has.
SET client_min_messages = error;
CREATE TEMP TABLE plans AS SELECT step, plan FROM reground.explain_search('spread', 'w3 w200', embedding => '[1,2,3,4,5,6,7,8]', max_results => 3);
SELECT l.list, p.plan
FROM (VALUES ('vector list', 'Index Scan using spread_embedding_'), ('lexical list', 'Index Scan using spread_body_')) AS l(list, scan)
    LEFT JOIN plans AS p ON p.step = l.list AND p.plan ~ 'Sort Key' AND p.plan ~ 'Task Count: 4'
WHERE p.plan IS NULL OR p.plan !~ (l.scan || '[0-9]+') OR p.plan !~ 'Order By: ' OR p.plan ~ 'Seq Scan' OR p.plan !~ '->  Task[^>]*->  Limit ';
SELECT item, detail FROM reground.check_corpus('spread') WHERE status <> 'ok' AND item <> 'vector settings';
