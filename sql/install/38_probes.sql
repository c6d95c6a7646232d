-- Questions whose source is known, and what became of them.

CREATE TABLE reground.probes (
    tenant          text NOT NULL,
    probe           text NOT NULL CHECK (probe <> ''),
    corpus          text NOT NULL,
    query           text NOT NULL,
    embedding real[],
    filter          jsonb,
    settings        jsonb NOT NULL DEFAULT '{}',
    doc_id          text NOT NULL,
    chunk_id        text,
    created_at      timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    PRIMARY KEY (tenant, probe)
);
COMMENT ON TABLE reground.probes IS 'Questions whose source is known (I11), stored by put_probe and run by run_probes.';
COMMENT ON COLUMN reground.probes.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.probes.probe IS 'Name of the probe.';
COMMENT ON COLUMN reground.probes.corpus IS 'Corpus that is searched.';
COMMENT ON COLUMN reground.probes.query IS 'The question.';
COMMENT ON COLUMN reground.probes.embedding IS 'Embedding of the query; NULL without one.';
COMMENT ON COLUMN reground.probes.filter IS 'Filter on columns of the relation; NULL without one.';
COMMENT ON COLUMN reground.probes.settings IS 'Settings over those of the corpus.';
COMMENT ON COLUMN reground.probes.doc_id IS 'Document that the context must contain.';
COMMENT ON COLUMN reground.probes.chunk_id IS 'Passage that the context must contain; NULL for any passage of the document.';
COMMENT ON COLUMN reground.probes.created_at IS 'When the probe was first stored.';

CREATE TABLE reground.probe_results (
    tenant   text NOT NULL,
    probe    text NOT NULL,
    run_at   timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    found    boolean NOT NULL,
    position integer,
    lost_stage  text,
    reason   text,
    PRIMARY KEY (tenant, probe, run_at),
    FOREIGN KEY (tenant, probe) REFERENCES reground.probes ON DELETE CASCADE
);
COMMENT ON TABLE reground.probe_results IS 'Result of each run of a probe.';
COMMENT ON COLUMN reground.probe_results.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.probe_results.probe IS 'Name of the probe.';
COMMENT ON COLUMN reground.probe_results.run_at IS 'When the probe was run.';
COMMENT ON COLUMN reground.probe_results.found IS 'Whether the source was in the context.';
COMMENT ON COLUMN reground.probe_results.position IS 'Position in the context, from 1.';
COMMENT ON COLUMN reground.probe_results.lost_stage IS 'Stage that lost the source: document or chunk if it no longer exists, retrieval if no branch found it, otherwise the stage that dropped the candidate.';
COMMENT ON COLUMN reground.probe_results.reason IS 'Why the candidate was dropped (I8); NULL if no branch found it.';
