-- Retention, erasure of tenants, and the end of the corpora, as the admin. Written as described in corpora.sql.

-- no rows
SELECT * FROM reground.run_retention();
SELECT pg_catalog.set_config('reground.master_key', pg_catalog.repeat('5', 64), false);
SELECT reground.rotate_tenant_key('{role}');
SELECT * FROM reground.run_maintenance('seal_rows');
SELECT reground.change_master_key(pg_catalog.repeat('6', 64));
SELECT * FROM reground.forget_tenant_keys('{role}');
SELECT pg_catalog.set_config('reground.master_key', '', false);
SELECT * FROM reground.forget_tenant('{role}');
SELECT reground.drop_corpus('{r}_farm', drop_tables => true), reground.drop_corpus('{r}_halves', drop_tables => true), reground.drop_corpus('{r}_tongues', drop_tables => true);
SELECT reground.drop_corpus('{r}_products');
SELECT reground.drop_corpus('{r}_articles'), reground.drop_corpus('{r}_texts'), reground.drop_corpus('{r}_leaflets'), reground.drop_corpus('{r}_log'), reground.drop_corpus('{r}_shelf'), reground.drop_corpus('{r}_notes');
