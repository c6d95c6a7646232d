-- What the answers add up to, hour by hour. A queue row for every answer, taken by refresh_audit: late commits are never missed,
-- as they would be by a watermark of ids, and end_turn waits for nobody's counters.

CREATE FUNCTION reground.document_type(uri text, doc_id text DEFAULT NULL) RETURNS text
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'document_type_wrapper';
COMMENT ON FUNCTION reground.document_type(text, text) IS
'Returns the file extension of a document''s address, otherwise of its id, for example pdf or html; NULL without one.';

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
COMMENT ON TABLE reground.answer_rollup IS 'Current answers by hour and score, as histograms (percentiles cannot be added). Read the view cfs_hourly instead.';
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
    lost_stage       text,
    citations     bigint NOT NULL,
    UNIQUE NULLS NOT DISTINCT (hour, tenant, corpus, model, document_type, status, lost_stage)
);
COMMENT ON TABLE reground.citation_rollup IS 'Citations of current answers by hour, verdict and lost stage. Read the view citations_hourly instead.';
COMMENT ON COLUMN reground.citation_rollup.hour IS 'Start of the hour of the answers.';
COMMENT ON COLUMN reground.citation_rollup.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.citation_rollup.corpus IS 'Corpus of the source, or of the turn if nothing was resolved.';
COMMENT ON COLUMN reground.citation_rollup.model IS 'Model that wrote the answers, first 200 characters.';
COMMENT ON COLUMN reground.citation_rollup.document_type IS 'Type of the document; see document_type().';
COMMENT ON COLUMN reground.citation_rollup.status IS 'Verdict; see citation_statuses.';
COMMENT ON COLUMN reground.citation_rollup.lost_stage IS 'First pipeline stage whose factor is 0 (I4); NULL if no stage lost the citation.';
COMMENT ON COLUMN reground.citation_rollup.citations IS 'Number of citations.';
