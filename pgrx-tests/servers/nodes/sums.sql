-- Reports over all tenants, whose groups have rows of several nodes.
SELECT 'week', date_trunc('week', hour, 'UTC'), sum(citations), sum(citations) FILTER (WHERE status = 'resolved_current') FROM citation_rollup GROUP BY 2 ORDER BY 2;
SELECT 'scores', model, cfs_bin, sum(answers) FROM answer_rollup GROUP BY 2, 3 ORDER BY 2, 3;
SELECT 'documents', corpus, doc_id, count(*), count(*) FILTER (WHERE holds) FROM citation_audit WHERE corpus = 'help' GROUP BY 2, 3 ORDER BY 2, 3;
SELECT 'archive', count(*), sum(holding_count) FROM turn_archive WHERE 'doc-2' = ANY (doc_ids);
