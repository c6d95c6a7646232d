-- What analysts read. Every view runs with the reader's rights, so row-level security holds.

CREATE FUNCTION reground._settings()
    RETURNS TABLE (name text, default_value jsonb, expects text, meaning text) LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'settings_wrapper';
COMMENT ON FUNCTION reground._settings() IS 'Rows of the view settings.';

CREATE VIEW reground.settings WITH (security_invoker = true) AS
    SELECT name, default_value, NULLIF(pg_catalog.current_setting('reground.' || name, true), '') AS server_value, expects, meaning
    FROM reground._settings();
COMMENT ON VIEW reground.settings IS 'Every setting of a turn. Where several say it, the strongest holds: argument, conversation, corpus, server (SET reground.NAME), default.';
COMMENT ON COLUMN reground.settings.name IS 'Name.';
COMMENT ON COLUMN reground.settings.default_value IS 'Built-in default.';
COMMENT ON COLUMN reground.settings.server_value IS 'What SET reground.NAME gives at present.';
COMMENT ON COLUMN reground.settings.expects IS 'Values that it takes.';
COMMENT ON COLUMN reground.settings.meaning IS 'What it does.';

CREATE FUNCTION reground._source_state(tenant text, corpus text, doc_id text, version integer) RETURNS text
    LANGUAGE c STABLE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'source_state_wrapper';
COMMENT ON FUNCTION reground._source_state(text, text, text, integer) IS 'What has become of a document since a version of it was cited: current, changed, deleted; NULL where its versions are not ours to know, none was shown, or the tenant never cited it.';

CREATE VIEW reground.citation_audit WITH (security_invoker = true) AS
    SELECT c.citation_id, v.tenant, v.conversation_ref, t.turn_no, c.turn_id, c.message_id, m.message_ref, m.model,
           t.tags || m.tags AS tags, t.query, c.citation_no, c.marker, c.raw, c.form, c.corpus, c.doc_id, c.chunk_id, c.title, c.uri, c.locator, c.claim, c.quote,
           c.status, c.holds, c.hallucination_mode, c.score, c.coordinate_fidelity, c.support, c.support_parts, c.diagnostic, c.detail, c.best_other_marker, c.lost_stage, c.repaired,
           reground._source_state(c.tenant, c.corpus, c.doc_id, c.source_version) AS source_state,
           c.source_version, c.source_hash, m.superseded, c.answer_start, c.answer_end, m.created_at, t.origin, t.superseded AS turn_superseded
    FROM reground.message_citations AS c
    JOIN reground.messages AS m USING (message_id)
    JOIN reground.turns AS t ON t.turn_id = m.turn_id
    -- By way of the answer, whose conversation has an index: so one conversation is a few rows.
    JOIN reground.conversations AS v ON v.conversation_id = m.conversation_id;
COMMENT ON VIEW reground.citation_audit IS 'A row a citation with its verdict, the question, the model and what has become of the source since (source_state; NULL where documents are not ours to version).';
COMMENT ON COLUMN reground.citation_audit.superseded IS 'Whether another answer to the same turn has taken the place of this one.';
COMMENT ON COLUMN reground.citation_audit.origin IS 'live, or imported from another system.';
COMMENT ON COLUMN reground.citation_audit.turn_superseded IS 'Whether the conversation has gone back behind the turn.';
COMMENT ON COLUMN reground.citation_audit.created_at IS 'When the answer was given.';

CREATE VIEW reground.turn_audit WITH (security_invoker = true) AS
    SELECT t.tenant, v.conversation_ref, t.turn_no, t.turn_id, t.state, t.corpus, t.query, t.intent, t.intent_confidence, t.intent_signals,
           pg_catalog.jsonb_array_length(t.context) AS source_count, t.context_tokens, t.warnings, t.tags || coalesce(m.tags, '{}') AS tags, m.message_id, m.message_ref, m.model, m.usage,
           m.citation_count, m.malformed_count, m.cfs, m.stage_cfs, m.grounded_cfs, m.diagnostic, m.decision, m.reasons, m.superseded,
           t.begun_at, t.ended_at, m.created_at AS answered_at, t.origin, t.superseded AS turn_superseded
    FROM reground.turns AS t
    JOIN reground.conversations AS v USING (conversation_id)
    LEFT JOIN reground.messages AS m ON m.turn_id = t.turn_id;
COMMENT ON VIEW reground.turn_audit IS 'A row an answer (or a turn without one): intent, context, warnings, scores and decision.';

CREATE VIEW reground.turn_candidates WITH (security_invoker = true) AS
    SELECT x.turn_id, x.tenant, c.candidate_no::integer, c.corpus, c.doc_id, c.chunk_id, pg_catalog.string_to_array(c.member_chunk_ids, U&'\001F') AS member_chunk_ids, c.origin,
           c.lexical_rank, c.lexical_score, c.vector_rank, c.vector_distance, c.graph_rank, c.fused_score, c.rerank_score, c.relevance, c.carry_score,
           c.marker IS NOT NULL AS in_context, c.marker, c.dropped_stage, c.drop_reason, c.replaced_by,
           c.has_coordinates, nullif(pg_catalog.encode(pg_catalog.substring(x.hash_prefixes, (c.candidate_no::integer - 1) * 8 + 1, 8), 'hex'), '0000000000000000') AS hash_prefix,
           coalesce(x.retrieval_nos[c.candidate_no], 0) AS retrieval_no
    FROM reground.turn_traces AS x,
         ROWS FROM (unnest(x.corpora), unnest(x.doc_ids), unnest(x.chunk_ids), unnest(x.member_chunk_ids), unnest(x.origins), unnest(x.lexical_ranks),
                    unnest(x.lexical_scores), unnest(x.vector_ranks), unnest(x.vector_distances), unnest(x.graph_ranks), unnest(x.fused_scores), unnest(x.rerank_scores), unnest(x.relevances),
                    unnest(x.carry_scores), unnest(x.markers), unnest(x.dropped_stages), unnest(x.drop_reasons), unnest(x.replaced_by),
                    unnest(x.has_coordinates)) WITH ORDINALITY
             AS c(corpus, doc_id, chunk_id, member_chunk_ids, origin, lexical_rank, lexical_score, vector_rank, vector_distance, graph_rank, fused_score, rerank_score, relevance,
                  carry_score, marker, dropped_stage, drop_reason, replaced_by, has_coordinates, candidate_no);
COMMENT ON VIEW reground.turn_candidates IS 'Every candidate of every traced turn: ranks, scores, where it left and why.';

CREATE VIEW reground.conversation_health WITH (security_invoker = true) AS
    SELECT t.tenant, v.conversation_ref, t.turn_no, t.turn_id, t.state, t.settings ->> 'strategy' AS strategy, t.retrieved, t.context_turn_no,
           t.context_tokens, t.history_tokens, t.attribution_share, t.predicted_accuracy, t.accuracy_floor, t.topic_drift,
           t.search_us / 1000.0::double precision AS search_ms, t.compress_us / 1000.0::double precision AS compress_ms,
           s.source_count, s.carried_source_count, s.carried_source_count::double precision / nullif(s.source_count, 0) AS carried_share,
           n.new_sources::double precision / nullif(s.source_count, 0) AS context_turnover,
           m.message_id, m.cfs, c.citation_count, c.carried_citation_count, c.refound_citation_count,
           100 * c.carried_citation_count::double precision / nullif(c.citation_count, 0) AS history_dependence,
           CASE WHEN t.retrieved AND c.evidence_carried > 0 THEN CASE WHEN t.intent IN ('drill_down', 'same_sources') THEN 'denoise' ELSE 'diversify' END END AS history_effect,
           t.begun_at, t.origin, t.superseded AS turn_superseded
    FROM reground.turns AS t
    JOIN reground.conversations AS v USING (conversation_id)
    LEFT JOIN reground.turns AS p ON p.turn_id = t.parent_turn_id
    CROSS JOIN LATERAL (
        SELECT pg_catalog.count(*) AS source_count, pg_catalog.count(*) FILTER (WHERE e.carried) AS carried_source_count,
               pg_catalog.array_agg(e.marker) FILTER (WHERE e.carried) AS carried, pg_catalog.array_agg(e.marker) FILTER (WHERE e.found AND e.remembered) AS both_ways
        -- A source that the search found has a rank: a reserved slot or a pin may be the way that it came in by all the same.
        FROM (SELECT x.marker, x.found, x.remembered, x.origin = 'carried' AND NOT x.found AS carried
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
COMMENT ON VIEW reground.conversation_health IS 'A row a turn: what history takes from its sources by the theory, and what its context and its citations show. Many at a time cost reading their contexts.';
COMMENT ON COLUMN reground.conversation_health.strategy IS 'The setting; retrieve_at, refresh and compress may say otherwise.';
COMMENT ON COLUMN reground.conversation_health.retrieved IS 'Whether the turn searched; if not, it kept sources.';
COMMENT ON COLUMN reground.conversation_health.context_turn_no IS 'Number of the turn whose search found the sources.';
COMMENT ON COLUMN reground.conversation_health.attribution_share IS 'context_tokens / (context_tokens + history_tokens) (D1).';
COMMENT ON COLUMN reground.conversation_health.predicted_accuracy IS 'Accuracy of citations by the model (D2); a prediction, to be holding against cfs.';
COMMENT ON COLUMN reground.conversation_health.accuracy_floor IS 'The exponential envelope under the model (D3).';
COMMENT ON COLUMN reground.conversation_health.topic_drift IS 'Distance from the query of the first turn, in [0, 1] (D4).';
COMMENT ON COLUMN reground.conversation_health.search_ms IS 'Milliseconds that the search took (D10); NULL where the turn kept sources.';
COMMENT ON COLUMN reground.conversation_health.compress_ms IS 'Milliseconds that compressing the history took (D10); NULL where it is not compressed, or there is none yet.';
COMMENT ON COLUMN reground.conversation_health.carried_share IS 'Share of the sources that come from earlier turns only.';
COMMENT ON COLUMN reground.conversation_health.context_turnover IS 'Share of the sources that were not in the context of the turn before.';
COMMENT ON COLUMN reground.conversation_health.cfs IS 'Citation fidelity score of the answer that stands.';
COMMENT ON COLUMN reground.conversation_health.citation_count IS 'Citations in that answer.';
COMMENT ON COLUMN reground.conversation_health.carried_citation_count IS 'Of these, those of sources that come from earlier turns only (H3).';
COMMENT ON COLUMN reground.conversation_health.citations_refound IS 'Of these, those of sources that this turn''s search found and the conversation remembered too.';
COMMENT ON COLUMN reground.conversation_health.history_dependence IS 'HD % (H3): 100 * citations_carried / citations; NULL without citations.';
COMMENT ON COLUMN reground.conversation_health.history_effect IS 'What earlier turns did for an answer that cites, and holds by, a source from them alone (H6): denoise where the turn goes on with their subject, diversify where it does not; NULL where they did nothing, or the turn searched for nothing that they could add to.';

CREATE VIEW reground.fact_sheets WITH (security_invoker = true) AS
    SELECT f.tenant, v.conversation_ref, t.turn_no, m.message_id, f.marker, f.fact_no, f.fact, f.published, k.corpus, k.doc_id, k.chunk_id, f.version, f.content_hash
    FROM reground.messages AS m
    JOIN reground.turns AS t USING (turn_id)
    JOIN reground.conversations AS v ON v.conversation_id = t.conversation_id
    JOIN reground.source_facts AS f ON f.turn_id = m.turn_id
    JOIN reground.conversation_markers AS k ON k.conversation_id = t.conversation_id AND k.marker = f.marker
    WHERE NOT m.superseded AND EXISTS (SELECT FROM reground.message_citations AS x WHERE x.message_id = m.message_id AND x.marker = f.marker AND x.holds);
COMMENT ON VIEW reground.fact_sheets IS 'The fact sheet of each answer that stands (C7): what the sources that it rightly cites say to its question, in a sentence or two each. Where the next question says nothing of a source, the facts of the turn before are kept, cited or not.';
COMMENT ON COLUMN reground.fact_sheets.marker IS 'Stable id of the source in its conversation.';
COMMENT ON COLUMN reground.fact_sheets.published IS 'Publication date of the source, as the application says.';

CREATE VIEW reground.conversation_totals WITH (security_invoker = true) AS
    SELECT h.tenant, h.conversation_ref, pg_catalog.count(*) AS turns, pg_catalog.count(*) FILTER (WHERE h.retrieved) AS retrievals, pg_catalog.count(h.message_id) AS answers,
           pg_catalog.min(h.attribution_share) AS lowest_attribution_share, pg_catalog.min(h.predicted_accuracy) AS lowest_predicted_accuracy, pg_catalog.max(h.topic_drift) AS highest_topic_drift,
           pg_catalog.max(h.history_tokens) AS highest_history_tokens, pg_catalog.avg(h.cfs) AS mean_cfs, pg_catalog.min(h.cfs) AS lowest_cfs, pg_catalog.sum(h.citation_count) AS citations,
           100 * pg_catalog.sum(h.carried_citation_count)::double precision / nullif(pg_catalog.sum(h.citation_count), 0)::double precision AS history_dependence,
           100 * pg_catalog.count(h.history_effect)::double precision / nullif(pg_catalog.count(h.message_id), 0)::double precision AS improved_percent,
           100 * pg_catalog.count(*) FILTER (WHERE h.history_effect = 'denoise')::double precision / nullif(pg_catalog.count(h.history_effect), 0)::double precision AS denoise_percent,
           100 * pg_catalog.count(*) FILTER (WHERE h.history_effect = 'diversify')::double precision / nullif(pg_catalog.count(h.history_effect), 0)::double precision AS diversify_percent,
           pg_catalog.avg(h.carried_share) AS mean_carried_share, pg_catalog.avg(h.context_turnover) FILTER (WHERE h.turn_no > 1) AS mean_context_turnover
    FROM reground.conversation_health AS h
    WHERE h.state IN ('open', 'ended')
    GROUP BY h.tenant, h.conversation_ref;
COMMENT ON VIEW reground.conversation_totals IS 'A row a conversation: conversation_health over its turns, those that were given up or wait for a rerank left out, those that it has gone back behind counted. Means are over turns, HD % over citations, turnover from the second turn on.';
COMMENT ON COLUMN reground.conversation_totals.improved IS 'Per cent of the answers that rest on a source from earlier turns alone (H6).';
COMMENT ON COLUMN reground.conversation_totals.denoise IS 'Per cent of these where the turn went on with the subject.';
COMMENT ON COLUMN reground.conversation_totals.diversify IS 'Per cent of these where it did not.';

CREATE VIEW reground.turn_overhead WITH (security_invoker = true) AS
    SELECT t.tenant, o.component, pg_catalog.count(o.ms) AS turns, pg_catalog.percentile_cont(0.5) WITHIN GROUP (ORDER BY o.ms) AS p50_ms,
           pg_catalog.percentile_cont(0.95) WITHIN GROUP (ORDER BY o.ms) AS p95_ms, o.reported_ms
    FROM reground.turns AS t
    CROSS JOIN LATERAL (VALUES ('refresh', t.search_us / 1000.0::double precision, 45), ('compression', t.compress_us / 1000.0::double precision, 12),
                               ('both', (t.search_us::bigint + t.compress_us) / 1000.0::double precision, 52)) AS o(component, ms, reported_ms)
    GROUP BY t.tenant, o.component, o.reported_ms;
COMMENT ON VIEW reground.turn_overhead IS 'What re-grounding costs (D10): a row a component, over the turns that had it. Many conversations at a time read all their turns.';
COMMENT ON COLUMN reground.turn_overhead.component IS 'refresh (a search), compression (of the history), or both in one turn.';
COMMENT ON COLUMN reground.turn_overhead.turns IS 'Turns that it was measured in.';
COMMENT ON COLUMN reground.turn_overhead.p50_ms IS 'Median, in milliseconds.';
COMMENT ON COLUMN reground.turn_overhead.p95_ms IS '95th percentile, in milliseconds.';
COMMENT ON COLUMN reground.turn_overhead.reported_ms IS 'What the source of the strategy reports as its average: 45, 12 and 52 ms.';

CREATE FUNCTION reground.explain_turn(turn_id bigint)
    RETURNS SETOF reground.turn_candidate
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
        SELECT c.candidate_no, c.corpus, c.doc_id, c.chunk_id, c.member_chunk_ids, c.origin, c.lexical_rank, c.lexical_score, c.vector_rank, c.vector_distance, c.graph_rank,
               c.fused_score, c.rerank_score, c.relevance, c.carry_score, c.in_context, c.marker, c.dropped_stage, c.drop_reason, c.replaced_by, c.retrieval_no
        FROM reground.turn_candidates AS c
        WHERE c.turn_id = explain_turn.turn_id
        ORDER BY c.candidate_no;
    END;
COMMENT ON FUNCTION reground.explain_turn(bigint) IS 'Every candidate of a turn, those of the context first: ranks, scores, where it left, why (for the auditor). A remembered source that retrieval found too stands a second time, as found_fresh. retrieval is 0 for what the turn began with, else the number of the further one (turn_retrievals) that brought it in.';
