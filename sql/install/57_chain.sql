-- What the levels of provenance (I10) let an auditor ask: whether what a turn was made of is still what it was, and how alike its
-- sources were.

CREATE FUNCTION reground.verify_turn(turn_id bigint)
    RETURNS TABLE (corpus text, doc_id text, chunk_id text, marker text, stored_hash text, current_hash text, content_state text)
    LANGUAGE c STABLE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'verify_turn_wrapper';
COMMENT ON FUNCTION reground.verify_turn(bigint) IS
'Whether the passages that a turn saw are still what they were (for the auditor): a row for each source of its context, and for each other candidate where provenance was hash or more, with the hash of its text then (of candidates its first 8 bytes) and of what stands under its key now. state is unchanged, changed, gone (deleted, or not for the caller to see: relations are read as the caller), or unknown where the relation cannot be read. Reads only, works on a standby. P0002 when there is no such turn.';

CREATE FUNCTION reground._pair_index(position_a integer, position_b integer, source_count integer) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN position_a <> position_b THEN (least(position_a, position_b) - 1) * source_count - least(position_a, position_b) * (least(position_a, position_b) - 1) / 2
        + greatest(position_a, position_b) - least(position_a, position_b) END;
COMMENT ON FUNCTION reground._pair_index(integer, integer, integer) IS 'The place of two sources, by their positions from 1, in turns.source_similarities of a context of so many; NULL for one and the same.';

CREATE VIEW reground.citation_similarities WITH (security_invoker = true) AS
    SELECT c.tenant, c.turn_id, c.message_id, c.citation_id, c.citation_no, k.marker, c.corpus, c.doc_id, c.chunk_id, t.query_similarities[k.position] AS query_similarity,
           n.marker AS nearest_marker, n.similarity AS nearest_similarity, c.best_other_marker,
           t.source_similarities[reground._pair_index(k.position, b.position, pg_catalog.jsonb_array_length(t.context))] AS best_other_similarity
    FROM reground.message_citations AS c
    JOIN reground.turns AS t ON t.turn_id = c.turn_id
    CROSS JOIN LATERAL (
        SELECT e.source ->> 'marker' AS marker, e.position::integer AS position FROM pg_catalog.jsonb_array_elements(t.context) WITH ORDINALITY AS e(source, position)
        WHERE e.source #>> '{passage,corpus}' = c.corpus AND e.source #>> '{passage,doc_id}' = c.doc_id AND (e.source #>> '{passage,chunk_id}' = c.chunk_id OR e.source -> 'member_chunk_ids' ? c.chunk_id)
        ORDER BY e.source ->> 'marker' = c.marker DESC NULLS LAST, e.position LIMIT 1) AS k
    LEFT JOIN LATERAL (
        SELECT e.source ->> 'marker' AS marker, t.source_similarities[reground._pair_index(k.position, e.position::integer, pg_catalog.jsonb_array_length(t.context))] AS similarity
        FROM pg_catalog.jsonb_array_elements(t.context) WITH ORDINALITY AS e(source, position)
        WHERE t.source_similarities[reground._pair_index(k.position, e.position::integer, pg_catalog.jsonb_array_length(t.context))] IS NOT NULL
        ORDER BY 2 DESC, e.position LIMIT 1) AS n ON true
    LEFT JOIN LATERAL (
        SELECT e.position::integer AS position FROM pg_catalog.jsonb_array_elements(t.context) WITH ORDINALITY AS e(source, position) WHERE e.source ->> 'marker' = c.best_other_marker LIMIT 1) AS b ON true
    WHERE t.query_similarities IS NOT NULL OR t.source_similarities IS NOT NULL;
COMMENT ON VIEW reground.citation_similarities IS 'A row for each citation of a source of the context, in turns with provenance semantic or more: how alike the source was to the query and to the other sources, as cosines of embeddings in [-1, 1] when the turn began. It says which source could have been cited as well, and not whether the source says what the claim says.';
COMMENT ON COLUMN reground.citation_similarities.marker IS 'The source that is cited.';
COMMENT ON COLUMN reground.citation_similarities.query_similarity IS 'Its cosine to the query; NULL where one of them has no embedding.';
COMMENT ON COLUMN reground.citation_similarities.nearest IS 'The other source that is most like it.';
COMMENT ON COLUMN reground.citation_similarities.nearest_similarity IS 'Their cosine: near 1, a twin in other words.';
COMMENT ON COLUMN reground.citation_similarities.best_other_marker IS 'The other source that supports the claim best, by words (message_citations.best_other_marker).';
COMMENT ON COLUMN reground.citation_similarities.best_other_similarity IS 'Its cosine to the cited one.';

CREATE FUNCTION reground.verify_chain(conversation_ref text)
    RETURNS TABLE (tenant text, link_no bigint, kind text, turn_no integer, turn_id bigint, message_id bigint, status text, detail text, linked_at timestamptz)
    LANGUAGE c STABLE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'verify_chain_wrapper';
COMMENT ON FUNCTION reground.verify_chain(text) IS
'Holds the chain of a conversation against itself and against what it is about (for the auditor, of every tenant with a conversation of that name): a row for each link, and for each that is missing. status is ok; content_changed (what was asked, shown, answered or found of it is not what it was; detail says which part); content_erased (a part was erased with its salt, the rest is what it was); missing (the link, its turn or its answer is gone; without link_no: a turn or an answer that never got a link); chain_broken (the link was changed, or does not follow from the one before). Begins behind the checkpoint that retention has left (chain_checkpoints). No row where no turn of the conversation asked for provenance merkle. Reads only, works on a standby. P0002 when there is no such conversation.';

CREATE FUNCTION reground.run_retention(as_of timestamptz DEFAULT pg_catalog.now())
    RETURNS TABLE (relation text, rows bigint, action text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'run_retention_wrapper';
COMMENT ON FUNCTION reground.run_retention(timestamptz) IS
'Archives and removes what is older than reground.trace_retention_days, and archived rows of turns that began longer than reground.archive_retention_days ago (I19), for reground_admin; call it daily, in a transaction of its own. Traces leave a row in turn_archive; links of a chain leave a checkpoint, and stay where the chain is not whole. A partition of traces that are all old is truncated where nobody is using it, else its old rows are deleted. Turns, messages and citations stay. A row for each relation with what was done to how many rows; none where nothing was old. kept: not whole counts conversations. A moment later than now is a superuser''s to give (42501).';
