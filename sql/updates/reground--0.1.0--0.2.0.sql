\echo Use "ALTER EXTENSION reground UPDATE" to load this file. \quit

SET LOCAL search_path = pg_catalog, pg_temp;

-- Sessions notice the update by a changed row of pg_attribute.
ALTER TABLE reground.corpora ALTER COLUMN corpus_id SET STATISTICS -1;

-- The keys of these tables have NULLs, so they cannot be the identity of a published row.
ALTER TABLE reground.answer_rollup REPLICA IDENTITY FULL;
ALTER TABLE reground.citation_rollup REPLICA IDENTITY FULL;
ALTER TABLE reground.turn_rollup REPLICA IDENTITY FULL;
ALTER TABLE reground.alert_baselines REPLICA IDENTITY FULL;
ALTER TABLE reground.model_usage REPLICA IDENTITY FULL;

COMMENT ON COLUMN reground.model_usage.failures IS 'Number of failed attempts.';
