-- What the levels of provenance (I10) let an auditor ask: whether what a turn was made of is still what it was, and how alike its
-- sources were.

CREATE FUNCTION reground.verify_turn(turn_id bigint)
    RETURNS TABLE (corpus text, doc_id text, chunk_id text, marker text, stored_hash text, current_hash text, content_state text)
    LANGUAGE c STABLE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'verify_turn_wrapper';
COMMENT ON FUNCTION reground.verify_turn(bigint) IS
'Compares the stored text hashes of a turn''s passages with their present texts, as the caller can read them: each source of the context, and each candidate with provenance hash or higher. content_state: unchanged, changed, gone (deleted or not visible) or unknown (the relation cannot be read). For reground_auditor. Errors: P0002 if the turn does not exist.';

CREATE FUNCTION reground._pair_index(position_a integer, position_b integer, source_count integer) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN position_a <> position_b THEN (least(position_a, position_b) - 1) * source_count - least(position_a, position_b) * (least(position_a, position_b) - 1) / 2
        + greatest(position_a, position_b) - least(position_a, position_b) END;
COMMENT ON FUNCTION reground._pair_index(integer, integer, integer) IS
'Internal: returns the index in turns.source_similarities of a pair of positions in the context; NULL for equal positions.';

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
COMMENT ON VIEW reground.citation_similarities IS 'Cosine similarities of the cited sources when the turn began, in [-1, 1], for turns with provenance semantic or higher. They do not say whether a source supports the claim.';
COMMENT ON COLUMN reground.citation_similarities.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.citation_similarities.turn_id IS 'Id of the turn.';
COMMENT ON COLUMN reground.citation_similarities.message_id IS 'Id of the answer.';
COMMENT ON COLUMN reground.citation_similarities.citation_id IS 'Id of the citation.';
COMMENT ON COLUMN reground.citation_similarities.citation_no IS 'Number of the citation within the answer, from 1.';
COMMENT ON COLUMN reground.citation_similarities.marker IS 'Marker of the cited source.';
COMMENT ON COLUMN reground.citation_similarities.corpus IS 'Name of the corpus.';
COMMENT ON COLUMN reground.citation_similarities.doc_id IS 'The application''s id of the document.';
COMMENT ON COLUMN reground.citation_similarities.chunk_id IS 'Id of the passage.';
COMMENT ON COLUMN reground.citation_similarities.query_similarity IS 'Similarity to the query; NULL without one of the embeddings.';
COMMENT ON COLUMN reground.citation_similarities.nearest_marker IS 'Marker of the most similar other source.';
COMMENT ON COLUMN reground.citation_similarities.nearest_similarity IS 'Similarity to that source.';
COMMENT ON COLUMN reground.citation_similarities.best_other_marker IS 'Marker of the other source that supports the claim best (message_citations).';
COMMENT ON COLUMN reground.citation_similarities.best_other_similarity IS 'Similarity to that source.';

CREATE FUNCTION reground.verify_chain(conversation_ref text)
    RETURNS TABLE (tenant text, link_no bigint, kind text, turn_no integer, turn_id bigint, message_id bigint, status text, detail text, linked_at timestamptz)
    LANGUAGE c STABLE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'verify_chain_wrapper';
COMMENT ON FUNCTION reground.verify_chain(text) IS
'Verifies the hash chain of a conversation, one row per link. status: ok; content_changed (detail names the part); content_erased (erased together with its salt); missing (the link, its turn or its answer is gone; link_no NULL: it never had a link); chain_broken (the link was changed or does not follow the previous one). No rows without provenance merkle. For reground_auditor, who sees all tenants. Errors: P0002 if the conversation does not exist.';

CREATE FUNCTION reground.run_retention(as_of timestamptz DEFAULT pg_catalog.now())
    RETURNS TABLE (relation text, rows bigint, action text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'run_retention_wrapper';
COMMENT ON FUNCTION reground.run_retention(timestamptz) IS
'Archives and removes traces and chain links older than reground.trace_retention_days, and archived turns older than reground.archive_retention_days (I19). Call it daily, in its own transaction. Returns one row per changed relation; the action "kept: not whole" counts conversations whose chain is not valid. For reground_admin. Errors: 42501 for a time in the future, except for superusers.';
