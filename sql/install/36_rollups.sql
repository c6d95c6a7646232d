-- What the answers add up to, hour by hour. A queue row for every answer, taken by refresh_audit: late commits are never missed,
-- as they would be by a watermark of ids, and end_turn waits for nobody's counters.

CREATE FUNCTION reground.document_type(uri text, doc_id text DEFAULT NULL) RETURNS text
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'document_type_wrapper';
COMMENT ON FUNCTION reground.document_type(text, text) IS 'The type of a document, as the extension of its address says it, or else that of its id: pdf, md, html. Neither that of a host, nor what stands in a query or a fragment. NULL without one.';

CREATE TABLE reground.rollup_queue (
    queue_id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant     text NOT NULL,
    message_id bigint NOT NULL,
    change     smallint NOT NULL CHECK (change IN (-1, 1)),
    queued_at  timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp()
);
COMMENT ON TABLE  reground.rollup_queue IS 'Answers that the rollups do not count yet; refresh_audit takes them.';
COMMENT ON COLUMN reground.rollup_queue.queue_id IS 'Key, in the order of arrival.';
COMMENT ON COLUMN reground.rollup_queue.tenant IS 'Whose it is.';
COMMENT ON COLUMN reground.rollup_queue.message_id IS 'The answer; one that has gone since is passed over.';
COMMENT ON COLUMN reground.rollup_queue.change IS '1 where it came, -1 where a later one took its place.';
COMMENT ON COLUMN reground.rollup_queue.queued_at IS 'When.';

CREATE TABLE reground.answer_rollup (
    hour    timestamptz NOT NULL,
    tenant  text NOT NULL,
    corpus  text NOT NULL,
    model   text,
    cfs_bin smallint CHECK (cfs_bin BETWEEN 0 AND 1000),
    answers bigint NOT NULL,
    UNIQUE NULLS NOT DISTINCT (hour, tenant, corpus, model, cfs_bin)
);
COMMENT ON TABLE  reground.answer_rollup IS 'Answers that stand, by hour and fidelity score: histograms, because percentiles do not add up. Read it through cfs_hourly.';
COMMENT ON COLUMN reground.answer_rollup.hour IS 'When the hour began.';
COMMENT ON COLUMN reground.answer_rollup.tenant IS 'Whose answers.';
COMMENT ON COLUMN reground.answer_rollup.corpus IS 'Corpus of their turns.';
COMMENT ON COLUMN reground.answer_rollup.model IS 'The model that wrote them, as end_turn was told; its first 200 characters.';
COMMENT ON COLUMN reground.answer_rollup.cfs_bin IS 'Their fidelity score, rounded to a thousandth, in thousandths; NULL where nothing was cited.';
COMMENT ON COLUMN reground.answer_rollup.answers IS 'How many.';

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
COMMENT ON TABLE  reground.citation_rollup IS 'Citations in answers that stand, by hour, verdict and the stage that lost them. Read it through citations_hourly.';
COMMENT ON COLUMN reground.citation_rollup.hour IS 'When the hour of their answers began.';
COMMENT ON COLUMN reground.citation_rollup.tenant IS 'Whose citations.';
COMMENT ON COLUMN reground.citation_rollup.corpus IS 'Corpus of the source, or of the turn where nothing was resolved.';
COMMENT ON COLUMN reground.citation_rollup.model IS 'The model that wrote them; its first 200 characters.';
COMMENT ON COLUMN reground.citation_rollup.document_type IS 'Type of the document, as document_type has it.';
COMMENT ON COLUMN reground.citation_rollup.status IS 'Verdict; see citation_statuses.';
COMMENT ON COLUMN reground.citation_rollup.lost_stage IS 'The first stage whose factor is 0.';
COMMENT ON COLUMN reground.citation_rollup.citations IS 'How many.';
