-- A view of a function, so that the analyst can read its result.
CREATE SCHEMA analysis;
GRANT USAGE ON SCHEMA analysis TO reground_auditor;
CREATE VIEW analysis.quality_of_tenants WITH (security_invoker = true) AS SELECT * FROM reground.citation_quality('tenant');
GRANT SELECT ON analysis.quality_of_tenants TO reground_auditor;
