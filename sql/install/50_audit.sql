-- Views for analysts. Each runs with the rights of its reader, so that row-level security applies.

CREATE FUNCTION reground._source_state(tenant text, corpus text, doc_id text, version integer) RETURNS text
    LANGUAGE c STABLE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'source_state_wrapper';
COMMENT ON FUNCTION reground._source_state(text, text, text, integer) IS
'Internal: returns the state of a document since a version was cited: current, changed, deleted; NULL if its versions are not recorded, no version was shown, the tenant never cited it, or it is hidden from the caller.';

CREATE FUNCTION reground._cited_row(citation_id bigint)
    RETURNS TABLE (state text, version integer, modified_seconds double precision)
    LANGUAGE c STABLE PARALLEL UNSAFE ROWS 1 AS 'MODULE_PATHNAME', 'cited_row_wrapper';
COMMENT ON FUNCTION reground._cited_row(bigint) IS
'Internal: returns the state of the cited row of a registered table (current, changed or deleted), its present version and its time of change (seconds since 1970); NULLs for other sources, if the row cannot be read or is hidden from the caller, or if an auditor does not see every row of the table. A mapped version decides, otherwise a mapped time, otherwise the hash of the text.';

CREATE VIEW reground.citation_audit WITH (security_invoker = true) AS
    SELECT c.citation_id, v.tenant, v.conversation_ref, t.turn_no, c.turn_id, c.message_id, m.message_ref, m.model,
           t.tags || m.tags AS tags, t.query, c.citation_no, c.marker, c.raw, c.form, c.scope, c.corpus, c.doc_id, c.chunk_id,
           reground._unsealed(c.tenant, 'title', c.title) AS title, reground._unsealed(c.tenant, 'address', c.uri) AS uri, reground._unsealed(c.tenant, 'locator', c.locator) AS locator,
           c.claim, reground._unsealed(c.tenant, 'text', c.quote) AS quote,
           c.status, c.holds, c.hallucination_mode, c.score, c.coordinate_fidelity, c.support, c.support_parts, c.diagnostic, c.detail, c.best_other_marker, c.lost_stage, c.repaired,
           coalesce(reground._source_state(c.tenant, c.corpus, c.doc_id, c.source_version), (SELECT r.state FROM reground._cited_row(c.citation_id) AS r)) AS source_state,
           c.source_version, c.source_hash, m.superseded, c.answer_start, c.answer_end, m.created_at, t.origin, t.superseded AS turn_superseded
    FROM reground.message_citations AS c
    JOIN reground.messages AS m ON m.message_id = c.message_id AND m.repair_of IS NULL
    JOIN reground.turns AS t ON t.turn_id = m.turn_id
    -- Joined through messages, which has an index on the conversation, so that a filter on one conversation is fast.
    JOIN reground.conversations AS v ON v.conversation_id = m.conversation_id;
COMMENT ON VIEW reground.citation_audit IS 'One row per citation: verdict, question, model, and the state of the source since then.';
COMMENT ON COLUMN reground.citation_audit.citation_id IS 'Id of the citation.';
COMMENT ON COLUMN reground.citation_audit.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.citation_audit.conversation_ref IS 'The application''s id of the conversation.';
COMMENT ON COLUMN reground.citation_audit.turn_no IS 'Number of the turn within its conversation, from 1.';
COMMENT ON COLUMN reground.citation_audit.turn_id IS 'Id of the turn.';
COMMENT ON COLUMN reground.citation_audit.message_id IS 'Id of the answer.';
COMMENT ON COLUMN reground.citation_audit.message_ref IS 'The application''s id of the answer.';
COMMENT ON COLUMN reground.citation_audit.model IS 'Model that wrote the answer, as given to end_turn.';
COMMENT ON COLUMN reground.citation_audit.tags IS 'Tags of the application; those of the answer override those of the turn.';
COMMENT ON COLUMN reground.citation_audit.query IS 'The question.';
COMMENT ON COLUMN reground.citation_audit.citation_no IS 'Number of the citation within the answer, from 1.';
COMMENT ON COLUMN reground.citation_audit.marker IS 'Marker of the source in its conversation, for example A1.';
COMMENT ON COLUMN reground.citation_audit.raw IS 'The citation as written in the answer.';
COMMENT ON COLUMN reground.citation_audit.form IS 'Form of the citation, for example marker, number, named_source, locator; custom:NAME for a pattern of the application.';
COMMENT ON COLUMN reground.citation_audit.scope IS 'sentence: the citation supports claim. answer: it supports the statements of the answer before it, as in Sources: [A1], or in a list of references.';
COMMENT ON COLUMN reground.citation_audit.corpus IS 'Corpus of the source; NULL if nothing was resolved.';
COMMENT ON COLUMN reground.citation_audit.doc_id IS 'Document of the source; NULL if nothing was resolved.';
COMMENT ON COLUMN reground.citation_audit.chunk_id IS 'Passage of the source; NULL if none was resolved.';
COMMENT ON COLUMN reground.citation_audit.title IS 'Title of the document.';
COMMENT ON COLUMN reground.citation_audit.uri IS 'Address of the document.';
COMMENT ON COLUMN reground.citation_audit.locator IS 'Place within the document, as shown to readers.';
COMMENT ON COLUMN reground.citation_audit.claim IS 'Sentence that the citation belongs to, without citations.';
COMMENT ON COLUMN reground.citation_audit.quote IS 'Sentence of the source that supports the claim best.';
COMMENT ON COLUMN reground.citation_audit.status IS 'Verdict; see citation_statuses.';
COMMENT ON COLUMN reground.citation_audit.holds IS 'Whether the citation holds; NULL if this cannot be decided.';
COMMENT ON COLUMN reground.citation_audit.hallucination_mode IS 'fabricated_coordinate, cross_text_conflation or paraphrase_attribution; NULL otherwise.';
COMMENT ON COLUMN reground.citation_audit.score IS 'Fidelity score of the coordinates, 0 to 1.';
COMMENT ON COLUMN reground.citation_audit.coordinate_fidelity IS 'How exactly the citation names its place, 0 to 1.';
COMMENT ON COLUMN reground.citation_audit.support IS 'How far the text of the source supports the claim, or with scope answer the best statement, 0 to 1; NULL without a text to compare.';
COMMENT ON COLUMN reground.citation_audit.support_parts IS 'Parts of the support score, as JSON.';
COMMENT ON COLUMN reground.citation_audit.diagnostic IS 'Diagnostic code.';
COMMENT ON COLUMN reground.citation_audit.detail IS 'Explanation of the verdict.';
COMMENT ON COLUMN reground.citation_audit.best_other_marker IS 'Marker of the other source of the context that supports the claim best.';
COMMENT ON COLUMN reground.citation_audit.lost_stage IS 'First pipeline stage whose factor is 0; NULL if no stage lost the citation.';
COMMENT ON COLUMN reground.citation_audit.repaired IS 'Whether the marker or the name of the document was corrected, because exactly one source fits.';
COMMENT ON COLUMN reground.citation_audit.source_state IS 'State of the document, or of the row of a registered table, since it was cited: current, changed or deleted; NULL if it is unknown.';
COMMENT ON COLUMN reground.citation_audit.source_version IS 'Version of the document that was cited.';
COMMENT ON COLUMN reground.citation_audit.source_hash IS 'SHA-256 (hex) of the text of the cited passage.';
COMMENT ON COLUMN reground.citation_audit.superseded IS 'Whether a later answer to the same turn replaced this answer.';
COMMENT ON COLUMN reground.citation_audit.answer_start IS 'First character of the citation in the answer, from 0.';
COMMENT ON COLUMN reground.citation_audit.answer_end IS 'One past the last character of the citation in the answer.';
COMMENT ON COLUMN reground.citation_audit.created_at IS 'When the answer was recorded.';
COMMENT ON COLUMN reground.citation_audit.origin IS 'live, or imported (record_turn).';
COMMENT ON COLUMN reground.citation_audit.turn_superseded IS 'Whether the conversation went back to a point before this turn.';

CREATE VIEW reground.answer_repairs WITH (security_invoker = true) AS
    SELECT r.tenant, v.conversation_ref, t.turn_no, r.turn_id, r.repair_of AS original_id, r.message_id, r.repair_mode AS mode, c.changes, c.repointed, c.removed, c.added, c.marked, c.sentences_removed,
           o.citation_count AS citations_before, r.citation_count AS citations_after, b.holding AS holding_before, a.holding AS holding_after,
           o.grounded_cfs AS grounded_cfs_before, r.grounded_cfs AS grounded_cfs_after, o.decision AS decision_before, r.decision AS decision_after, r.created_at
    FROM reground.messages AS r
    JOIN reground.messages AS o ON o.message_id = r.repair_of
    JOIN reground.turns AS t ON t.turn_id = r.turn_id
    JOIN reground.conversations AS v ON v.conversation_id = r.conversation_id
    CROSS JOIN LATERAL (
        SELECT pg_catalog.count(*) AS changes, pg_catalog.count(*) FILTER (WHERE x.change = 'repointed') AS repointed, pg_catalog.count(*) FILTER (WHERE x.change = 'removed') AS removed,
               pg_catalog.count(*) FILTER (WHERE x.change = 'added') AS added, pg_catalog.count(*) FILTER (WHERE x.change = 'marked') AS marked,
               pg_catalog.count(*) FILTER (WHERE x.change = 'sentence_removed') AS sentences_removed
        FROM reground.answer_changes AS x WHERE x.message_id = r.message_id) AS c
    CROSS JOIN LATERAL (SELECT pg_catalog.count(*) FILTER (WHERE x.holds) AS holding FROM reground.message_citations AS x WHERE x.message_id = o.message_id) AS b
    CROSS JOIN LATERAL (SELECT pg_catalog.count(*) FILTER (WHERE x.holds) AS holding FROM reground.message_citations AS x WHERE x.message_id = r.message_id) AS a;
COMMENT ON VIEW reground.answer_repairs IS 'One row per corrected copy of an answer: its changes, and the verdicts before and after. The changes are in answer_changes, the citations in message_citations.';
COMMENT ON COLUMN reground.answer_repairs.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.answer_repairs.conversation_ref IS 'The application''s id of the conversation.';
COMMENT ON COLUMN reground.answer_repairs.turn_no IS 'Number of the turn within its conversation, from 1.';
COMMENT ON COLUMN reground.answer_repairs.turn_id IS 'Id of the turn.';
COMMENT ON COLUMN reground.answer_repairs.original_id IS 'Id of the original answer.';
COMMENT ON COLUMN reground.answer_repairs.message_id IS 'Id of the corrected copy.';
COMMENT ON COLUMN reground.answer_repairs.mode IS 'mark, repoint or strict.';
COMMENT ON COLUMN reground.answer_repairs.changes IS 'Number of changes.';
COMMENT ON COLUMN reground.answer_repairs.repointed IS 'Citations that name another source now.';
COMMENT ON COLUMN reground.answer_repairs.removed IS 'Removed citations.';
COMMENT ON COLUMN reground.answer_repairs.added IS 'Sentences that got a citation.';
COMMENT ON COLUMN reground.answer_repairs.marked IS 'Marked sentences.';
COMMENT ON COLUMN reground.answer_repairs.sentences_removed IS 'Removed sentences.';
COMMENT ON COLUMN reground.answer_repairs.citations_before IS 'Citations of the original answer.';
COMMENT ON COLUMN reground.answer_repairs.citations_after IS 'Citations of the corrected copy.';
COMMENT ON COLUMN reground.answer_repairs.holding_before IS 'Citations of the original answer that hold.';
COMMENT ON COLUMN reground.answer_repairs.holding_after IS 'Citations of the corrected copy that hold.';
COMMENT ON COLUMN reground.answer_repairs.grounded_cfs_before IS 'grounded_cfs of the original answer.';
COMMENT ON COLUMN reground.answer_repairs.grounded_cfs_after IS 'grounded_cfs of the corrected copy.';
COMMENT ON COLUMN reground.answer_repairs.decision_before IS 'Decision on the original answer.';
COMMENT ON COLUMN reground.answer_repairs.decision_after IS 'Decision on the corrected copy.';
COMMENT ON COLUMN reground.answer_repairs.created_at IS 'When the answer was corrected.';

CREATE VIEW reground.turn_audit WITH (security_invoker = true) AS
    SELECT t.tenant, v.conversation_ref, t.turn_no, t.turn_id, t.state, t.corpus, t.query, t.intent, t.intent_confidence, t.intent_signals,
           pg_catalog.jsonb_array_length(t.context) AS source_count, t.context_tokens, t.warnings, t.tags || coalesce(m.tags, '{}') AS tags, m.message_id, m.message_ref, m.model, m.usage,
           m.citation_count, m.malformed_count, m.cfs, m.stage_cfs, m.grounded_cfs, m.diagnostic, m.decision, m.reasons, m.superseded,
           t.begun_at, t.ended_at, m.created_at AS answered_at, t.origin, t.superseded AS turn_superseded, t.user_ref
    FROM reground.turns AS t
    JOIN reground.conversations AS v USING (conversation_id)
    LEFT JOIN reground.messages AS m ON m.turn_id = t.turn_id AND m.repair_of IS NULL;
COMMENT ON VIEW reground.turn_audit IS 'One row per answer, and one per turn without an answer: intent, context, warnings, scores and decision.';
COMMENT ON COLUMN reground.turn_audit.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.turn_audit.conversation_ref IS 'The application''s id of the conversation.';
COMMENT ON COLUMN reground.turn_audit.turn_no IS 'Number of the turn within its conversation, from 1.';
COMMENT ON COLUMN reground.turn_audit.turn_id IS 'Id of the turn.';
COMMENT ON COLUMN reground.turn_audit.state IS 'deferred (waits for apply_rerank), open, ended or abandoned.';
COMMENT ON COLUMN reground.turn_audit.corpus IS 'Leading corpus of the turn.';
COMMENT ON COLUMN reground.turn_audit.query IS 'The question.';
COMMENT ON COLUMN reground.turn_audit.intent IS 'new_topic, drill_down, compare or same_sources.';
COMMENT ON COLUMN reground.turn_audit.intent_confidence IS 'Confidence in the intent, 0 to 1; 1 if the caller gave the intent.';
COMMENT ON COLUMN reground.turn_audit.intent_signals IS 'Signals that decided the intent.';
COMMENT ON COLUMN reground.turn_audit.source_count IS 'Number of sources in the context.';
COMMENT ON COLUMN reground.turn_audit.context_tokens IS 'Tokens (o200k_base) of the block of the sources, as prompt_context writes it with the default arguments.';
COMMENT ON COLUMN reground.turn_audit.warnings IS 'Warnings of the turn, for example no_embedding or short_branch.';
COMMENT ON COLUMN reground.turn_audit.tags IS 'Tags of the application; those of the answer override those of the turn.';
COMMENT ON COLUMN reground.turn_audit.message_id IS 'Id of the answer.';
COMMENT ON COLUMN reground.turn_audit.message_ref IS 'The application''s id of the answer.';
COMMENT ON COLUMN reground.turn_audit.model IS 'Model that wrote the answer, as given to end_turn.';
COMMENT ON COLUMN reground.turn_audit.usage IS 'Usage record of the model''s API.';
COMMENT ON COLUMN reground.turn_audit.citation_count IS 'Number of citations in the answer.';
COMMENT ON COLUMN reground.turn_audit.malformed_count IS 'Number of these that cannot be parsed.';
COMMENT ON COLUMN reground.turn_audit.cfs IS 'Citation fidelity score of the answer, 0 to 1; NULL without citations.';
COMMENT ON COLUMN reground.turn_audit.stage_cfs IS 'Mean product of the five stage factors over the citations.';
COMMENT ON COLUMN reground.turn_audit.grounded_cfs IS 'Mean of score × support over the citations.';
COMMENT ON COLUMN reground.turn_audit.diagnostic IS 'no_citations_found, or NULL.';
COMMENT ON COLUMN reground.turn_audit.decision IS 'accept or regenerate.';
COMMENT ON COLUMN reground.turn_audit.reasons IS 'Reasons to regenerate the answer: unknown_id, out_of_bounds, contradicted, few_hold, malformed, low_cfs, low_grounded_cfs, no_citations, one_sided. Empty if it is accepted.';
COMMENT ON COLUMN reground.turn_audit.superseded IS 'Whether a later answer to the same turn replaced this answer.';
COMMENT ON COLUMN reground.turn_audit.begun_at IS 'When the turn began.';
COMMENT ON COLUMN reground.turn_audit.ended_at IS 'When the turn first ended, or was abandoned.';
COMMENT ON COLUMN reground.turn_audit.answered_at IS 'When the answer was recorded.';
COMMENT ON COLUMN reground.turn_audit.user_ref IS 'The application''s id of the user who asked; NULL if it was not given.';
COMMENT ON COLUMN reground.turn_audit.origin IS 'live, or imported (record_turn).';
COMMENT ON COLUMN reground.turn_audit.turn_superseded IS 'Whether the conversation went back to a point before this turn.';

CREATE VIEW reground.turn_candidates WITH (security_invoker = true) AS
    SELECT x.turn_id, x.tenant, c.candidate_no::integer, c.corpus, c.doc_id, c.chunk_id, pg_catalog.string_to_array(c.member_chunk_ids, U&'\001F') AS member_chunk_ids, c.origin,
           c.lexical_rank::integer, c.lexical_score, c.vector_rank::integer, c.vector_distance, c.graph_rank::integer, c.fused_score, c.rerank_score, c.relevance, c.carry_score,
           c.marker IS NOT NULL AS in_context, c.marker, c.dropped_stage, c.drop_reason, c.replaced_by,
           c.has_coordinates, nullif(pg_catalog.encode(pg_catalog.substring(x.hash_prefixes, (c.candidate_no::integer - 1) * 8 + 1, 8), 'hex'), '0000000000000000') AS hash_prefix,
           coalesce(x.retrieval_nos[c.candidate_no], 0) AS retrieval_no, c.recency
    FROM reground.turn_traces AS x,
         ROWS FROM (unnest(x.corpora), unnest(x.doc_ids), unnest(x.chunk_ids), unnest(coalesce(x.member_chunk_ids, x.chunk_ids)), unnest(x.origins), unnest(x.lexical_ranks),
                    unnest(x.lexical_scores), unnest(x.vector_ranks), unnest(x.vector_distances), unnest(x.graph_ranks), unnest(x.fused_scores), unnest(x.rerank_scores), unnest(x.relevances),
                    unnest(x.carry_scores), unnest(x.markers), unnest(x.dropped_stages), unnest(x.drop_reasons), unnest(x.replaced_by),
                    unnest(x.has_coordinates), unnest(x.recencies)) WITH ORDINALITY
             AS c(corpus, doc_id, chunk_id, member_chunk_ids, origin, lexical_rank, lexical_score, vector_rank, vector_distance, graph_rank, fused_score, rerank_score, relevance,
                  carry_score, marker, dropped_stage, drop_reason, replaced_by, has_coordinates, recency, candidate_no);
COMMENT ON VIEW reground.turn_candidates IS 'Candidates of each traced turn: ranks, scores, and where and why they were dropped.';
COMMENT ON COLUMN reground.turn_candidates.turn_id IS 'Id of the turn.';
COMMENT ON COLUMN reground.turn_candidates.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.turn_candidates.candidate_no IS 'Number of the candidate within the turn, from 1; sources of the context come first.';
COMMENT ON COLUMN reground.turn_candidates.corpus IS 'Name of the corpus.';
COMMENT ON COLUMN reground.turn_candidates.doc_id IS 'The application''s id of the document.';
COMMENT ON COLUMN reground.turn_candidates.chunk_id IS 'Id of the passage.';
COMMENT ON COLUMN reground.turn_candidates.member_chunk_ids IS 'Ids of all passages that were merged into the candidate, its own included.';
COMMENT ON COLUMN reground.turn_candidates.origin IS 'fresh, carried, pinned, added, remembered, or graph for candidates found only through the knowledge graph.';
COMMENT ON COLUMN reground.turn_candidates.lexical_rank IS 'Rank in the lexical branch, from 1; NULL if not found there.';
COMMENT ON COLUMN reground.turn_candidates.lexical_score IS 'BM25 score.';
COMMENT ON COLUMN reground.turn_candidates.vector_rank IS 'Rank in the vector branch, from 1; NULL if not found there.';
COMMENT ON COLUMN reground.turn_candidates.vector_distance IS 'Distance between the embeddings of passage and query.';
COMMENT ON COLUMN reground.turn_candidates.graph_rank IS 'Rank among the passages of neighbours in the knowledge graph, from 1.';
COMMENT ON COLUMN reground.turn_candidates.fused_score IS 'Score by which the candidates were ordered; see the setting fusion.';
COMMENT ON COLUMN reground.turn_candidates.rerank_score IS 'Score of the reranker; NULL without one.';
COMMENT ON COLUMN reground.turn_candidates.relevance IS 'Relevance to the query of the turn, 0 to 1.';
COMMENT ON COLUMN reground.turn_candidates.carry_score IS 'Carry score when the turn began; NULL for sources that the conversation did not remember.';
COMMENT ON COLUMN reground.turn_candidates.in_context IS 'Whether the candidate is in the context.';
COMMENT ON COLUMN reground.turn_candidates.marker IS 'Marker of the source; NULL outside the context.';
COMMENT ON COLUMN reground.turn_candidates.dropped_stage IS 'Stage that dropped the candidate; NULL for sources of the context.';
COMMENT ON COLUMN reground.turn_candidates.drop_reason IS 'Why the candidate was dropped.';
COMMENT ON COLUMN reground.turn_candidates.replaced_by IS 'Id of the passage that replaced the candidate: a twin, or the passage that it was merged into.';
COMMENT ON COLUMN reground.turn_candidates.has_coordinates IS 'Whether the passage has a position in its document (pages, characters or ordinal).';
COMMENT ON COLUMN reground.turn_candidates.hash_prefix IS 'First 8 bytes (hex) of the hash of the candidate''s text (of a window: of its row), with provenance hash or higher; NULL if unknown.';
COMMENT ON COLUMN reground.turn_candidates.retrieval_no IS '0 for the retrieval that began the turn, otherwise the number in turn_retrievals.';
COMMENT ON COLUMN reground.turn_candidates.recency IS 'Factor on the fused score for the age of the document; NULL if recency_half_life is off.';

CREATE VIEW reground.conversation_health WITH (security_invoker = true) AS
    SELECT t.tenant, v.conversation_ref, t.turn_no, t.turn_id, t.state, t.settings ->> 'strategy' AS strategy, t.retrieved, t.context_turn_no,
           t.context_tokens, t.history_tokens, t.full_history_tokens, t.attribution_share, t.predicted_accuracy, t.accuracy_floor,
           t.search_us / 1000.0::double precision AS search_ms, t.compress_us / 1000.0::double precision AS compress_ms,
           s.source_count, s.carried_source_count, s.carried_source_count::double precision / nullif(s.source_count, 0) AS carried_share,
           n.new_sources::double precision / nullif(s.source_count, 0) AS context_turnover,
           m.message_id, m.cfs, c.citation_count, c.carried_citation_count, c.refound_citation_count,
           100 * c.carried_citation_count::double precision / nullif(c.citation_count, 0) AS history_dependence,
           CASE WHEN t.retrieved AND c.evidence_carried > 0 THEN CASE WHEN t.intent IN ('drill_down', 'same_sources') THEN 'denoise' ELSE 'diversify' END END AS history_effect,
           t.begun_at, t.origin, t.superseded AS turn_superseded, t.answerability, 'nothing_fits' = ANY (t.warnings) AS nothing_fits
    FROM reground.turns AS t
    JOIN reground.conversations AS v USING (conversation_id)
    LEFT JOIN reground.turns AS p ON p.turn_id = t.parent_turn_id
    CROSS JOIN LATERAL (
        SELECT pg_catalog.count(*) AS source_count, pg_catalog.count(*) FILTER (WHERE e.carried) AS carried_source_count,
               pg_catalog.array_agg(e.marker) FILTER (WHERE e.carried) AS carried, pg_catalog.array_agg(e.marker) FILTER (WHERE e.found AND e.remembered) AS both_ways
        -- A source found by the search has a rank, also if its origin is carried or pinned.
        FROM (SELECT x.marker, x.found, x.remembered, x.origin IN ('carried', 'remembered') AND NOT x.found AS carried
              FROM (SELECT e ->> 'marker' AS marker, e ->> 'origin' AS origin, e ->> 'carry_score' IS NOT NULL AS remembered, coalesce(e ->> 'lexical_rank', e ->> 'vector_rank') IS NOT NULL AS found
                    FROM pg_catalog.jsonb_array_elements(t.context) AS e) AS x) AS e) AS s
    CROSS JOIN LATERAL (
        SELECT pg_catalog.count(*) AS new_sources
        FROM pg_catalog.jsonb_array_elements(t.context) AS e
        WHERE NOT coalesce(p.context, '[]') @> pg_catalog.jsonb_build_array(pg_catalog.jsonb_build_object('marker', e -> 'marker'))) AS n
    LEFT JOIN reground.messages AS m ON m.turn_id = t.turn_id AND NOT m.superseded
    LEFT JOIN LATERAL (
        SELECT pg_catalog.count(*) AS citation_count, pg_catalog.count(*) FILTER (WHERE x.marker = ANY (s.carried)) AS carried_citation_count,
               pg_catalog.count(*) FILTER (WHERE x.marker = ANY (s.both_ways)) AS refound_citation_count,
               pg_catalog.count(*) FILTER (WHERE x.marker = ANY (s.carried) AND x.holds) AS evidence_carried
        FROM reground.message_citations AS x WHERE x.message_id = m.message_id) AS c ON m.message_id IS NOT NULL;
COMMENT ON VIEW reground.conversation_health IS 'One row per turn: predicted effect of the history, and measured context and citations. Reading many turns at once reads all their contexts.';
COMMENT ON COLUMN reground.conversation_health.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.conversation_health.conversation_ref IS 'The application''s id of the conversation.';
COMMENT ON COLUMN reground.conversation_health.turn_no IS 'Number of the turn within its conversation, from 1.';
COMMENT ON COLUMN reground.conversation_health.turn_id IS 'Id of the turn.';
COMMENT ON COLUMN reground.conversation_health.state IS 'deferred (waits for apply_rerank), open, ended or abandoned.';
COMMENT ON COLUMN reground.conversation_health.strategy IS 'Setting strategy of the turn; retrieve_at, refresh and compress may override it.';
COMMENT ON COLUMN reground.conversation_health.retrieved IS 'Whether the turn searched; otherwise it reused sources.';
COMMENT ON COLUMN reground.conversation_health.context_turn_no IS 'Number of the turn whose search found the sources of the context.';
COMMENT ON COLUMN reground.conversation_health.context_tokens IS 'Tokens (o200k_base) of the block of the sources, as prompt_context writes it with the default arguments.';
COMMENT ON COLUMN reground.conversation_health.history_tokens IS 'Tokens (o200k_base) of the history that goes with the turn.';
COMMENT ON COLUMN reground.conversation_health.full_history_tokens IS 'Tokens (o200k_base) of all earlier answered questions with their answers.';
COMMENT ON COLUMN reground.conversation_health.attribution_share IS 'context_tokens / (context_tokens + history_tokens).';
COMMENT ON COLUMN reground.conversation_health.predicted_accuracy IS 'Predicted accuracy of citations, to compare with cfs.';
COMMENT ON COLUMN reground.conversation_health.accuracy_floor IS 'Exponential envelope under the model.';
COMMENT ON COLUMN reground.conversation_health.search_ms IS 'Milliseconds of the search; NULL if the turn reused sources.';
COMMENT ON COLUMN reground.conversation_health.compress_ms IS 'Milliseconds of compressing the history; NULL without compression or history.';
COMMENT ON COLUMN reground.conversation_health.source_count IS 'Number of sources in the context.';
COMMENT ON COLUMN reground.conversation_health.carried_source_count IS 'Number of sources that come from earlier turns only.';
COMMENT ON COLUMN reground.conversation_health.carried_share IS 'carried_source_count / source_count.';
COMMENT ON COLUMN reground.conversation_health.context_turnover IS 'Share of the sources that were not in the context of the parent turn.';
COMMENT ON COLUMN reground.conversation_health.message_id IS 'Id of the current answer.';
COMMENT ON COLUMN reground.conversation_health.cfs IS 'Citation fidelity score of the current answer.';
COMMENT ON COLUMN reground.conversation_health.citation_count IS 'Citations in the current answer.';
COMMENT ON COLUMN reground.conversation_health.carried_citation_count IS 'Citations of sources that come from earlier turns only.';
COMMENT ON COLUMN reground.conversation_health.refound_citation_count IS 'Citations of sources that this turn''s search found and the conversation also remembered.';
COMMENT ON COLUMN reground.conversation_health.history_dependence IS 'History dependence in percent: 100 * carried_citation_count / citation_count; NULL without citations.';
COMMENT ON COLUMN reground.conversation_health.history_effect IS 'Effect of carried sources with holding citations: denoise if the turn continued their topic, diversify otherwise; NULL without effect, or if the turn did not search.';
COMMENT ON COLUMN reground.conversation_health.begun_at IS 'When the turn began.';
COMMENT ON COLUMN reground.conversation_health.origin IS 'live, or imported (record_turn).';
COMMENT ON COLUMN reground.conversation_health.turn_superseded IS 'Whether the conversation went back to a point before this turn.';
COMMENT ON COLUMN reground.conversation_health.answerability IS 'Whether the corpus seems to have an answer to the question, 0 to 1; NULL if the turn did not search or it cannot be computed.';
COMMENT ON COLUMN reground.conversation_health.nothing_fits IS 'Whether the turn has the warning nothing_fits: the answerability of one of its searches is below min_answerability.';

CREATE VIEW reground.fact_sheets WITH (security_invoker = true) AS
    SELECT f.tenant, v.conversation_ref, t.turn_no, m.message_id, f.marker, f.fact_no, f.fact, f.published, k.corpus, k.doc_id, k.chunk_id, f.version, f.content_hash,
           reground._unsealed(k.tenant, 'locator', k.locator) AS locator
    FROM reground.messages AS m
    JOIN reground.turns AS t USING (turn_id)
    JOIN reground.conversations AS v ON v.conversation_id = t.conversation_id
    JOIN reground.source_facts AS f ON f.turn_id = m.turn_id
    JOIN reground.conversation_markers AS k ON k.conversation_id = t.conversation_id AND k.marker = f.marker
    WHERE NOT m.superseded AND EXISTS (SELECT FROM reground.message_citations AS x WHERE x.message_id = m.message_id AND x.marker = f.marker AND x.holds);
COMMENT ON VIEW reground.fact_sheets IS 'Fact sheet of each current answer: facts of the sources that it cites with holding citations. If a question gives no fact for a source, the facts of the turn before are kept.';
COMMENT ON COLUMN reground.fact_sheets.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.fact_sheets.conversation_ref IS 'The application''s id of the conversation.';
COMMENT ON COLUMN reground.fact_sheets.turn_no IS 'Number of the turn within its conversation, from 1.';
COMMENT ON COLUMN reground.fact_sheets.message_id IS 'Id of the answer.';
COMMENT ON COLUMN reground.fact_sheets.marker IS 'Marker of the source in its conversation, for example A1.';
COMMENT ON COLUMN reground.fact_sheets.fact_no IS 'Number of the fact within its source, from 1.';
COMMENT ON COLUMN reground.fact_sheets.fact IS 'The fact.';
COMMENT ON COLUMN reground.fact_sheets.published IS 'Date of the source, as stored by the application: of publication, otherwise of the last change.';
COMMENT ON COLUMN reground.fact_sheets.corpus IS 'Name of the corpus.';
COMMENT ON COLUMN reground.fact_sheets.doc_id IS 'The application''s id of the document.';
COMMENT ON COLUMN reground.fact_sheets.chunk_id IS 'Id of the passage.';
COMMENT ON COLUMN reground.fact_sheets.version IS 'Version of the document.';
COMMENT ON COLUMN reground.fact_sheets.content_hash IS 'SHA-256 (hex) of the text of the passage, after normalisation.';
COMMENT ON COLUMN reground.fact_sheets.locator IS 'Place within the document, as shown to readers.';

CREATE VIEW reground.conversation_totals WITH (security_invoker = true) AS
    SELECT h.tenant, h.conversation_ref, pg_catalog.count(*) AS turns, pg_catalog.count(*) FILTER (WHERE h.retrieved) AS retrievals, pg_catalog.count(h.message_id) AS answers,
           pg_catalog.min(h.attribution_share) AS lowest_attribution_share, pg_catalog.min(h.predicted_accuracy) AS lowest_predicted_accuracy,
           pg_catalog.max(h.history_tokens) AS highest_history_tokens, pg_catalog.avg(h.cfs) AS mean_cfs, pg_catalog.min(h.cfs) AS lowest_cfs, pg_catalog.sum(h.citation_count) AS citations,
           100 * pg_catalog.sum(h.carried_citation_count)::double precision / nullif(pg_catalog.sum(h.citation_count), 0)::double precision AS history_dependence,
           100 * pg_catalog.count(h.history_effect)::double precision / nullif(pg_catalog.count(h.message_id), 0)::double precision AS improved_percent,
           100 * pg_catalog.count(*) FILTER (WHERE h.history_effect = 'denoise')::double precision / nullif(pg_catalog.count(h.history_effect), 0)::double precision AS denoise_percent,
           100 * pg_catalog.count(*) FILTER (WHERE h.history_effect = 'diversify')::double precision / nullif(pg_catalog.count(h.history_effect), 0)::double precision AS diversify_percent,
           pg_catalog.avg(h.carried_share) AS mean_carried_share, pg_catalog.avg(h.context_turnover) FILTER (WHERE h.turn_no > 1) AS mean_context_turnover
    FROM reground.conversation_health AS h
    WHERE h.state IN ('open', 'ended')
    GROUP BY h.tenant, h.conversation_ref;
COMMENT ON VIEW reground.conversation_totals IS 'conversation_health summed up per conversation. Abandoned and deferred turns are excluded, superseded turns included.';
COMMENT ON COLUMN reground.conversation_totals.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.conversation_totals.conversation_ref IS 'The application''s id of the conversation.';
COMMENT ON COLUMN reground.conversation_totals.turns IS 'Number of turns.';
COMMENT ON COLUMN reground.conversation_totals.retrievals IS 'Number of turns that searched.';
COMMENT ON COLUMN reground.conversation_totals.answers IS 'Number of answered turns.';
COMMENT ON COLUMN reground.conversation_totals.lowest_attribution_share IS 'Smallest attribution_share of its turns.';
COMMENT ON COLUMN reground.conversation_totals.lowest_predicted_accuracy IS 'Smallest predicted_accuracy of its turns.';
COMMENT ON COLUMN reground.conversation_totals.highest_history_tokens IS 'Largest history_tokens of its turns.';
COMMENT ON COLUMN reground.conversation_totals.mean_cfs IS 'Mean citation fidelity score of its answers.';
COMMENT ON COLUMN reground.conversation_totals.lowest_cfs IS 'Smallest citation fidelity score of its answers.';
COMMENT ON COLUMN reground.conversation_totals.citations IS 'Number of citations.';
COMMENT ON COLUMN reground.conversation_totals.history_dependence IS 'History dependence in percent over all citations.';
COMMENT ON COLUMN reground.conversation_totals.improved_percent IS 'Percentage of answers that rest on a source from earlier turns only.';
COMMENT ON COLUMN reground.conversation_totals.denoise_percent IS 'Percentage of these whose turn continued the topic.';
COMMENT ON COLUMN reground.conversation_totals.diversify_percent IS 'Percentage of these whose turn changed the topic.';
COMMENT ON COLUMN reground.conversation_totals.mean_carried_share IS 'Mean carried_share of its turns.';
COMMENT ON COLUMN reground.conversation_totals.mean_context_turnover IS 'Mean context_turnover from the second turn on.';

CREATE VIEW reground.turn_overhead WITH (security_invoker = true) AS
    SELECT t.tenant, o.component, pg_catalog.count(o.ms) AS turns, pg_catalog.percentile_cont(0.5) WITHIN GROUP (ORDER BY o.ms) AS p50_ms,
           pg_catalog.percentile_cont(0.95) WITHIN GROUP (ORDER BY o.ms) AS p95_ms, o.reported_ms
    FROM reground.turns AS t
    CROSS JOIN LATERAL (VALUES ('refresh', t.search_us / 1000.0::double precision, 45), ('compression', t.compress_us / 1000.0::double precision, 12),
                               ('both', (t.search_us::bigint + t.compress_us) / 1000.0::double precision, 52)) AS o(component, ms, reported_ms)
    GROUP BY t.tenant, o.component, o.reported_ms;
COMMENT ON VIEW reground.turn_overhead IS 'Time for searching and for compressing the history, one row per tenant and component. Reading it reads all turns.';
COMMENT ON COLUMN reground.turn_overhead.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.turn_overhead.component IS 'refresh (a search), compression (of the history), or both in one turn.';
COMMENT ON COLUMN reground.turn_overhead.turns IS 'Number of turns measured.';
COMMENT ON COLUMN reground.turn_overhead.p50_ms IS 'Median in milliseconds.';
COMMENT ON COLUMN reground.turn_overhead.p95_ms IS '95th percentile in milliseconds.';
COMMENT ON COLUMN reground.turn_overhead.reported_ms IS 'Average that the publication of the strategies reports, for its own system: 45, 12 and 52 ms.';

CREATE FUNCTION reground.explain_turn(turn_id bigint)
    RETURNS SETOF reground.turn_candidate
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
        SELECT c.candidate_no, c.corpus, c.doc_id, c.chunk_id, c.member_chunk_ids, c.origin, c.lexical_rank, c.lexical_score, c.vector_rank, c.vector_distance, c.graph_rank,
               c.fused_score, c.rerank_score, c.relevance, c.carry_score, c.in_context, c.marker, c.dropped_stage, c.drop_reason, c.replaced_by, c.retrieval_no, c.recency
        FROM reground.turn_candidates AS c
        WHERE c.turn_id = explain_turn.turn_id
        ORDER BY c.candidate_no;
    END;
COMMENT ON FUNCTION reground.explain_turn(bigint) IS
'Returns all candidates of a turn, those of the context first. A remembered source that the search also found has a second row with drop_reason found_fresh. For reground_auditor.';
