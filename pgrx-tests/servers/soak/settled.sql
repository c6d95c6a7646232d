-- Brings the queued table and the rollups up to date, and compares the documents of the queued table. Prints only differences.
SELECT count(*) FROM reground.run_maintenance('refresh_audit') WHERE error IS NOT NULL HAVING count(*) > 0;
SELECT task, error FROM reground.run_maintenance('sync_queue') WHERE error IS NOT NULL;
SELECT task, error FROM reground.run_maintenance('sync_queue') WHERE error IS NOT NULL;
SELECT 'notes', coalesce(a.id::text, p.doc_id) FROM notes AS a FULL JOIN (SELECT doc_id, string_agg(content, E'\n\n' ORDER BY ordinal) AS body FROM later GROUP BY doc_id) AS p ON p.doc_id = a.id::text
    WHERE p.body IS DISTINCT FROM a.body;
SELECT 'rollup queue', count(*) FROM reground.rollup_queue HAVING count(*) > 0;
