-- Statements of a search that do not use an index of each shard, or return more rows of a shard than the list has.
SET client_min_messages = error;
SELECT step, plan
FROM reground.explain_search('spread', 'w3 w200', embedding => '[1,2,3,4,5,6,7,8]', max_results => 3)
WHERE step = 'vector list' AND (plan !~ 'Index Scan using spread_embedding_' OR plan ~ 'Seq Scan' OR plan !~ 'Task\n[^\n]*\n[^\n]*\n +->  Limit ')
    OR step = 'lexical list' AND plan ~ 'w3 w200' AND plan ~ 'Order By' AND (plan !~ 'Index Scan using spread_body_' OR plan ~ 'Seq Scan' OR plan !~ 'Task\n[^\n]*\n[^\n]*\n +->  Limit ');
SELECT 'no plan of ' || expected
FROM unnest('{spread_embedding_,spread_body_}'::text[]) AS expected
WHERE NOT EXISTS (SELECT FROM reground.explain_search('spread', 'w3 w200', embedding => '[1,2,3,4,5,6,7,8]', max_results => 3) AS s WHERE s.plan ~ ('Index Scan using ' || expected));
SELECT item, detail FROM reground.check_corpus('spread') WHERE status <> 'ok';
