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
COMMENT ON TABLE  reground.probes IS 'Questions whose source is known (I11); put_probe writes them, run_probes sends them through the pipeline.';
COMMENT ON COLUMN reground.probes.tenant IS 'Whose it is.';
COMMENT ON COLUMN reground.probes.probe IS 'Name.';
COMMENT ON COLUMN reground.probes.corpus IS 'Where it asks.';
COMMENT ON COLUMN reground.probes.query IS 'The question.';
COMMENT ON COLUMN reground.probes.embedding IS 'Its embedding.';
COMMENT ON COLUMN reground.probes.filter IS 'Its filter.';
COMMENT ON COLUMN reground.probes.settings IS 'Its settings, over those of the corpus.';
COMMENT ON COLUMN reground.probes.doc_id IS 'The document that must be in its context.';
COMMENT ON COLUMN reground.probes.chunk_id IS 'The passage that must be; NULL: any of the document.';
COMMENT ON COLUMN reground.probes.created_at IS 'When it was first put.';

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
COMMENT ON TABLE  reground.probe_results IS 'What became of the probes, a row each time.';
COMMENT ON COLUMN reground.probe_results.tenant IS 'Whose it is.';
COMMENT ON COLUMN reground.probe_results.probe IS 'The probe.';
COMMENT ON COLUMN reground.probe_results.run_at IS 'When it was sent.';
COMMENT ON COLUMN reground.probe_results.found IS 'Whether its source was in the context.';
COMMENT ON COLUMN reground.probe_results.position IS 'Place in the context, from 1.';
COMMENT ON COLUMN reground.probe_results.lost_stage IS 'Stage that lost it: document or chunk where it is gone, retrieval where no branch found it, else where the candidate left.';
COMMENT ON COLUMN reground.probe_results.reason IS 'Why (I8); NULL where no branch found it.';
