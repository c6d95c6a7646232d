-- Removal of conversations by a superuser, before end.sql. Written as described in corpora.sql.

SELECT pg_catalog.set_config('reground.conversation_retention_days', '1', false);
SELECT * FROM reground.run_retention(pg_catalog.now() OPERATOR(pg_catalog.+) '100 days'::pg_catalog.interval) WHERE pg_catalog.starts_with(relation, 'conversations');
SELECT pg_catalog.set_config('reground.conversation_retention_days', '0', false);
SELECT reground.rebuild_audit();
