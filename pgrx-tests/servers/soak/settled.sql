-- Brings the queued table and the rollups up to date, compares the documents of the queued table, and looks whether everything happened
-- that the application does. Prints only differences.
SELECT task, error FROM reground.run_maintenance('refresh_audit') WHERE error IS NOT NULL;
SELECT task, error FROM reground.run_maintenance('sync_queue') WHERE error IS NOT NULL;
SELECT 'notes', coalesce(a.id::text, p.doc_id) FROM notes AS a FULL JOIN (SELECT doc_id, string_agg(content, E'\n\n' ORDER BY ordinal) AS body FROM later GROUP BY doc_id) AS p ON p.doc_id = a.id::text
    WHERE p.body IS DISTINCT FROM a.body;
SELECT 'rollup queue', count(*) FROM reground.rollup_queue HAVING count(*) > 0;
SELECT 'never happened', what FROM (VALUES
    ('an answer', (SELECT count(*) FROM said WHERE live)), ('a second answer', (SELECT count(*) FROM said WHERE superseded)),
    ('an import', (SELECT count(*) FROM said WHERE NOT live)), ('an erasure', (SELECT count(*) FROM said WHERE erased)),
    ('an abandoned turn', (SELECT count(*) FROM reground.turns AS t WHERE NOT EXISTS (SELECT FROM said AS s WHERE s.turn_id = t.turn_id))),
    ('a document of the table', (SELECT count(*) FROM "read")), ('a document of the queued table', (SELECT count(*) FROM later)),
    ('an archived turn', (SELECT count(*) FROM reground.turn_archive)), ('a removed link', (SELECT count(*) FROM reground.chain_checkpoints))) AS x(what, times)
WHERE times = 0;
