-- What became of every candidate of a turn. One row a turn with arrays: 70 candidates take a fifth of the room of 70 rows.
-- A fixed ring of partitions, a week each, because partitions made at run time do not survive dump and restore:
-- retention truncates the oldest. Partitions are read through the parent only, so row-level security always applies.

CREATE FUNCTION reground._trace_bucket(traced_at timestamptz) RETURNS smallint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (pg_catalog.floor(pg_catalog.date_part('epoch', traced_at) / 604800)::bigint % 16)::smallint;
COMMENT ON FUNCTION reground._trace_bucket(timestamptz) IS
'Internal: returns the partition of turn_traces for a time: weeks since 1970, modulo 16.';

CREATE TABLE reground.turn_traces (
    bucket           smallint NOT NULL,
    turn_id          bigint NOT NULL,
    tenant           text NOT NULL,
    traced_at        timestamptz NOT NULL DEFAULT pg_catalog.now(),
    chunk_ids        text[] NOT NULL,
    doc_ids          text[] NOT NULL,
    corpora          text[] NOT NULL,
    member_chunk_ids text[] NOT NULL,
    origins          text[] NOT NULL,
    lexical_ranks    integer[] NOT NULL,
    lexical_scores   double precision[] NOT NULL,
    vector_ranks     integer[] NOT NULL,
    vector_distances double precision[] NOT NULL,
    graph_ranks      integer[] NOT NULL,
    fused_scores     double precision[] NOT NULL,
    rerank_scores    double precision[] NOT NULL,
    relevances       double precision[] NOT NULL,
    carry_scores     double precision[] NOT NULL,
    dropped_stages   text[] NOT NULL,
    drop_reasons     text[] NOT NULL,
    replaced_by      text[] NOT NULL,
    markers          text[] NOT NULL,
    has_coordinates  boolean[] NOT NULL,
    hash_prefixes    bytea,
    retrieval_nos    integer[]
) PARTITION BY LIST (bucket);
COMMENT ON TABLE reground.turn_traces IS 'All candidates of each turn, as parallel arrays. Read the view turn_candidates instead.';
COMMENT ON COLUMN reground.turn_traces.bucket IS 'Partition: weeks since 1970, modulo 16.';
COMMENT ON COLUMN reground.turn_traces.turn_id IS 'Id of the turn.';
COMMENT ON COLUMN reground.turn_traces.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.turn_traces.traced_at IS 'When the trace was written.';
COMMENT ON COLUMN reground.turn_traces.chunk_ids IS 'Ids of the passages.';
COMMENT ON COLUMN reground.turn_traces.doc_ids IS 'Ids of the documents.';
COMMENT ON COLUMN reground.turn_traces.corpora IS 'Names of the corpora.';
COMMENT ON COLUMN reground.turn_traces.member_chunk_ids IS 'Ids of all passages merged into each candidate, separated by U+001F.';
COMMENT ON COLUMN reground.turn_traces.origins IS 'fresh, carried, pinned, added, or graph for candidates found only through the knowledge graph.';
COMMENT ON COLUMN reground.turn_traces.lexical_ranks IS 'Ranks in the lexical branch, from 1.';
COMMENT ON COLUMN reground.turn_traces.lexical_scores IS 'BM25 scores.';
COMMENT ON COLUMN reground.turn_traces.vector_ranks IS 'Ranks in the vector branch, from 1.';
COMMENT ON COLUMN reground.turn_traces.vector_distances IS 'Distances between the embeddings of passage and query.';
COMMENT ON COLUMN reground.turn_traces.graph_ranks IS 'Ranks among the passages of neighbours in the knowledge graph, from 1.';
COMMENT ON COLUMN reground.turn_traces.fused_scores IS 'Scores by which the candidates were ordered; see the setting fusion.';
COMMENT ON COLUMN reground.turn_traces.rerank_scores IS 'Scores of the reranker.';
COMMENT ON COLUMN reground.turn_traces.relevances IS 'Relevance to the query, 0 to 1 (C3).';
COMMENT ON COLUMN reground.turn_traces.carry_scores IS 'Carry scores when the turn began.';
COMMENT ON COLUMN reground.turn_traces.dropped_stages IS 'Stage that dropped each candidate; NULL for sources of the context.';
COMMENT ON COLUMN reground.turn_traces.drop_reasons IS 'Why each candidate was dropped (I8).';
COMMENT ON COLUMN reground.turn_traces.replaced_by IS 'Passage that replaced each candidate: a twin, or the passage that it was merged into.';
COMMENT ON COLUMN reground.turn_traces.markers IS 'Markers of the sources of the context.';
COMMENT ON COLUMN reground.turn_traces.has_coordinates IS 'Whether the passage has a position in its document (pages, characters or ordinal).';
COMMENT ON COLUMN reground.turn_traces.hash_prefixes IS 'First 8 bytes of the hash of each candidate''s text, concatenated, with provenance hash or higher; zeros if unknown.';
COMMENT ON COLUMN reground.turn_traces.retrieval_nos IS 'Number of the retrieval that found each candidate: 0 for the beginning of the turn, otherwise that of turn_retrievals; NULL without further retrievals.';

DO $$
DECLARE
    partition text;
BEGIN
    FOR bucket IN 0..15 LOOP
        partition := pg_catalog.format('turn_traces_%s', pg_catalog.lpad(bucket::text, 2, '0'));
        EXECUTE pg_catalog.format(
            'CREATE TABLE reground.%I PARTITION OF reground.turn_traces (PRIMARY KEY (turn_id)) FOR VALUES IN (%s)', partition, bucket);
        EXECUTE pg_catalog.format('COMMENT ON TABLE reground.%I IS %L', partition,
            pg_catalog.format('Week %s of the ring of turn_traces; read the parent.', bucket));
        EXECUTE pg_catalog.format('ALTER TABLE reground.%I ENABLE ROW LEVEL SECURITY', partition);
        PERFORM pg_catalog.pg_extension_config_dump(pg_catalog.format('reground.%I', partition)::regclass, '');
    END LOOP;
END
$$;

CREATE TABLE reground.drift_events (
    drift_id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    turn_id       bigint NOT NULL REFERENCES reground.turns ON DELETE CASCADE,
    tenant        text NOT NULL,
    event         text NOT NULL,
    severity      text NOT NULL,
    corpus        text,
    chunk_id      text,
    original_hash text,
    returned_hash text,
    created_at    timestamptz NOT NULL DEFAULT pg_catalog.now()
);
CREATE INDEX drift_events_turn ON reground.drift_events (turn_id);
COMMENT ON TABLE reground.drift_events IS 'Results of a reranker that differ from its input (I7): a changed text or a lost id.';
COMMENT ON COLUMN reground.drift_events.drift_id IS 'Key.';
COMMENT ON COLUMN reground.drift_events.turn_id IS 'Id of the turn.';
COMMENT ON COLUMN reground.drift_events.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.drift_events.event IS 'Kind of difference.';
COMMENT ON COLUMN reground.drift_events.severity IS 'minor, major or critical, by how much of the text changed.';
COMMENT ON COLUMN reground.drift_events.corpus IS 'Name of the corpus.';
COMMENT ON COLUMN reground.drift_events.chunk_id IS 'Passage that the result was mapped to; NULL if none fits.';
COMMENT ON COLUMN reground.drift_events.original_hash IS 'Hash of the text sent.';
COMMENT ON COLUMN reground.drift_events.returned_hash IS 'Hash of the text returned.';
COMMENT ON COLUMN reground.drift_events.created_at IS 'When the event was recorded.';
