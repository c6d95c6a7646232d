-- Shadow turns: what would be lost, and won, under other settings, before anybody is served by them.

-- The type vector is in the schema of pgvector.
SELECT pg_catalog.set_config('search_path', pg_catalog.concat('pg_catalog, ', e.extnamespace::regnamespace, ', pg_temp'), true)
FROM pg_catalog.pg_extension AS e WHERE e.extname = 'vector';
CREATE FUNCTION reground.shadow_turn(turn bigint, settings jsonb, label text DEFAULT 'shadow', corpus text DEFAULT NULL, embedding vector DEFAULT NULL, rewrite text DEFAULT NULL)
    RETURNS TABLE (candidate_no integer, corpus text, doc_id text, chunk_id text, members text[], origin text, lexical_rank integer, lexical_score double precision,
                   vector_rank integer, vector_distance double precision, graph_rank integer, fused double precision, reranked double precision, relevance double precision, carry_score double precision,
                   in_context boolean, left_at text, reason text, gave_way_to text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'shadow_turn_wrapper';
SET LOCAL search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION reground.shadow_turn IS
'Asks an open turn again under other settings, from what its conversation remembered then, and keeps what came of it under a label beside the turn (I16): nothing of it is served, and the conversation does not change. settings go over all that the turn itself had; corpus, embedding and rewrite stand in place of the turn''s. Returns the candidates as rehearse_turn does; a second call of that label takes the place of the first; a deferred rerank is left out. Call it while the model writes. P0002 for a turn or corpus that there is not, 55000 once the turn or a later one has ended, 22023 for settings that there are not.';

CREATE VIEW reground.shadow_candidates WITH (security_invoker = true) AS
    SELECT s.turn_id, s.label, s.tenant, c.*
    FROM reground.shadow_turns AS s,
         pg_catalog.jsonb_to_recordset(s.candidates) AS c(candidate_no integer, corpus text, doc_id text, chunk_id text, members text[], origin text, lexical_rank integer,
             lexical_score double precision, vector_rank integer, vector_distance double precision, graph_rank integer, fused double precision, reranked double precision,
             relevance double precision, carry_score double precision, in_context boolean, left_at text, reason text, gave_way_to text);
COMMENT ON VIEW reground.shadow_candidates IS 'Every candidate of every shadow turn, named as those of turn_candidates.';

CREATE VIEW reground.shadow_audit WITH (security_invoker = true) AS
    SELECT t.tenant, s.label, v.external_id AS conversation, t.number AS turn, t.turn_id, t.query, t.tags, t.corpus, s.corpus AS shadow_corpus, m.message_id, m.model,
           b.sources, o.sources AS shadow_sources, b.shared AS shared_sources, t.context_tokens, s.context_tokens AS shadow_tokens,
           t.refresh_us / 1000.0::double precision AS refresh_ms, s.refresh_us / 1000.0::double precision AS shadow_refresh_ms,
           c.citations, c.kept, c.kept_documents, s.shadowed_at
    FROM reground.shadow_turns AS s
    JOIN reground.turns AS t USING (turn_id)
    JOIN reground.conversations AS v USING (conversation_id)
    CROSS JOIN LATERAL (
        SELECT pg_catalog.count(*) AS sources, coalesce(pg_catalog.jsonb_agg(x.source), '[]') AS context
        FROM pg_catalog.jsonb_array_elements(s.candidates) AS x(source) WHERE (x.source -> 'in_context')::boolean) AS o
    CROSS JOIN LATERAL (
        -- What the turn began with: what an agent added since, no shadow was asked for.
        SELECT pg_catalog.count(*) AS sources, pg_catalog.array_agg(e ->> 'marker') AS markers, pg_catalog.count(*) FILTER (WHERE EXISTS (SELECT FROM pg_catalog.jsonb_array_elements(o.context) AS x(source)
                      WHERE x.source ->> 'corpus' = e #>> '{passage,corpus}' AND x.source ->> 'doc_id' = e #>> '{passage,doc_id}'
                          AND x.source -> 'members' ?| ARRAY(SELECT pg_catalog.jsonb_array_elements_text(e -> 'members')))) AS shared
        FROM pg_catalog.jsonb_array_elements(t.context) AS e WHERE NOT e ? 'retrieval') AS b
    LEFT JOIN reground.messages AS m ON m.turn_id = t.turn_id AND NOT m.superseded
    LEFT JOIN LATERAL (
        SELECT pg_catalog.count(*) AS citations,
               pg_catalog.count(*) FILTER (WHERE EXISTS (
                   SELECT FROM pg_catalog.jsonb_array_elements(o.context) AS x(source)
                   WHERE x.source ->> 'corpus' = c.corpus AND x.source ->> 'doc_id' = c.doc_id AND (c.chunk_id IS NULL OR x.source -> 'members' ? c.chunk_id))) AS kept,
               pg_catalog.count(*) FILTER (WHERE EXISTS (
                   SELECT FROM pg_catalog.jsonb_array_elements(o.context) AS x(source) WHERE x.source ->> 'doc_id' = c.doc_id)) AS kept_documents
        FROM reground.message_citations AS c WHERE c.message_id = m.message_id AND c.holds AND c.doc_id IS NOT NULL
            AND (c.marker = ANY (b.markers) OR NOT EXISTS (SELECT FROM pg_catalog.jsonb_array_elements(t.context) AS e WHERE e ->> 'marker' = c.marker))) AS c ON m.message_id IS NOT NULL;
COMMENT ON VIEW reground.shadow_audit IS 'A row a shadow turn, beside the turn that was served: their contexts, and which of the citations that hold in the answer that stands the shadow would have had a source for.';
COMMENT ON COLUMN reground.shadow_audit.sources IS 'Sources that the turn began with; what further retrievals added is left out, with the citations of it.';
COMMENT ON COLUMN reground.shadow_audit.shared_sources IS 'Of these, those that have a passage in common with one of the shadow''s.';
COMMENT ON COLUMN reground.shadow_audit.refresh_ms IS 'Milliseconds that the search took; NULL where the turn kept sources.';
COMMENT ON COLUMN reground.shadow_audit.citations IS 'Citations of a document that hold, in the answer that stands; NULL without an answer.';
COMMENT ON COLUMN reground.shadow_audit.kept IS 'Of these, those whose passage is in the shadow''s context.';
COMMENT ON COLUMN reground.shadow_audit.kept_documents IS 'Of these, those of whose document a passage is there, whatever the corpus: what to read where the shadow searched a corpus of other passages.';

CREATE FUNCTION reground.compare_shadows(since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL)
    RETURNS TABLE (label text, turns bigint, answered bigint, citations bigint, kept bigint, rate double precision, low double precision, high double precision, kept_documents bigint,
                   shared_sources double precision, tokens double precision, shadow_tokens double precision, refresh_ms double precision, shadow_refresh_ms double precision)
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
        SELECT q.label, q.turns, q.answered, q.citations, q.kept, q.kept::double precision / nullif(q.citations, 0), w.low, w.high, q.kept_documents,
               q.shared_sources, q.tokens, q.shadow_tokens, q.refresh_ms, q.shadow_refresh_ms
        FROM (
            SELECT a.label, pg_catalog.count(*) AS turns, pg_catalog.count(a.message_id) AS answered, coalesce(pg_catalog.sum(a.citations), 0)::bigint AS citations,
                   coalesce(pg_catalog.sum(a.kept), 0)::bigint AS kept, coalesce(pg_catalog.sum(a.kept_documents), 0)::bigint AS kept_documents,
                   pg_catalog.sum(a.shared_sources)::double precision / nullif(pg_catalog.sum(a.sources), 0) AS shared_sources,
                   pg_catalog.avg(a.context_tokens)::double precision AS tokens, pg_catalog.avg(a.shadow_tokens)::double precision AS shadow_tokens,
                   pg_catalog.percentile_cont(0.5) WITHIN GROUP (ORDER BY a.refresh_ms) AS refresh_ms,
                   pg_catalog.percentile_cont(0.5) WITHIN GROUP (ORDER BY a.shadow_refresh_ms) AS shadow_refresh_ms
            FROM reground.shadow_audit AS a
            WHERE (compare_shadows.since IS NULL OR a.shadowed_at >= compare_shadows.since) AND (compare_shadows.until IS NULL OR a.shadowed_at < compare_shadows.until)
            GROUP BY a.label) AS q
        CROSS JOIN LATERAL reground.wilson_interval(q.kept, q.citations) AS w
        ORDER BY q.label;
    END;
COMMENT ON FUNCTION reground.compare_shadows(timestamptz, timestamptz) IS
'What each label of shadow turns would have kept of the answers that were given, a row a label (for the auditor): citations that hold in answers that stand, those whose passage the shadow''s context has (kept; rate with its Wilson interval at 95 %), and those of whose document it has any (kept_documents); shared_sources, the share of served sources that it has too; mean tokens of both contexts; median milliseconds of both searches. What it would have won is not seen: the answer was written from the served context. since and until are about when they were shadowed. A tenant''s rows are its own, an auditor sees all.';
