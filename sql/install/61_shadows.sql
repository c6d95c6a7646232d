-- Shadow turns: what would be lost, and won, under other settings, before anybody is served by them.

CREATE FUNCTION reground.shadow_turn(turn_id bigint, settings jsonb, label text DEFAULT 'shadow', corpus text DEFAULT NULL, embedding vector DEFAULT NULL, rewrite text DEFAULT NULL)
    RETURNS SETOF reground.turn_candidate
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'shadow_turn_wrapper';
COMMENT ON FUNCTION reground.shadow_turn IS
'Asks an open turn again under other settings, from what its conversation remembered then, and keeps what came of it under a label beside the turn (I16): nothing of it is served, and the conversation does not change. settings go over all that the turn itself had; corpus, embedding and rewrite stand in place of the turn''s. Returns the candidates as dry_run_turn does; a second call of that label takes the place of the first; a deferred rerank is left out. Call it while the model writes. P0002 for a turn or corpus that there is not, 55000 once the turn or a later one has ended, 22023 for settings that there are not.';

CREATE VIEW reground.shadow_candidates WITH (security_invoker = true) AS
    SELECT s.turn_id, s.label, s.tenant, c.candidate_no, c.corpus, c.doc_id, c.chunk_id, c.member_chunk_ids, c.origin, c.lexical_rank, c.lexical_score,
           c.vector_rank, c.vector_distance, c.graph_rank, c.fused_score, c.rerank_score, c.relevance, c.carry_score, c.in_context, c.dropped_stage, c.drop_reason,
           c.replaced_by
    FROM reground.shadow_turns AS s,
         pg_catalog.jsonb_populate_recordset(NULL::reground.turn_candidate, s.candidates) AS c;
COMMENT ON VIEW reground.shadow_candidates IS 'Every candidate of every shadow turn, named as those of turn_candidates.';

CREATE VIEW reground.shadow_audit WITH (security_invoker = true) AS
    SELECT t.tenant, s.label, v.conversation_ref, t.turn_no, t.turn_id, t.query, t.tags, t.corpus, s.corpus AS shadow_corpus, m.message_id, m.model,
           b.source_count, o.source_count AS shadow_source_count, b.shared AS shared_source_count, t.context_tokens, s.context_tokens AS shadow_context_tokens,
           t.search_us / 1000.0::double precision AS search_ms, s.search_us / 1000.0::double precision AS shadow_search_ms,
           c.citation_count, c.covered_count, c.document_covered_count, s.shadowed_at
    FROM reground.shadow_turns AS s
    JOIN reground.turns AS t USING (turn_id)
    JOIN reground.conversations AS v USING (conversation_id)
    CROSS JOIN LATERAL (
        SELECT pg_catalog.count(*) AS source_count, coalesce(pg_catalog.jsonb_agg(x.source), '[]') AS context
        FROM pg_catalog.jsonb_array_elements(s.candidates) AS x(source) WHERE (x.source -> 'in_context')::boolean) AS o
    CROSS JOIN LATERAL (
        -- What the turn began with: what an agent added since, no shadow was asked for.
        SELECT pg_catalog.count(*) AS source_count, pg_catalog.array_agg(e ->> 'marker') AS markers, pg_catalog.count(*) FILTER (WHERE EXISTS (SELECT FROM pg_catalog.jsonb_array_elements(o.context) AS x(source)
                      WHERE x.source ->> 'corpus' = e #>> '{passage,corpus}' AND x.source ->> 'doc_id' = e #>> '{passage,doc_id}'
                          AND x.source -> 'member_chunk_ids' ?| ARRAY(SELECT pg_catalog.jsonb_array_elements_text(e -> 'member_chunk_ids')))) AS shared
        FROM pg_catalog.jsonb_array_elements(t.context) AS e WHERE NOT e ? 'retrieval_no') AS b
    LEFT JOIN reground.messages AS m ON m.turn_id = t.turn_id AND NOT m.superseded
    LEFT JOIN LATERAL (
        SELECT pg_catalog.count(*) AS citation_count,
               pg_catalog.count(*) FILTER (WHERE EXISTS (
                   SELECT FROM pg_catalog.jsonb_array_elements(o.context) AS x(source)
                   WHERE x.source ->> 'corpus' = c.corpus AND x.source ->> 'doc_id' = c.doc_id AND (c.chunk_id IS NULL OR x.source -> 'member_chunk_ids' ? c.chunk_id))) AS covered_count,
               pg_catalog.count(*) FILTER (WHERE EXISTS (
                   SELECT FROM pg_catalog.jsonb_array_elements(o.context) AS x(source) WHERE x.source ->> 'doc_id' = c.doc_id)) AS document_covered_count
        FROM reground.message_citations AS c WHERE c.message_id = m.message_id AND c.holds AND c.doc_id IS NOT NULL
            AND (c.marker = ANY (b.markers) OR NOT EXISTS (SELECT FROM pg_catalog.jsonb_array_elements(t.context) AS e WHERE e ->> 'marker' = c.marker))) AS c ON m.message_id IS NOT NULL;
COMMENT ON VIEW reground.shadow_audit IS 'A row a shadow turn, beside the turn that was served: their contexts, and which of the citations that hold in the answer that stands the shadow would have had a source for.';
COMMENT ON COLUMN reground.shadow_audit.sources IS 'Sources that the turn began with; what further retrievals added is left out, with the citations of it.';
COMMENT ON COLUMN reground.shadow_audit.shared_sources IS 'Of these, those that have a passage in common with one of the shadow''s.';
COMMENT ON COLUMN reground.shadow_audit.search_ms IS 'Milliseconds that the search took; NULL where the turn kept sources.';
COMMENT ON COLUMN reground.shadow_audit.citations IS 'Citations of a document that hold, in the answer that stands; NULL without an answer.';
COMMENT ON COLUMN reground.shadow_audit.kept IS 'Of these, those whose passage is in the shadow''s context.';
COMMENT ON COLUMN reground.shadow_audit.kept_documents IS 'Of these, those of whose document a passage is there, whatever the corpus: what to read where the shadow searched a corpus of other passages.';

CREATE FUNCTION reground.compare_shadows(since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL)
    RETURNS TABLE (label text, turns bigint, answered bigint, citations bigint, covered bigint, rate double precision, low double precision, high double precision, document_covered bigint,
                   shared_source_share double precision, mean_context_tokens double precision, mean_shadow_context_tokens double precision,
                   median_search_ms double precision, median_shadow_search_ms double precision)
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
        SELECT q.label, q.turns, q.answered, q.citations, q.covered, q.covered::double precision / nullif(q.citations, 0), w.low, w.high, q.document_covered,
               q.shared_source_share, q.mean_context_tokens, q.mean_shadow_context_tokens, q.median_search_ms, q.median_shadow_search_ms
        FROM (
            SELECT a.label, pg_catalog.count(*) AS turns, pg_catalog.count(a.message_id) AS answered, coalesce(pg_catalog.sum(a.citation_count), 0)::bigint AS citations,
                   coalesce(pg_catalog.sum(a.covered_count), 0)::bigint AS covered, coalesce(pg_catalog.sum(a.document_covered_count), 0)::bigint AS document_covered,
                   pg_catalog.sum(a.shared_source_count)::double precision / nullif(pg_catalog.sum(a.source_count), 0) AS shared_source_share,
                   pg_catalog.avg(a.context_tokens)::double precision AS mean_context_tokens, pg_catalog.avg(a.shadow_context_tokens)::double precision AS mean_shadow_context_tokens,
                   pg_catalog.percentile_cont(0.5) WITHIN GROUP (ORDER BY a.search_ms) AS median_search_ms,
                   pg_catalog.percentile_cont(0.5) WITHIN GROUP (ORDER BY a.shadow_search_ms) AS median_shadow_search_ms
            FROM reground.shadow_audit AS a
            WHERE (compare_shadows.since IS NULL OR a.shadowed_at >= compare_shadows.since) AND (compare_shadows.until IS NULL OR a.shadowed_at < compare_shadows.until)
            GROUP BY a.label) AS q
        CROSS JOIN LATERAL reground.wilson_interval(q.covered, q.citations) AS w
        ORDER BY q.label;
    END;
COMMENT ON FUNCTION reground.compare_shadows(timestamptz, timestamptz) IS
'What each label of shadow turns would have kept of the answers that were given, a row a label (for the auditor): citations that hold in answers that stand, those whose passage the shadow''s context has (kept; rate with its Wilson interval at 95 %), and those of whose document it has any (kept_documents); shared_sources, the share of served sources that it has too; mean tokens of both contexts; median milliseconds of both searches. What it would have won is not seen: the answer was written from the served context. since and until are about when they were shadowed. A tenant''s rows are its own, an auditor sees all.';
