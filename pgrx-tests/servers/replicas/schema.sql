-- An application with a tenant, an analyst, and a corpus.
CREATE ROLE app LOGIN IN ROLE reground_user;
CREATE ROLE analyst LOGIN IN ROLE reground_auditor;
ALTER ROLE app SET reground.tenant_from = 'app.tenant_id';
ALTER ROLE app SET app.tenant_id = 'acme';
SELECT reground.create_corpus('help', settings => '{"provenance": "merkle"}');
SELECT reground.put_document('help', 'doc-' || n, format('Animal%s eats plant%s near place%s.', n % 50, n % 60, n % 40)) FROM generate_series(1, 300) AS n;
GRANT SELECT ON help, help_documents TO app;
