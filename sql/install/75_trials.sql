-- Probes: questions whose source is known.

CREATE TABLE reground.probes (
    tenant     text NOT NULL,
    probe      text NOT NULL CHECK (probe <> ''),
    corpus     text NOT NULL,
    query      text NOT NULL,
    embedding  real[],
    filter     jsonb,
    settings   jsonb NOT NULL DEFAULT '{}',
    doc_id     text NOT NULL,
    chunk_id   text,
    put_by     text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    PRIMARY KEY (tenant, probe)
);
COMMENT ON TABLE reground.probes IS 'Questions whose source is known, stored by put_probe and run by run_probes.';
COMMENT ON COLUMN reground.probes.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.probes.probe IS 'Name of the probe.';
COMMENT ON COLUMN reground.probes.corpus IS 'Corpus that is searched.';
COMMENT ON COLUMN reground.probes.query IS 'The question.';
COMMENT ON COLUMN reground.probes.embedding IS 'Embedding of the query; NULL without one.';
COMMENT ON COLUMN reground.probes.filter IS 'Filter on columns of the relation; NULL without one.';
COMMENT ON COLUMN reground.probes.settings IS 'Settings over those of the corpus.';
COMMENT ON COLUMN reground.probes.doc_id IS 'Document that the context must contain.';
COMMENT ON COLUMN reground.probes.chunk_id IS 'Passage that the context must contain; NULL for any passage of the document.';
COMMENT ON COLUMN reground.probes.put_by IS 'Role that stored the probe; maintenance runs the probe with the rights of this role.';
COMMENT ON COLUMN reground.probes.created_at IS 'When the probe was first stored.';

CREATE TABLE reground.probe_results (
    tenant     text NOT NULL,
    probe      text NOT NULL,
    run_at     timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    found      boolean NOT NULL,
    position   integer,
    lost_stage text,
    reason     text,
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
COMMENT ON COLUMN reground.probe_results.reason IS 'Why the candidate was dropped, gone if the corpus has no such passage, or cannot_be_asked; NULL if no branch found it.';

-- Shadow turns: turns repeated under other settings.

CREATE TABLE reground.shadow_turns (
    turn_id        bigint NOT NULL REFERENCES reground.turns ON DELETE CASCADE,
    label          text NOT NULL CHECK (label <> ''),
    tenant         text NOT NULL,
    corpus         text NOT NULL,
    settings       jsonb NOT NULL,
    context_tokens integer NOT NULL,
    search_us      integer,
    candidates     jsonb NOT NULL,
    shadowed_at    timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    PRIMARY KEY (turn_id, label)
);
CREATE INDEX shadow_turns_shadowed ON reground.shadow_turns USING brin (shadowed_at);
COMMENT ON TABLE reground.shadow_turns IS 'Turns repeated under other settings by shadow_turn, traced but never served, kept as long as traces. Read the views shadow_candidates and shadow_audit instead.';
COMMENT ON COLUMN reground.shadow_turns.turn_id IS 'Id of the served turn.';
COMMENT ON COLUMN reground.shadow_turns.label IS 'Label of the shadow turn, chosen by the application.';
COMMENT ON COLUMN reground.shadow_turns.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.shadow_turns.corpus IS 'Corpus that the shadow turn searched.';
COMMENT ON COLUMN reground.shadow_turns.settings IS 'All effective settings of the shadow turn.';
COMMENT ON COLUMN reground.shadow_turns.context_tokens IS 'Tokens (o200k_base) of the block of the shadow turn''s sources.';
COMMENT ON COLUMN reground.shadow_turns.search_us IS 'Duration of the search in microseconds; NULL if it reused sources.';
COMMENT ON COLUMN reground.shadow_turns.candidates IS 'Candidates of the shadow turn; with keep_candidates other than all, only those of its context.';
COMMENT ON COLUMN reground.shadow_turns.shadowed_at IS 'When shadow_turn was called.';

-- Dry runs and probes.

-- The type vector is in the schema of pgvector. Declare only functions in C under this search_path: they contain no operators.
SELECT pg_catalog.set_config('search_path', pg_catalog.concat('pg_catalog, ', e.extnamespace::regnamespace, ', pg_temp'), true)
FROM pg_catalog.pg_extension AS e WHERE e.extname = 'vector';
CREATE FUNCTION reground.dry_run_turn(query text, corpus text DEFAULT NULL, embedding vector DEFAULT NULL, filter jsonb DEFAULT NULL, settings jsonb DEFAULT NULL, conversation_ref text DEFAULT NULL,
    as_of timestamptz DEFAULT NULL, context_embedding vector DEFAULT NULL)
    RETURNS SETOF reground.turn_candidate
    LANGUAGE c STABLE PARALLEL UNSAFE COST 1000 ROWS 40 AS 'MODULE_PATHNAME', 'dry_run_turn_wrapper';
COMMENT ON FUNCTION reground.dry_run_turn IS
'Returns the candidates that begin_turn would have now, without writing. Without a conversation_ref the turn is the first of a conversation. A deferred rerank is skipped. as_of: as in begin_turn. Errors: P0002 if the conversation or corpus does not exist.';

CREATE FUNCTION reground.put_probe(probe text, corpus text, query text, doc_id text, chunk_id text DEFAULT NULL, embedding vector DEFAULT NULL, filter jsonb DEFAULT NULL, settings jsonb DEFAULT NULL)
    RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'put_probe_wrapper';
COMMENT ON FUNCTION reground.put_probe IS
'Stores a question with the document, or passage, that its context must contain; replaces the probe with the same name. Errors: 22023 for an invalid filter, embedding or setting, P0002 if the corpus does not exist.';

CREATE FUNCTION reground.drop_probe(probe text)
    RETURNS boolean LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'drop_probe_wrapper';
COMMENT ON FUNCTION reground.drop_probe(text) IS
'Deletes a probe with its results and returns whether it existed.';

CREATE FUNCTION reground.run_probes(corpus text DEFAULT NULL)
    RETURNS TABLE (probe text, corpus text, found boolean, "position" integer, lost_stage text, reason text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 20 AS 'MODULE_PATHNAME', 'run_probes_wrapper';
COMMENT ON FUNCTION reground.run_probes(text) IS
'Runs the tenant''s probes of a corpus, or all, as first turns with the rights of the caller, and stores the results in probe_results.';

-- Functions and views of shadow turns.

CREATE FUNCTION reground.shadow_turn(turn_id bigint, settings jsonb, label text DEFAULT 'shadow', corpus text DEFAULT NULL, embedding vector DEFAULT NULL, rewrite text DEFAULT NULL,
    context_embedding vector DEFAULT NULL)
    RETURNS SETOF reground.turn_candidate
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000 ROWS 40 AS 'MODULE_PATHNAME', 'shadow_turn_wrapper';
COMMENT ON FUNCTION reground.shadow_turn IS
'Repeats an open turn under other settings and stores the candidates under a label; the conversation does not change. settings override all settings of the turn; corpus, embedding, rewrite and context_embedding replace those of the turn. A second call with the label replaces the first. A deferred rerank is skipped. Errors: 22023 for an invalid setting, 55000 if the turn or a later one has ended, P0002 if the turn or corpus does not exist.';
SET LOCAL search_path = pg_catalog, pg_temp;

CREATE VIEW reground.shadow_candidates WITH (security_invoker = true) AS
    SELECT s.turn_id, s.label, s.tenant, c.candidate_no, c.corpus, c.doc_id, c.chunk_id, c.member_chunk_ids, c.origin, c.lexical_rank, c.lexical_score,
           c.vector_rank, c.vector_distance, c.graph_rank, c.fused_score, c.rerank_score, c.relevance, c.carry_score, c.in_context, c.dropped_stage, c.drop_reason,
           c.replaced_by, c.recency
    FROM reground.shadow_turns AS s,
         pg_catalog.jsonb_populate_recordset(NULL::reground.turn_candidate, s.candidates) AS c;
COMMENT ON VIEW reground.shadow_candidates IS 'Candidates of each shadow turn, with those columns of turn_candidates that a turn without markers has.';
COMMENT ON COLUMN reground.shadow_candidates.turn_id IS 'Id of the served turn.';
COMMENT ON COLUMN reground.shadow_candidates.label IS 'Label of the shadow turn, chosen by the application.';
COMMENT ON COLUMN reground.shadow_candidates.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.shadow_candidates.candidate_no IS 'Number of the candidate within the turn, from 1; sources of the context come first.';
COMMENT ON COLUMN reground.shadow_candidates.corpus IS 'Name of the corpus.';
COMMENT ON COLUMN reground.shadow_candidates.doc_id IS 'The application''s id of the document.';
COMMENT ON COLUMN reground.shadow_candidates.chunk_id IS 'Id of the passage.';
COMMENT ON COLUMN reground.shadow_candidates.member_chunk_ids IS 'Ids of all passages that were merged into the candidate, its own included.';
COMMENT ON COLUMN reground.shadow_candidates.origin IS 'fresh, carried, pinned, or graph for candidates found only through the knowledge graph.';
COMMENT ON COLUMN reground.shadow_candidates.lexical_rank IS 'Rank in the lexical branch, from 1; NULL if not found there.';
COMMENT ON COLUMN reground.shadow_candidates.lexical_score IS 'BM25 score.';
COMMENT ON COLUMN reground.shadow_candidates.vector_rank IS 'Rank in the vector branch, from 1; NULL if not found there.';
COMMENT ON COLUMN reground.shadow_candidates.vector_distance IS 'Distance between the embeddings of passage and query.';
COMMENT ON COLUMN reground.shadow_candidates.graph_rank IS 'Rank among the passages of neighbours in the knowledge graph, from 1.';
COMMENT ON COLUMN reground.shadow_candidates.fused_score IS 'Score by which the candidates were ordered; see the setting fusion.';
COMMENT ON COLUMN reground.shadow_candidates.rerank_score IS 'Score of the reranker; NULL without one.';
COMMENT ON COLUMN reground.shadow_candidates.relevance IS 'Relevance to the query of the turn, 0 to 1.';
COMMENT ON COLUMN reground.shadow_candidates.carry_score IS 'Carry score when the turn began; NULL for sources that the conversation did not remember.';
COMMENT ON COLUMN reground.shadow_candidates.in_context IS 'Whether the candidate is in the context of the shadow turn.';
COMMENT ON COLUMN reground.shadow_candidates.dropped_stage IS 'Stage that dropped the candidate; NULL for sources of the context.';
COMMENT ON COLUMN reground.shadow_candidates.drop_reason IS 'Why the candidate was dropped.';
COMMENT ON COLUMN reground.shadow_candidates.replaced_by IS 'Id of the passage that replaced the candidate: a twin, or the passage that it was merged into.';
COMMENT ON COLUMN reground.shadow_candidates.recency IS 'Factor on the fused score for the age of the document; NULL if recency_half_life is off.';

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
        -- Only the sources that the turn began with; later retrievals have no shadow.
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
COMMENT ON VIEW reground.shadow_audit IS 'One row per shadow turn, compared with the served turn.';
COMMENT ON COLUMN reground.shadow_audit.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.shadow_audit.label IS 'Label of the shadow turn, chosen by the application.';
COMMENT ON COLUMN reground.shadow_audit.conversation_ref IS 'The application''s id of the conversation.';
COMMENT ON COLUMN reground.shadow_audit.turn_no IS 'Number of the turn within its conversation, from 1.';
COMMENT ON COLUMN reground.shadow_audit.turn_id IS 'Id of the turn.';
COMMENT ON COLUMN reground.shadow_audit.query IS 'The question.';
COMMENT ON COLUMN reground.shadow_audit.tags IS 'Tags of the turn.';
COMMENT ON COLUMN reground.shadow_audit.corpus IS 'Leading corpus of the served turn.';
COMMENT ON COLUMN reground.shadow_audit.shadow_corpus IS 'Corpus of the shadow turn.';
COMMENT ON COLUMN reground.shadow_audit.message_id IS 'Id of the current answer.';
COMMENT ON COLUMN reground.shadow_audit.model IS 'Model that wrote the answer, as given to end_turn.';
COMMENT ON COLUMN reground.shadow_audit.source_count IS 'Number of sources that the served turn began with; additional retrievals and their citations are excluded.';
COMMENT ON COLUMN reground.shadow_audit.shadow_source_count IS 'Number of sources in the context of the shadow turn.';
COMMENT ON COLUMN reground.shadow_audit.shared_source_count IS 'Number of served sources that share a passage with a source of the shadow turn.';
COMMENT ON COLUMN reground.shadow_audit.context_tokens IS 'Tokens (o200k_base) of the block of the sources.';
COMMENT ON COLUMN reground.shadow_audit.shadow_context_tokens IS 'Tokens of the block of the shadow turn''s sources.';
COMMENT ON COLUMN reground.shadow_audit.search_ms IS 'Milliseconds of the served search; NULL if the turn reused sources.';
COMMENT ON COLUMN reground.shadow_audit.shadow_search_ms IS 'Milliseconds of the shadow search; NULL if it reused sources.';
COMMENT ON COLUMN reground.shadow_audit.citation_count IS 'Holding citations of a document in the current answer; NULL without an answer.';
COMMENT ON COLUMN reground.shadow_audit.covered_count IS 'Number of these whose passage is in the context of the shadow turn.';
COMMENT ON COLUMN reground.shadow_audit.document_covered_count IS 'Number of these with any passage of their document in the context of the shadow turn, in any corpus.';
COMMENT ON COLUMN reground.shadow_audit.shadowed_at IS 'When shadow_turn was called.';

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
        CROSS JOIN LATERAL reground._wilson_interval(q.covered, q.citations) AS w
        ORDER BY q.label;
    END;
COMMENT ON FUNCTION reground.compare_shadows(timestamptz, timestamptz) IS
'Summarises the shadow turns per label. citations: holding citations of current answers; covered: those whose passage is in the shadow context (rate, with its 95 % Wilson interval low to high); document_covered: those with any passage of their document there. shared_source_share: share of served sources in the shadow context. Means of context tokens, medians of search times. since, until: times of shadow_turn. For reground_auditor.';
