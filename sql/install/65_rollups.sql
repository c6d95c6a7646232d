-- Hourly rollups. end_turn queues each answer and refresh_audit counts it, so that late commits are counted and end_turn never waits for a counter.

CREATE TABLE reground.rollup_queue (
    queue_id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant     text NOT NULL,
    message_id bigint NOT NULL,
    change     smallint NOT NULL CHECK (change IN (-1, 1)),
    queued_at  timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp()
);
COMMENT ON TABLE reground.rollup_queue IS 'Answers that the rollups do not count yet. refresh_audit processes them.';
COMMENT ON COLUMN reground.rollup_queue.queue_id IS 'Key, in order of arrival.';
COMMENT ON COLUMN reground.rollup_queue.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.rollup_queue.message_id IS 'Id of the answer; answers that no longer exist are skipped.';
COMMENT ON COLUMN reground.rollup_queue.change IS '1 for a new answer, -1 for a superseded answer.';
COMMENT ON COLUMN reground.rollup_queue.queued_at IS 'When the row was queued.';

CREATE TABLE reground.answer_rollup (
    hour    timestamptz NOT NULL,
    tenant  text NOT NULL,
    corpus  text NOT NULL,
    model   text,
    cfs_bin smallint CHECK (cfs_bin BETWEEN 0 AND 1000),
    answers bigint NOT NULL,
    UNIQUE NULLS NOT DISTINCT (hour, tenant, corpus, model, cfs_bin)
);
-- The key has NULLs, so it cannot be the identity of a published row.
ALTER TABLE reground.answer_rollup REPLICA IDENTITY FULL;
COMMENT ON TABLE reground.answer_rollup IS 'Current live answers by hour and score, as histograms (percentiles cannot be added). Read the view cfs_hourly instead.';
COMMENT ON COLUMN reground.answer_rollup.hour IS 'Start of the hour.';
COMMENT ON COLUMN reground.answer_rollup.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.answer_rollup.corpus IS 'Leading corpus of the turns.';
COMMENT ON COLUMN reground.answer_rollup.model IS 'Model that wrote the answers, first 200 characters.';
COMMENT ON COLUMN reground.answer_rollup.cfs_bin IS 'Citation fidelity score in thousandths; NULL for answers without citations.';
COMMENT ON COLUMN reground.answer_rollup.answers IS 'Number of answers.';

CREATE TABLE reground.citation_rollup (
    hour          timestamptz NOT NULL,
    tenant        text NOT NULL,
    corpus        text NOT NULL,
    model         text,
    document_type text,
    status        text NOT NULL,
    lost_stage    text,
    citations     bigint NOT NULL,
    UNIQUE NULLS NOT DISTINCT (hour, tenant, corpus, model, document_type, status, lost_stage)
);
-- The key has NULLs, so it cannot be the identity of a published row.
ALTER TABLE reground.citation_rollup REPLICA IDENTITY FULL;
COMMENT ON TABLE reground.citation_rollup IS 'Citations of current live answers by hour, verdict and lost stage. Read the view citations_hourly instead.';
COMMENT ON COLUMN reground.citation_rollup.hour IS 'Start of the hour of the answers.';
COMMENT ON COLUMN reground.citation_rollup.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.citation_rollup.corpus IS 'Corpus of the source, or of the turn if nothing was resolved.';
COMMENT ON COLUMN reground.citation_rollup.model IS 'Model that wrote the answers, first 200 characters.';
COMMENT ON COLUMN reground.citation_rollup.document_type IS 'File extension of the document''s address, otherwise of its id, for example pdf or html; NULL without one.';
COMMENT ON COLUMN reground.citation_rollup.status IS 'Verdict; see citation_statuses.';
COMMENT ON COLUMN reground.citation_rollup.lost_stage IS 'First pipeline stage whose factor is 0; NULL if no stage lost the citation.';
COMMENT ON COLUMN reground.citation_rollup.citations IS 'Number of citations.';

CREATE TABLE reground.turn_rollup (
    hour           timestamptz NOT NULL,
    tenant         text NOT NULL,
    corpus         text NOT NULL,
    model          text,
    answers        bigint NOT NULL,
    empty_contexts bigint NOT NULL,
    uncited        bigint NOT NULL,
    rerank_turns   bigint NOT NULL,
    reranked       bigint NOT NULL,
    rerank_lost    bigint NOT NULL,
    log_ms         bigint NOT NULL,
    UNIQUE NULLS NOT DISTINCT (hour, tenant, corpus, model)
);
-- The key has NULLs, so it cannot be the identity of a published row.
ALTER TABLE reground.turn_rollup REPLICA IDENTITY FULL;
COMMENT ON TABLE reground.turn_rollup IS 'Turns of current live answers by hour: sources, citations, reranking and time.';
COMMENT ON COLUMN reground.turn_rollup.hour IS 'Start of the hour of the answers.';
COMMENT ON COLUMN reground.turn_rollup.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.turn_rollup.corpus IS 'Leading corpus of the turns.';
COMMENT ON COLUMN reground.turn_rollup.model IS 'Model that wrote the answers, first 200 characters.';
COMMENT ON COLUMN reground.turn_rollup.answers IS 'Number of answers.';
COMMENT ON COLUMN reground.turn_rollup.empty_contexts IS 'Number of answers whose turn had no source.';
COMMENT ON COLUMN reground.turn_rollup.uncited IS 'Number of answers without a citation whose turn had a source.';
COMMENT ON COLUMN reground.turn_rollup.rerank_turns IS 'Number of answers whose turn was reranked.';
COMMENT ON COLUMN reground.turn_rollup.reranked IS 'Number of passages that a reranker received.';
COMMENT ON COLUMN reground.turn_rollup.rerank_lost IS 'Number of these that it did not return.';
COMMENT ON COLUMN reground.turn_rollup.log_ms IS 'Sum of 1000 * ln(milliseconds from begin_turn to end_turn) over the answers; exp(log_ms / 1000.0 / answers) is the geometric mean.';

CREATE TABLE reground.metric_totals (
    tenant text NOT NULL,
    corpus text NOT NULL,
    model  text NOT NULL,
    metric text NOT NULL,
    label  text NOT NULL,
    total  numeric NOT NULL,
    PRIMARY KEY (tenant, corpus, model, metric, label)
);
COMMENT ON TABLE reground.metric_totals IS 'Totals of all live answers that refresh_audit has counted, superseded ones included. They only grow. openmetrics reads them.';
COMMENT ON COLUMN reground.metric_totals.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.metric_totals.corpus IS 'Leading corpus of the turns.';
COMMENT ON COLUMN reground.metric_totals.model IS 'Model that wrote the answers, first 200 characters; empty if unknown.';
COMMENT ON COLUMN reground.metric_totals.metric IS 'answers, refusals, turns, citations, tokens, cost, answer_seconds (number of answers by their time) or answer_seconds_sum.';
COMMENT ON COLUMN reground.metric_totals.label IS 'answers: decision. refusals: reason. turns: filled, or empty (a context without a source). citations: verdict. tokens: input (without cached), cached or output. answer_seconds: upper bound of the time. Otherwise empty.';
COMMENT ON COLUMN reground.metric_totals.total IS 'The total.';

-- Views of the rollups, and their maintenance.

CREATE FUNCTION reground.refresh_audit(max_answers integer DEFAULT NULL)
    RETURNS bigint LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'refresh_audit_wrapper';
COMMENT ON FUNCTION reground.refresh_audit(integer) IS
'Counts queued answers into the rollups, oldest first, and returns their number; 0 also while another session refreshes. max_answers: largest number of answers. Call it every minute or so, if the worker does not.';

CREATE FUNCTION reground.rebuild_audit()
    RETURNS bigint LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'rebuild_audit_wrapper';
COMMENT ON FUNCTION reground.rebuild_audit() IS
'Empties the rollups, counts all current live answers again and returns their number. A notice says how many answers were counted before and are gone. Blocks other refreshes.';

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
COMMENT ON VIEW reground.cfs_hourly IS 'Citation fidelity scores of current live answers by hour, corpus and model, as of the last refresh_audit. To combine hours, add up answer_rollup.';
COMMENT ON COLUMN reground.cfs_hourly.hour IS 'Start of the hour.';
COMMENT ON COLUMN reground.cfs_hourly.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.cfs_hourly.corpus IS 'Leading corpus of the turns.';
COMMENT ON COLUMN reground.cfs_hourly.model IS 'Model that wrote the answers, first 200 characters.';
COMMENT ON COLUMN reground.cfs_hourly.answers IS 'Number of current answers.';
COMMENT ON COLUMN reground.cfs_hourly.cited_answers IS 'Number of these with a score.';
COMMENT ON COLUMN reground.cfs_hourly.cfs_mean IS 'Mean score.';
COMMENT ON COLUMN reground.cfs_hourly.cfs_p1 IS '1st percentile: the smallest score that at least 1 % of the answers do not exceed; exact to 0.0005.';
COMMENT ON COLUMN reground.cfs_hourly.cfs_p5 IS '5th percentile.';
COMMENT ON COLUMN reground.cfs_hourly.cfs_p50 IS 'Median.';
COMMENT ON COLUMN reground.cfs_hourly.cfs_p95 IS '95th percentile.';
COMMENT ON COLUMN reground.cfs_hourly.cfs_p99 IS '99th percentile.';

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
COMMENT ON VIEW reground.citations_hourly IS 'Citations of current live answers by hour, corpus of the source, model and document type, as of the last refresh_audit.';
COMMENT ON COLUMN reground.citations_hourly.hour IS 'Start of the hour.';
COMMENT ON COLUMN reground.citations_hourly.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.citations_hourly.corpus IS 'Corpus of the source, or of the turn if nothing was resolved.';
COMMENT ON COLUMN reground.citations_hourly.model IS 'Model that wrote the answers, first 200 characters.';
COMMENT ON COLUMN reground.citations_hourly.document_type IS 'File extension of the document''s address, otherwise of its id, for example pdf or html; NULL without one.';
COMMENT ON COLUMN reground.citations_hourly.citations IS 'Number of citations.';
COMMENT ON COLUMN reground.citations_hourly.judged IS 'Citations with a verdict about holding (not malformed or unresolvable).';
COMMENT ON COLUMN reground.citations_hourly.holding IS 'Citations that hold.';
COMMENT ON COLUMN reground.citations_hourly.malformed IS 'Citations that cannot be parsed.';
COMMENT ON COLUMN reground.citations_hourly.lost_coordinates IS 'Citations lost at the stage coordinates.';
COMMENT ON COLUMN reground.citations_hourly.lost_retrieval IS 'Citations lost at the stage retrieval.';
COMMENT ON COLUMN reground.citations_hourly.lost_rerank IS 'Citations lost at the stage rerank.';
COMMENT ON COLUMN reground.citations_hourly.lost_context IS 'Citations lost at the stage context.';
COMMENT ON COLUMN reground.citations_hourly.lost_generation IS 'Citations lost at the stage generation.';

CREATE VIEW reground.audit_backlog WITH (security_invoker = true) AS
    SELECT pg_catalog.count(*) AS answers, pg_catalog.min(q.queued_at) AS oldest_queued_at, pg_catalog.now() - pg_catalog.min(q.queued_at) AS lag FROM reground.rollup_queue AS q;
COMMENT ON VIEW reground.audit_backlog IS 'Answers that wait for refresh_audit.';
COMMENT ON COLUMN reground.audit_backlog.answers IS 'Number of waiting answers.';
COMMENT ON COLUMN reground.audit_backlog.oldest_queued_at IS 'When the oldest was queued; NULL if none waits.';
COMMENT ON COLUMN reground.audit_backlog.lag IS 'Age of the oldest.';

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
COMMENT ON VIEW reground.conversation_audit IS 'One row per conversation: its turns, its current answers and their citations. Reading all conversations reads all citations.';
COMMENT ON COLUMN reground.conversation_audit.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.conversation_audit.conversation_ref IS 'The application''s id of the conversation.';
COMMENT ON COLUMN reground.conversation_audit.corpus IS 'Leading corpus of the latest turn.';
COMMENT ON COLUMN reground.conversation_audit.created_at IS 'When the conversation was created.';
COMMENT ON COLUMN reground.conversation_audit.turns IS 'Number of turns.';
COMMENT ON COLUMN reground.conversation_audit.last_turn_at IS 'When the latest turn began.';
COMMENT ON COLUMN reground.conversation_audit.answers IS 'Number of current answers.';
COMMENT ON COLUMN reground.conversation_audit.regenerate_count IS 'Number of these with the decision regenerate.';
COMMENT ON COLUMN reground.conversation_audit.mean_cfs IS 'Mean citation fidelity score.';
COMMENT ON COLUMN reground.conversation_audit.lowest_cfs IS 'Smallest citation fidelity score.';
COMMENT ON COLUMN reground.conversation_audit.citations IS 'Number of citations.';
COMMENT ON COLUMN reground.conversation_audit.judged IS 'Citations with a verdict about holding (not malformed or unresolvable).';
COMMENT ON COLUMN reground.conversation_audit.holding IS 'Citations that hold.';
COMMENT ON COLUMN reground.conversation_audit.rate IS 'holding / judged.';
COMMENT ON COLUMN reground.conversation_audit.malformed IS 'Citations that cannot be parsed.';
COMMENT ON COLUMN reground.conversation_audit.documents IS 'Number of documents cited by holding citations.';
COMMENT ON COLUMN reground.conversation_audit.reported IS 'Number of citations reported by users.';
