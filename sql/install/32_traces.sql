-- What became of every candidate of a turn. One row a turn with arrays: 70 candidates take a fifth of the room of 70 rows.
-- A fixed ring of partitions, a week each, because partitions made at run time do not survive dump and restore:
-- retention truncates the oldest. Partitions are read through the parent only, so row-level security always applies.

CREATE FUNCTION reground._trace_bucket(traced_at timestamptz) RETURNS smallint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (pg_catalog.floor(pg_catalog.date_part('epoch', traced_at) / 604800)::bigint % 16)::smallint;
COMMENT ON FUNCTION reground._trace_bucket(timestamptz) IS 'The partition of turn_traces that holds a moment: the week since 1970, modulo 16.';

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
COMMENT ON TABLE  reground.turn_traces IS 'Every candidate of every turn, as parallel arrays; read it through the view turn_candidates.';
COMMENT ON COLUMN reground.turn_traces.bucket IS 'Partition: the week since 1970, modulo 16.';
COMMENT ON COLUMN reground.turn_traces.turn_id IS 'Its turn.';
COMMENT ON COLUMN reground.turn_traces.tenant IS 'Whose it is.';
COMMENT ON COLUMN reground.turn_traces.traced_at IS 'When it was written.';
COMMENT ON COLUMN reground.turn_traces.passages IS 'The application''s ids of the passages.';
COMMENT ON COLUMN reground.turn_traces.doc_ids IS 'The application''s ids of the documents.';
COMMENT ON COLUMN reground.turn_traces.corpora IS 'Corpora.';
COMMENT ON COLUMN reground.turn_traces.members IS 'Ids of all passages merged into one, separated by U+001F.';
COMMENT ON COLUMN reground.turn_traces.origins IS 'fresh, carried, pinned, or graph for what only an edge of the knowledge graph brought in.';
COMMENT ON COLUMN reground.turn_traces.lexical_ranks IS 'Ranks in the lexical branch, from 1.';
COMMENT ON COLUMN reground.turn_traces.lexical_scores IS 'BM25 scores.';
COMMENT ON COLUMN reground.turn_traces.vector_ranks IS 'Ranks in the vector branch, from 1.';
COMMENT ON COLUMN reground.turn_traces.vector_distances IS 'Distances.';
COMMENT ON COLUMN reground.turn_traces.graph_ranks IS 'Ranks among the neighbours of the knowledge graph, from 1.';
COMMENT ON COLUMN reground.turn_traces.fused IS 'Scores by which the candidates were ordered, as the setting fusion makes them.';
COMMENT ON COLUMN reground.turn_traces.reranked IS 'The reranker''s scores.';
COMMENT ON COLUMN reground.turn_traces.relevance IS 'Scores against the turn''s query in [0, 1] (C3).';
COMMENT ON COLUMN reground.turn_traces.carry_scores IS 'Carry scores on entry.';
COMMENT ON COLUMN reground.turn_traces.dropped_stage IS 'Stage at which it left; NULL for those in the context.';
COMMENT ON COLUMN reground.turn_traces.reasons IS 'Why it left (I8).';
COMMENT ON COLUMN reground.turn_traces.replaced_by IS 'Passage that a twin or a merged neighbour gave way to.';
COMMENT ON COLUMN reground.turn_traces.markers IS 'Markers of those in the context.';
COMMENT ON COLUMN reground.turn_traces.coordinates IS 'Whether the passage knows its place in the document (pages, characters or ordinal).';
COMMENT ON COLUMN reground.turn_traces.hashes IS 'The first 8 bytes of the hash of each candidate''s text, one after the other, where provenance is hash or more; zeros where none is known.';
COMMENT ON COLUMN reground.turn_traces.retrievals IS 'Which retrieval of the turn each is of: 0 the one that it began with, else that of turn_retrievals; NULL as a whole where there was no other.';

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
COMMENT ON TABLE  reground.drift_events IS 'Where a component gave back something other than it was given (I7): a reranker that changed a text or lost an id.';
COMMENT ON COLUMN reground.drift_events.drift_id IS 'Key.';
COMMENT ON COLUMN reground.drift_events.turn_id IS 'Its turn.';
COMMENT ON COLUMN reground.drift_events.tenant IS 'Whose it is.';
COMMENT ON COLUMN reground.drift_events.event IS 'What happened.';
COMMENT ON COLUMN reground.drift_events.severity IS 'minor, major or critical: how much of the text was changed.';
COMMENT ON COLUMN reground.drift_events.corpus IS 'Corpus of the passage.';
COMMENT ON COLUMN reground.drift_events.passage IS 'The passage that it was mapped back to; NULL where none fits.';
COMMENT ON COLUMN reground.drift_events.original_hash IS 'Content hash of what was sent.';
COMMENT ON COLUMN reground.drift_events.returned_hash IS 'Content hash of what came back.';
COMMENT ON COLUMN reground.drift_events.created_at IS 'When.';
