-- Reading the rollups, and keeping them up to date.

CREATE FUNCTION reground.refresh_audit(max_answers integer DEFAULT NULL)
    RETURNS bigint LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'refresh_audit_wrapper';
COMMENT ON FUNCTION reground.refresh_audit(integer) IS 'Counts the answers that wait in rollup_queue, oldest first, into the rollups; at most max_answers of them. Returns how many it took; 0 too while another session is at it. For the worker, a scheduler or a person: run it every minute or so.';

CREATE FUNCTION reground.rebuild_audit()
    RETURNS bigint LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'rebuild_audit_wrapper';
COMMENT ON FUNCTION reground.rebuild_audit() IS 'Empties the rollups and counts every answer that stands anew: after answers were erased, or to be sure. Returns how many it counted. Other sessions that refresh wait for it.';

CREATE VIEW reground.cfs_hourly WITH (security_invoker = true) AS
    SELECT r.hour, r.tenant, r.corpus, r.model, pg_catalog.sum(r.answers)::bigint AS answers, coalesce(pg_catalog.sum(r.answers) FILTER (WHERE r.cfs_bin IS NOT NULL), 0)::bigint AS cited_answers,
           pg_catalog.sum(r.cfs_bin * r.answers)::double precision / 1000 / nullif(pg_catalog.sum(r.answers) FILTER (WHERE r.cfs_bin IS NOT NULL), 0)::double precision AS cfs_mean,
           pg_catalog.min(r.cfs_bin) FILTER (WHERE r.answers > 0 AND r.upto >= 0.01 * r.scored) / 1000.0::double precision AS cfs_p1,
           pg_catalog.min(r.cfs_bin) FILTER (WHERE r.answers > 0 AND r.upto >= 0.05 * r.scored) / 1000.0::double precision AS cfs_p5,
           pg_catalog.min(r.cfs_bin) FILTER (WHERE r.answers > 0 AND r.upto >= 0.50 * r.scored) / 1000.0::double precision AS cfs_p50,
           pg_catalog.min(r.cfs_bin) FILTER (WHERE r.answers > 0 AND r.upto >= 0.95 * r.scored) / 1000.0::double precision AS cfs_p95,
           pg_catalog.min(r.cfs_bin) FILTER (WHERE r.answers > 0 AND r.upto >= 0.99 * r.scored) / 1000.0::double precision AS cfs_p99
    FROM (
        SELECT a.hour, a.tenant, a.corpus, a.model, a.cfs_bin, a.answers,
               pg_catalog.sum(a.answers) FILTER (WHERE a.cfs_bin IS NOT NULL) OVER (PARTITION BY a.hour, a.tenant, a.corpus, a.model ORDER BY a.cfs_bin) AS upto,
               pg_catalog.sum(a.answers) FILTER (WHERE a.cfs_bin IS NOT NULL) OVER (PARTITION BY a.hour, a.tenant, a.corpus, a.model) AS scored
        FROM reground.answer_rollup AS a) AS r
    GROUP BY r.hour, r.tenant, r.corpus, r.model
    HAVING pg_catalog.sum(r.answers) > 0;
COMMENT ON VIEW reground.cfs_hourly IS 'Fidelity scores of the answers that stand, by hour, corpus of the turn and model, as of the last refresh_audit. Scores are in thousandths, so percentiles are right to 0.0005; a percentile is the least score that so many of the answers do not exceed. To take hours together, add up answer_rollup.';
COMMENT ON COLUMN reground.cfs_hourly.answers IS 'Answers that stand.';
COMMENT ON COLUMN reground.cfs_hourly.cited_answers IS 'Of these, those with a score.';

CREATE VIEW reground.citations_hourly WITH (security_invoker = true) AS
    SELECT r.hour, r.tenant, r.corpus, r.model, r.document_type, pg_catalog.sum(r.citations)::bigint AS citations,
           coalesce(pg_catalog.sum(r.citations) FILTER (WHERE s.holds IS NOT NULL), 0)::bigint AS judged, coalesce(pg_catalog.sum(r.citations) FILTER (WHERE s.holds), 0)::bigint AS holding,
           coalesce(pg_catalog.sum(r.citations) FILTER (WHERE r.status = 'malformed'), 0)::bigint AS malformed,
           coalesce(pg_catalog.sum(r.citations) FILTER (WHERE r.lost_stage = 'coordinates'), 0)::bigint AS lost_coordinates,
           coalesce(pg_catalog.sum(r.citations) FILTER (WHERE r.lost_stage = 'retrieval'), 0)::bigint AS lost_retrieval,
           coalesce(pg_catalog.sum(r.citations) FILTER (WHERE r.lost_stage = 'rerank'), 0)::bigint AS lost_rerank,
           coalesce(pg_catalog.sum(r.citations) FILTER (WHERE r.lost_stage = 'context'), 0)::bigint AS lost_context,
           coalesce(pg_catalog.sum(r.citations) FILTER (WHERE r.lost_stage = 'generation'), 0)::bigint AS lost_generation
    FROM reground.citation_rollup AS r
    JOIN reground.citation_statuses AS s USING (status)
    GROUP BY r.hour, r.tenant, r.corpus, r.model, r.document_type
    HAVING pg_catalog.sum(r.citations) > 0;
COMMENT ON VIEW reground.citations_hourly IS 'Citations in answers that stand, by hour, corpus of the source, model and type of the document, as of the last refresh_audit: how many hold, cannot be read, and were lost at each stage (I4).';

CREATE VIEW reground.audit_backlog WITH (security_invoker = true) AS
    SELECT pg_catalog.count(*) AS answers, pg_catalog.min(q.queued_at) AS oldest_queued_at, pg_catalog.now() - pg_catalog.min(q.queued_at) AS lag FROM reground.rollup_queue AS q;
COMMENT ON VIEW reground.audit_backlog IS 'How far the rollups are behind: answers that wait for refresh_audit.';
COMMENT ON COLUMN reground.audit_backlog.oldest IS 'When the oldest of them came; NULL where none waits.';

CREATE VIEW reground.conversation_audit WITH (security_invoker = true) AS
    SELECT v.tenant, v.conversation_ref, v.corpus, v.created_at, t.turns, t.last_turn_at, m.answers, m.regenerate_count, m.mean_cfs, m.lowest_cfs,
           c.citations, c.judged, c.holding, c.holding::double precision / nullif(c.judged, 0) AS rate, c.malformed, c.documents, c.reported
    FROM reground.conversations AS v
    CROSS JOIN LATERAL (SELECT pg_catalog.count(*) AS turns, pg_catalog.max(t.begun_at) AS last_turn_at FROM reground.turns AS t WHERE t.conversation_id = v.conversation_id) AS t
    CROSS JOIN LATERAL (
        SELECT pg_catalog.count(*) AS answers, pg_catalog.count(*) FILTER (WHERE m.decision = 'regenerate') AS regenerate_count, pg_catalog.avg(m.cfs) AS mean_cfs, pg_catalog.min(m.cfs) AS lowest_cfs
        FROM reground.messages AS m WHERE m.conversation_id = v.conversation_id AND NOT m.superseded) AS m
    CROSS JOIN LATERAL (
        SELECT pg_catalog.count(*) AS citations, pg_catalog.count(c.holds) AS judged, pg_catalog.count(*) FILTER (WHERE c.holds) AS holding,
               pg_catalog.count(*) FILTER (WHERE c.status = 'malformed') AS malformed, pg_catalog.count(DISTINCT (c.corpus, c.doc_id)) FILTER (WHERE c.holds) AS documents,
               pg_catalog.count(*) FILTER (WHERE EXISTS (SELECT FROM reground.citation_reports AS r WHERE r.citation_id = c.citation_id)) AS reported
        FROM reground.messages AS m JOIN reground.message_citations AS c USING (message_id)
        WHERE m.conversation_id = v.conversation_id AND NOT m.superseded) AS c;
COMMENT ON VIEW reground.conversation_audit IS 'A row a conversation: its turns, the answers that stand, and how their citations fare. All conversations at a time read all their citations.';
COMMENT ON COLUMN reground.conversation_audit.corpus IS 'Corpus of the latest turn.';
COMMENT ON COLUMN reground.conversation_audit.regenerate IS 'Answers that end_turn advised against.';
COMMENT ON COLUMN reground.conversation_audit.cfs IS 'Mean of their fidelity scores.';
COMMENT ON COLUMN reground.conversation_audit.documents IS 'Documents that are rightly cited.';
COMMENT ON COLUMN reground.conversation_audit.reported IS 'Citations that users complained of.';
