-- Traces and links that are older than a minute are removed.
\set what random(0, 3)
SELECT count(*) FROM reground.run_maintenance();
\if :what = 0
SELECT count(*) FROM reground.run_retention(now() + interval '90 days' - interval '1 minute');
\elif :what = 1
-- Erased answers are counted until then.
BEGIN;
SELECT reground.rebuild_audit();
UPDATE said SET counted = false WHERE erased AND counted;
COMMIT;
\elif :what = 2
SELECT reground.bm25_merge(indexrelid) FROM pg_index WHERE indrelid = 'read'::regclass AND (SELECT amname FROM pg_am AS a JOIN pg_class AS c ON c.relam = a.oid WHERE c.oid = indexrelid) = 'reground_bm25';
\endif
SELECT pg_sleep(1);
