-- Measures of one's own evaluations: rankings against judgements, answers against references.

CREATE FUNCTION reground.retrieval_metrics(ranking text[], judgements jsonb, k integer DEFAULT 10)
    RETURNS TABLE (ndcg double precision, recall double precision, "precision" double precision, reciprocal_rank double precision, average_precision double precision)
    LANGUAGE c IMMUTABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'retrieval_metrics_wrapper';
COMMENT ON FUNCTION reground.retrieval_metrics(text[], jsonb, integer) IS
'Scores the ranking of one query, best first, against judgements {chunk_id: gain}, as trec_eval does (H5): ndcg, recall and precision at k, reciprocal rank and average precision of the whole ranking. NULL if no judged passage is relevant (precision never). Errors: 22023 for invalid judgements or k below 1.';

CREATE FUNCTION reground.text_metrics(answer text, reference text)
    RETURNS TABLE (exact_match boolean, token_f1 double precision, rouge_l_precision double precision, rouge_l_recall double precision, rouge_l double precision)
    LANGUAGE c IMMUTABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'text_metrics_wrapper';
COMMENT ON FUNCTION reground.text_metrics(text, text) IS
'Compares an answer with a reference answer (H5): exact match and token F1 of SQuAD 2.0, ROUGE-L (Lin 2004). rouge_l: F1; NULL if the reference has no words.';

CREATE FUNCTION reground._history_hits(ranking jsonb, earlier_rankings jsonb, relevant_chunk_ids text[])
    RETURNS TABLE (bottom boolean, history boolean, supplement boolean) LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', '_history_hits_wrapper';
COMMENT ON FUNCTION reground._history_hits(jsonb, jsonb, text[]) IS
'Internal: computes history_hits from a ranking [["1"], ["2", "3"], …], best first, and earlier rankings.';

CREATE FUNCTION reground.history_hits(turn_id bigint, relevant_chunk_ids text[] DEFAULT NULL)
    RETURNS TABLE (bottom_hit boolean, history_hit boolean, supplement boolean, relevant_count integer, candidate_count integer, earlier_turn_count integer)
    LANGUAGE sql STABLE PARALLEL UNSAFE
    BEGIN ATOMIC
        SELECT CASE WHEN g.passages <> '{}' AND r.depth > 0 THEN h.bottom END, CASE WHEN g.passages <> '{}' THEN h.history END, CASE WHEN r.depth > 0 THEN h.supplement END,
               pg_catalog.cardinality(g.passages), r.depth, e.turns
        FROM reground.turns AS t
        CROSS JOIN LATERAL (
            SELECT coalesce(pg_catalog.array_agg(DISTINCT p.chunk_id), '{}') AS passages
            FROM (SELECT u.chunk_id FROM pg_catalog.unnest(history_hits.relevant_chunk_ids) AS u(chunk_id)
                  UNION ALL
                  SELECT c.chunk_id FROM reground.message_citations AS c JOIN reground.messages AS m ON m.message_id = c.message_id AND NOT m.superseded
                  WHERE history_hits.relevant_chunk_ids IS NULL AND c.turn_id = t.turn_id AND c.holds AND c.corpus = t.corpus) AS p
            WHERE p.chunk_id IS NOT NULL) AS g
        -- What the search found has a rank, whatever way it came in by: what is pinned, or comes in as the subject, may be found as well.
        CROSS JOIN LATERAL (
            SELECT coalesce(pg_catalog.jsonb_agg(x.member_chunk_ids ORDER BY x.fused_score DESC, x.chunk_id COLLATE "C"), '[]') AS ranks, pg_catalog.count(*)::integer AS depth
            FROM reground.turn_candidates AS x WHERE x.turn_id = t.turn_id AND (x.lexical_rank IS NOT NULL OR x.vector_rank IS NOT NULL) AND x.corpus = t.corpus) AS r
        CROSS JOIN LATERAL (
            SELECT coalesce(pg_catalog.jsonb_agg(q.ranks ORDER BY q.turn_no), '[]') AS rankings, pg_catalog.count(*)::integer AS turns
            FROM (SELECT p.turn_no, (SELECT coalesce(pg_catalog.jsonb_agg(x.member_chunk_ids ORDER BY x.fused_score DESC, x.chunk_id COLLATE "C"), '[]')
                                    FROM reground.turn_candidates AS x WHERE x.turn_id = p.turn_id AND (x.lexical_rank IS NOT NULL OR x.vector_rank IS NOT NULL) AND x.corpus = t.corpus) AS ranks
                  FROM reground.turns AS p WHERE p.conversation_id = t.conversation_id AND p.turn_no < t.turn_no AND p.state <> 'abandoned') AS q) AS e
        CROSS JOIN LATERAL reground._history_hits(r.ranks, e.rankings, g.passages) AS h
        WHERE t.turn_id = history_hits.turn_id;
    END;
COMMENT ON FUNCTION reground.history_hits(bigint, text[]) IS
'Compares the ranks of a turn''s relevant passages in its own search and in those of earlier turns (H4). bottom_hit: one is below rank 3, none above. history_hit: one is in the top 3 of an earlier turn. supplement: a passage below rank 3 was in the top 3 of an earlier turn. relevant_chunk_ids: passages of the turn''s corpus; NULL: those cited by holding citations. candidate_count: candidates of the turn''s search. NULL without relevant passages or candidates. For reground_auditor.';
