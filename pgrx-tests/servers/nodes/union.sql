-- Views of all nodes :nodes, with the names of the tables of a node.
CREATE SCHEMA IF NOT EXISTS nodes;
SELECT format('DROP VIEW IF EXISTS nodes.%1$I; CREATE VIEW nodes.%1$I AS %2$s',
    name, string_agg(format('SELECT %L::text AS node, * FROM %I.%I', node, node, name), ' UNION ALL '))
FROM unnest('{answer_rollup,citation_rollup,turn_rollup,metric_totals,turn_archive,cfs_hourly,citations_hourly,citation_audit,turn_audit,quality_of_tenants}'::text[]) AS name,
    unnest(:'nodes'::text[]) AS node
GROUP BY name \gexec
