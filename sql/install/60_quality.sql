-- Rates of citations that hold, by dimension, with intervals.

CREATE FUNCTION reground._document_type(uri text, doc_id text DEFAULT NULL) RETURNS text
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'document_type_wrapper';
COMMENT ON FUNCTION reground._document_type(text, text) IS
'Internal: returns the file extension of a document''s address, otherwise of its id, for example pdf or html; NULL without one.';

CREATE FUNCTION reground._wilson_interval(successes bigint, trials bigint, confidence double precision DEFAULT 0.95)
    RETURNS TABLE (low double precision, high double precision) LANGUAGE c IMMUTABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'wilson_interval_wrapper';
COMMENT ON FUNCTION reground._wilson_interval(bigint, bigint, double precision) IS
'Internal: returns the Wilson score interval of a rate, within [0, 1]. confidence: above 0 and below 1. NULL without trials. Errors: 22023 for invalid counts.';

-- A separate IMMUTABLE function, so that the planner folds a constant dimension and plans only the branches that it needs.
CREATE FUNCTION reground._dimension_name(dimension text, of_answers boolean DEFAULT false)
    RETURNS text LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dimension_name_wrapper';
COMMENT ON FUNCTION reground._dimension_name(text, boolean) IS
'Internal: returns the name of a dimension, tag for tag:KEY, version for version:COMPONENT. Errors: 22023 for an unknown dimension, 22004 for NULL with of_answers.';

CREATE FUNCTION reground._dimension_key(dimension text, of_answers boolean DEFAULT false)
    RETURNS text LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dimension_key_wrapper';
COMMENT ON FUNCTION reground._dimension_key(text, boolean) IS
'Internal: returns the key of tag:KEY or version:COMPONENT, NULL for other dimensions.';

CREATE FUNCTION reground._answers_by(dimension text, of_answers boolean, since timestamptz, until timestamptz, live boolean DEFAULT false)
    RETURNS TABLE (message_id bigint, created_at timestamptz, cfs double precision, value text)
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
        SELECT m.message_id, m.created_at, m.cfs,
               CASE reground._dimension_name(_answers_by.dimension, _answers_by.of_answers)
                   WHEN 'model' THEN m.model WHEN 'tenant' THEN m.tenant WHEN 'decision' THEN m.decision WHEN 'origin' THEN m.origin WHEN 'conversation' THEN v.conversation_ref
                   WHEN 'day' THEN pg_catalog.to_char(m.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')
                   WHEN 'hour' THEN pg_catalog.to_char(m.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24":00Z"') END
        FROM reground.messages AS m
        LEFT JOIN reground.conversations AS v ON v.conversation_id = m.conversation_id AND reground._dimension_name(_answers_by.dimension, _answers_by.of_answers) = 'conversation'
        WHERE NOT m.superseded AND (NOT _answers_by.live OR m.origin = 'live') AND m.created_at >= coalesce(_answers_by.since, '-infinity') AND m.created_at < coalesce(_answers_by.until, 'infinity')
            AND coalesce(reground._dimension_name(_answers_by.dimension, _answers_by.of_answers), '') NOT IN ('turn_no', 'intent', 'strategy', 'tag', 'version') AND NOT (_answers_by.of_answers AND _answers_by.dimension = 'corpus')
        UNION ALL
        -- Dimensions of the turn. OFFSET 0 joins messages and turns before the citations, which are ten times as many: the planner takes
        -- the two conditions on the period for independent and would choose another order.
        SELECT x.message_id, x.created_at, x.cfs,
               CASE reground._dimension_name(_answers_by.dimension, _answers_by.of_answers)
                   WHEN 'corpus' THEN x.corpus WHEN 'turn_no' THEN x.turn_no::text WHEN 'intent' THEN x.intent WHEN 'strategy' THEN x.strategy
                   WHEN 'tag' THEN CASE WHEN x.tags ? reground._dimension_key(_answers_by.dimension, _answers_by.of_answers) THEN x.tags ELSE x.turn_tags END ->> reground._dimension_key(_answers_by.dimension, _answers_by.of_answers)
                   WHEN 'version' THEN (SELECT pg_catalog.substr(w.word, pg_catalog.strpos(w.word, '=') + 1) FROM pg_catalog.regexp_split_to_table(x.versions, '\s+') AS w(word)
                                        WHERE pg_catalog.split_part(w.word, '=', 1) = reground._dimension_key(_answers_by.dimension, _answers_by.of_answers) LIMIT 1) END
        FROM (SELECT m.message_id, m.created_at, m.cfs, m.tags, t.corpus, t.turn_no, t.intent, t.settings ->> 'strategy' AS strategy, t.tags AS turn_tags, t.settings ->> 'component_versions' AS versions FROM reground.messages AS m JOIN reground.turns AS t ON t.turn_id = m.turn_id
              WHERE NOT m.superseded AND (NOT _answers_by.live OR m.origin = 'live') AND m.created_at >= coalesce(_answers_by.since, '-infinity') AND m.created_at < coalesce(_answers_by.until, 'infinity') OFFSET 0) AS x
        WHERE reground._dimension_name(_answers_by.dimension, _answers_by.of_answers) IN ('turn_no', 'intent', 'strategy', 'tag', 'version') OR (_answers_by.of_answers AND _answers_by.dimension = 'corpus');
    END;
COMMENT ON FUNCTION reground._answers_by(text, boolean, timestamptz, timestamptz, boolean) IS
'Internal: returns current answers (all, or live ones) with their value of a dimension; NULL for a dimension of citations.';

CREATE FUNCTION reground._citations_by(dimension text, since timestamptz, until timestamptz, live boolean DEFAULT false)
    RETURNS TABLE (value text, citation_id bigint, holds boolean, support double precision, factor_coordinates smallint, factor_retrieval smallint, factor_rerank smallint,
                   factor_context smallint, factor_generation smallint,
                   message_id bigint, answered_at timestamptz, malformed boolean)
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
        SELECT CASE reground._dimension_name(_citations_by.dimension)
                   WHEN 'corpus' THEN c.corpus WHEN 'document' THEN c.doc_id WHEN 'form' THEN c.form WHEN 'status' THEN c.status WHEN 'hallucination_mode' THEN c.hallucination_mode
                   WHEN 'lost_stage' THEN c.lost_stage WHEN 'document_type' THEN reground._document_type(c.uri, c.doc_id) ELSE a.value END,
               c.citation_id, c.holds, c.support, c.factor_coordinates, c.factor_retrieval, c.factor_rerank, c.factor_context, c.factor_generation,
               a.message_id, a.created_at, c.status = 'malformed'
        FROM reground._answers_by(_citations_by.dimension, false, _citations_by.since, _citations_by.until, _citations_by.live) AS a
        -- A citation is written after its answer, so the index on created_at can be used.
        JOIN reground.message_citations AS c ON c.message_id = a.message_id AND c.created_at >= coalesce(_citations_by.since, '-infinity');
    END;
COMMENT ON FUNCTION reground._citations_by(text, timestamptz, timestamptz, boolean) IS
'Internal: returns citations of current answers with their value of a dimension.';

CREATE FUNCTION reground.citation_quality(dimension text DEFAULT NULL, since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL)
    RETURNS TABLE (value text, citations bigint, judged bigint, holding bigint, rate double precision, low double precision, high double precision,
                   mean_support double precision, labelled bigint, labelled_accurate bigint, reported bigint)
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
        -- Labels and reports are few and are counted separately, so that the main count can run in parallel.
        SELECT q.value, q.citations, q.judged, q.holding, q.holding::double precision / nullif(q.judged, 0), w.low, w.high, q.mean_support, q.labelled, q.labelled_accurate, q.reported
        FROM (
            SELECT p.value, pg_catalog.sum(p.citations)::bigint AS citations, pg_catalog.sum(p.judged)::bigint AS judged, pg_catalog.sum(p.holding)::bigint AS holding,
                   pg_catalog.max(p.mean_support) AS mean_support, pg_catalog.sum(p.labelled)::bigint AS labelled, pg_catalog.sum(p.labelled_accurate)::bigint AS labelled_accurate,
                   pg_catalog.sum(p.reported)::bigint AS reported
            FROM (
                SELECT c.value, pg_catalog.count(*) AS citations, pg_catalog.count(c.holds) AS judged, pg_catalog.count(*) FILTER (WHERE c.holds) AS holding,
                       pg_catalog.avg(c.support) AS mean_support, 0::bigint AS labelled, 0::bigint AS labelled_accurate, 0::bigint AS reported
                FROM reground._citations_by(citation_quality.dimension, citation_quality.since, citation_quality.until) AS c
                GROUP BY c.value
                UNION ALL
                SELECT c.value, 0, 0, 0, NULL, pg_catalog.count(*), pg_catalog.count(*) FILTER (WHERE l.label = 'accurate'), 0
                FROM (SELECT DISTINCT ON (citation_id) citation_id, label FROM reground.citation_labels ORDER BY citation_id, labelled_at DESC) AS l
                JOIN reground._citations_by(citation_quality.dimension, citation_quality.since, citation_quality.until) AS c ON c.citation_id = l.citation_id
                GROUP BY c.value
                UNION ALL
                SELECT c.value, 0, 0, 0, NULL, 0, 0, pg_catalog.count(*)
                FROM (SELECT DISTINCT citation_id FROM reground.citation_reports) AS r
                JOIN reground._citations_by(citation_quality.dimension, citation_quality.since, citation_quality.until) AS c ON c.citation_id = r.citation_id
                GROUP BY c.value
                UNION ALL
                -- Returns no row. It checks the dimension also if there is nothing to group.
                SELECT NULL, 0, 0, 0, NULL, 0, 0, 0 WHERE reground._dimension_name(citation_quality.dimension) = '') AS p
            GROUP BY p.value) AS q
        CROSS JOIN LATERAL reground._wilson_interval(q.holding, q.judged) AS w
        WHERE (SELECT reground._notice_scope())
        ORDER BY q.citations DESC, q.value;
    END;
COMMENT ON FUNCTION reground.citation_quality(text, timestamptz, timestamptz) IS
'Counts how many citations of current answers hold, one row per value of a dimension. dimension: model, tenant, corpus, document, document_type, conversation, turn_no, intent, strategy, origin, form, status, hallucination_mode, lost_stage, decision, day, hour (UTC), tag:KEY or version:COMPONENT (of the setting component_versions); NULL for one row. rate: holding / judged, with its 95 % Wilson interval low to high. labelled, labelled_accurate: citations with a label, by their last label. reported: citations reported by users. since, until: times of the answers. Errors: 22023 for an unknown dimension.';

CREATE FUNCTION reground.hallucination_mix(corpus text DEFAULT NULL, since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL)
    RETURNS TABLE (hallucination_mode text, citations bigint, share double precision, low double precision, high double precision, published_share double precision)
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
        SELECT q.mode, q.citations, q.citations::double precision / nullif(q.wrong, 0), w.low, w.high, q.published
        FROM (
            SELECT p.mode, p.published, p.place, pg_catalog.count(c.hallucination_mode) AS citations, pg_catalog.sum(pg_catalog.count(c.hallucination_mode)) OVER ()::bigint AS wrong
            FROM (VALUES ('fabricated_coordinate', 0.41, 1), ('cross_text_conflation', 0.32, 2), ('paraphrase_attribution', 0.27, 3)) AS p(mode, published, place)
            LEFT JOIN (
                SELECT c.hallucination_mode FROM reground.message_citations AS c JOIN reground.messages AS m ON m.message_id = c.message_id
                WHERE NOT m.superseded AND (hallucination_mix.corpus IS NULL OR EXISTS (SELECT FROM reground.turns AS t WHERE t.turn_id = m.turn_id AND t.corpus = hallucination_mix.corpus))
                    AND m.created_at >= coalesce(hallucination_mix.since, '-infinity') AND m.created_at < coalesce(hallucination_mix.until, 'infinity')
                    AND c.created_at >= coalesce(hallucination_mix.since, '-infinity')) AS c ON c.hallucination_mode = p.mode
            GROUP BY p.mode, p.published, p.place) AS q
        CROSS JOIN LATERAL reground._wilson_interval(q.citations, q.wrong) AS w
        WHERE (SELECT reground._notice_scope())
        ORDER BY q.place;
    END;
COMMENT ON FUNCTION reground.hallucination_mix(text, timestamptz, timestamptz) IS
'Counts the wrong citations of current answers by hallucination mode. share: of all three, with its 95 % Wilson interval low to high; NULL without wrong citations. published_share: share in the study that names the modes (multi-turn dialogue over classical texts). corpus: only answers of turns with this leading corpus, because a fabricated citation names no corpus. since, until: times of the answers.';

CREATE FUNCTION reground.label_citation(citation_id bigint, label text, note text DEFAULT NULL, labelled_by text DEFAULT NULL)
    RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'label_citation_wrapper';
COMMENT ON FUNCTION reground.label_citation(bigint, text, text, text) IS
'Stores a reviewer''s label of a citation: accurate, partial, hallucinated or unverifiable. labelled_by: default the current role; a later label of the same reviewer replaces the earlier one. For reground_auditor. Errors: 22023 for an unknown label, P0002 if the citation does not exist.';

CREATE FUNCTION reground.stage_survival(dimension text DEFAULT NULL, since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL)
    RETURNS TABLE (value text, stage_no integer, stage text, reached bigint, survived bigint, rate double precision, low double precision, high double precision)
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
        SELECT q.value, f.stage_no, f.stage, f.reached, f.survived, f.survived::double precision / nullif(f.reached, 0), w.low, w.high
        FROM (
            SELECT x.value,
                   pg_catalog.count(x.factor_coordinates) AS r1, pg_catalog.count(*) FILTER (WHERE x.factor_coordinates = 1) AS s1,
                   pg_catalog.count(x.factor_retrieval) AS r2, pg_catalog.count(*) FILTER (WHERE x.factor_retrieval = 1) AS s2,
                   pg_catalog.count(x.factor_rerank) AS r3, pg_catalog.count(*) FILTER (WHERE x.factor_rerank = 1) AS s3,
                   pg_catalog.count(x.factor_context) AS r4, pg_catalog.count(*) FILTER (WHERE x.factor_context = 1) AS s4,
                   pg_catalog.count(x.factor_generation) AS r5, pg_catalog.count(*) FILTER (WHERE x.factor_generation = 1) AS s5
            FROM (
                SELECT c.value, c.factor_coordinates, c.factor_retrieval, c.factor_rerank, c.factor_context, c.factor_generation
                FROM reground._citations_by(stage_survival.dimension, stage_survival.since, stage_survival.until) AS c
                UNION ALL
                -- Returns no row; it checks the dimension.
                SELECT NULL, NULL, NULL, NULL, NULL, NULL WHERE reground._dimension_name(stage_survival.dimension) = '') AS x
            GROUP BY x.value) AS q
        CROSS JOIN LATERAL (VALUES (1, 'coordinates', q.r1, q.s1), (2, 'retrieval', q.r2, q.s2), (3, 'rerank', q.r3, q.s3), (4, 'context', q.r4, q.s4), (5, 'generation', q.r5, q.s5))
            AS f(stage_no, stage, reached, survived)
        CROSS JOIN LATERAL reground._wilson_interval(f.survived, f.reached) AS w
        WHERE (SELECT reground._notice_scope())
        ORDER BY q.value, f.stage_no;
    END;
COMMENT ON FUNCTION reground.stage_survival(text, timestamptz, timestamptz) IS
'Counts how many citations of current answers survive each stage of the pipeline, per value of a dimension. dimension: as in citation_quality. reached: citations that the previous stage passed; for generation also those that name nothing. rate: survived / reached, with its 95 % Wilson interval low to high. Errors: 22023 for an unknown dimension.';

-- Comparison of two groups of answers.

CREATE FUNCTION reground._of_answers(figure text)
    RETURNS boolean LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'of_answers_wrapper';
COMMENT ON FUNCTION reground._of_answers(text) IS
'Internal: returns whether a figure of compare is one of answers; otherwise it is one of citations. Errors: 22023 for an unknown figure.';

CREATE FUNCTION reground._compare(figure text, dimension text, value_a text, value_b text, overlap boolean, sums_a double precision[], counts_a bigint[], sums_b double precision[], counts_b bigint[])
    RETURNS TABLE (answers_a bigint, answers_b bigint, samples_a bigint, samples_b bigint, mean_a double precision, mean_b double precision, median_a double precision, median_b double precision,
                   difference double precision, low double precision, high double precision, effect double precision, effect_size text, test text, p_value double precision)
    LANGUAGE c IMMUTABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'compare_wrapper';
COMMENT ON FUNCTION reground._compare IS
'Internal: computes compare from the sums and counts of each answer in both groups. overlap: whether something can belong to both. Errors: 22004 for NULL, 22023 for an unknown figure or groups that overlap.';

-- The functions in the two branches are folded for a constant figure, so only one branch is planned.
CREATE FUNCTION reground.compare(figure text, dimension text, value_a text, value_b text, since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL)
    RETURNS TABLE (answers_a bigint, answers_b bigint, samples_a bigint, samples_b bigint, mean_a double precision, mean_b double precision, median_a double precision, median_b double precision,
                   difference double precision, low double precision, high double precision, effect double precision, effect_size text, test text, p_value double precision)
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
        SELECT w.answers_a, w.answers_b, w.samples_a, w.samples_b, w.mean_a, w.mean_b, w.median_a, w.median_b, w.difference, w.low, w.high, w.effect, w.effect_size, w.test, w.p_value
        FROM (
            SELECT coalesce(pg_catalog.array_agg(g.sum_a), '{}') AS sums_a, coalesce(pg_catalog.array_agg(g.count_a), '{}') AS counts_a,
                   coalesce(pg_catalog.array_agg(g.sum_b), '{}') AS sums_b, coalesce(pg_catalog.array_agg(g.count_b), '{}') AS counts_b
            FROM (
                SELECT coalesce(pg_catalog.sum(y.number) FILTER (WHERE y.in_a), 0) AS sum_a, pg_catalog.count(*) FILTER (WHERE y.in_a) AS count_a,
                       coalesce(pg_catalog.sum(y.number) FILTER (WHERE NOT y.in_a), 0) AS sum_b, pg_catalog.count(*) FILTER (WHERE NOT y.in_a) AS count_b
                FROM (
                    SELECT x.message_id, x.number,
                           CASE compare.dimension WHEN 'period' THEN CASE WHEN x.answered_at OPERATOR(pg_catalog.<@) compare.value_a::tstzrange THEN true WHEN x.answered_at OPERATOR(pg_catalog.<@) compare.value_b::tstzrange THEN false END
                               ELSE CASE x.value WHEN compare.value_a THEN true WHEN compare.value_b THEN false END END AS in_a
                    FROM (
                        SELECT c.message_id, c.answered_at, c.value,
                               CASE compare.figure WHEN 'holding' THEN CASE WHEN c.holds THEN 1 WHEN NOT c.holds THEN 0 END WHEN 'malformed' THEN CASE WHEN c.malformed THEN 1 ELSE 0 END ELSE c.support END::double precision AS number
                        FROM reground._citations_by(CASE WHEN reground._of_answers(compare.figure) OR compare.dimension = 'period' THEN NULL ELSE compare.dimension END, compare.since, compare.until) AS c
                        WHERE NOT reground._of_answers(compare.figure)
                        UNION ALL
                        SELECT a.message_id, a.created_at, a.value,
                               CASE compare.figure WHEN 'cited' THEN CASE WHEN m.citation_count > 0 THEN 1 ELSE 0 END WHEN 'cfs' THEN m.cfs WHEN 'stage_cfs' THEN m.stage_cfs WHEN 'grounded_cfs' THEN m.grounded_cfs
                                   WHEN 'answer_tokens' THEN m.answer_tokens WHEN 'context_tokens' THEN t.context_tokens WHEN 'search_ms' THEN t.search_us / 1000.0
                                   WHEN 'answer_ms' THEN CASE WHEN m.origin = 'live' THEN pg_catalog.date_part('epoch', m.created_at - t.begun_at) * 1000 END END::double precision
                        FROM reground._answers_by(CASE WHEN reground._of_answers(compare.figure) AND compare.dimension <> 'period' THEN compare.dimension ELSE 'origin' END, true, compare.since, compare.until) AS a
                        JOIN reground.messages AS m ON m.message_id = a.message_id
                        JOIN reground.turns AS t ON t.turn_id = m.turn_id
                        WHERE reground._of_answers(compare.figure)) AS x
                    WHERE x.number IS NOT NULL) AS y
                WHERE y.in_a IS NOT NULL
                GROUP BY y.message_id) AS g) AS s
        CROSS JOIN LATERAL reground._compare(compare.figure, compare.dimension, compare.value_a, compare.value_b,
            CASE compare.dimension WHEN 'period' THEN compare.value_a::tstzrange OPERATOR(pg_catalog.&&) compare.value_b::tstzrange ELSE compare.value_a OPERATOR(pg_catalog.=) compare.value_b END, s.sums_a, s.counts_a, s.sums_b, s.counts_b) AS w
        WHERE (SELECT reground._notice_scope());
    END;
COMMENT ON FUNCTION reground.compare(text, text, text, text, timestamptz, timestamptz) IS
'Compares a figure of current answers between two values of a dimension. figure: holding, malformed (shares of citations), support (mean of an answer''s citations), cited (share of answers with a citation), cfs, stage_cfs, grounded_cfs, answer_ms (from begin_turn to end_turn), search_ms, answer_tokens or context_tokens. dimension: as in citation_quality for figures of citations, otherwise model, tenant, corpus (of the turn), conversation, turn_no, intent, strategy, decision, origin, day, hour, tag:KEY or version:COMPONENT; for both period, with ranges of time as values. samples: citations or answers. difference: mean_a - mean_b, with its 95 % interval low to high. test: clustered_proportions for shares, mann_whitney for numbers. effect, effect_size: cohen_h for shares, cliff_delta for numbers. NULL if a group is empty. Errors: 22004 for NULL, 22023 for an unknown figure or dimension, or groups that overlap.';

CREATE FUNCTION reground.in_canary(conversation_ref text, share double precision DEFAULT 0.05, salt text DEFAULT '')
    RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN share > 0 AND share <= 1 AND (pg_catalog.hashtextextended(in_canary.salt || '/' || in_canary.conversation_ref, 0) & 1048575) < share * 1048576;
COMMENT ON FUNCTION reground.in_canary(text, double precision, text) IS
'Returns whether a conversation belongs to a share of all conversations, by a hash of its id. share: above 0, at most 1. salt: another salt selects other conversations.';

-- Quality measures of an answer, of a ranking, and of a text.

CREATE FUNCTION reground.answer_metrics(message_id bigint)
    RETURNS TABLE (metric text, numerator double precision, denominator bigint, value double precision)
    LANGUAGE c STABLE PARALLEL UNSAFE ROWS 20 AS 'MODULE_PATHNAME', 'answer_metrics_wrapper';
COMMENT ON FUNCTION reground.answer_metrics IS
'Computes quality measures of a stored answer: reference_validity, citation_coverage, alce_citation_recall and _precision, trec_weighted_ and trec_hard_precision and _recall, all_citations_precision and _recall, faithfulness, context_utilisation, carry_over_hit_rate. value is numerator / denominator; NULL if the denominator is 0. Over several answers: sum(numerator) / nullif(sum(denominator), 0). Errors: P0002 if the answer does not exist.';

CREATE FUNCTION reground.retrieval_metrics(ranking text[], judgements jsonb, k integer DEFAULT 10)
    RETURNS TABLE (ndcg double precision, recall double precision, "precision" double precision, reciprocal_rank double precision, average_precision double precision)
    LANGUAGE c IMMUTABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'retrieval_metrics_wrapper';
COMMENT ON FUNCTION reground.retrieval_metrics(text[], jsonb, integer) IS
'Scores the ranking of one query, best first, against judgements {chunk_id: gain}, as trec_eval does: ndcg, recall and precision at k, reciprocal rank and average precision of the whole ranking. NULL if no judged passage is relevant (precision never). Errors: 22023 for invalid judgements or k below 1.';

CREATE FUNCTION reground.text_metrics(answer text, reference text)
    RETURNS TABLE (exact_match boolean, token_f1 double precision, rouge_l_precision double precision, rouge_l_recall double precision, rouge_l double precision)
    LANGUAGE c IMMUTABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'text_metrics_wrapper';
COMMENT ON FUNCTION reground.text_metrics(text, text) IS
'Compares an answer with a reference answer: exact match and token F1 of SQuAD 2.0, ROUGE-L (Lin 2004). rouge_l: F1; NULL if the reference has no words.';

CREATE FUNCTION reground._history_hits(ranking jsonb, earlier_rankings jsonb, relevant_chunk_ids text[])
    RETURNS TABLE (bottom boolean, history boolean, supplement boolean) LANGUAGE c IMMUTABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', '_history_hits_wrapper';
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
        -- A passage found by the search has a rank, also if its origin is pinned or carried.
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
'Compares the ranks of a turn''s relevant passages in its own search and in those of earlier turns. bottom_hit: one is below rank 3, none above. history_hit: one is in the top 3 of an earlier turn. supplement: a passage below rank 3 was in the top 3 of an earlier turn. relevant_chunk_ids: passages of the turn''s corpus; NULL: those cited by holding citations. candidate_count: candidates of the turn''s search. NULL without relevant passages or candidates. For reground_auditor.';

-- Service level indicators and usage of sources.

CREATE FUNCTION reground.sli(since timestamptz DEFAULT pg_catalog.now() - interval '24 hours', until timestamptz DEFAULT NULL)
    RETURNS TABLE (indicator text, value double precision, target double precision, met boolean, samples bigint)
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
        WITH answers AS (
            SELECT 1 AS indicator_no, 'cfs_p1' AS indicator, pg_catalog.percentile_disc(0.01) WITHIN GROUP (ORDER BY a.cfs) AS value, 0.90::double precision AS target, pg_catalog.count(a.cfs) AS samples
            FROM reground._answers_by(NULL, false, sli.since, sli.until, true) AS a),
        citations AS MATERIALIZED (
            SELECT pg_catalog.count(c.factor_rerank) AS reached, pg_catalog.count(*) FILTER (WHERE c.factor_rerank = 1) AS survived,
                   pg_catalog.count(*) AS written, pg_catalog.count(*) FILTER (WHERE c.value = 'malformed') AS malformed
            FROM reground._citations_by('status', sli.since, sli.until, true) AS c)
        SELECT s.indicator, s.value, s.target, CASE s.indicator WHEN 'parse_failures' THEN s.value < s.target ELSE s.value >= s.target END, s.samples
        FROM (
            SELECT * FROM answers
            UNION ALL
            SELECT 2, 'rerank_survival', c.survived::double precision / nullif(c.reached, 0), 0.95::double precision, c.reached FROM citations AS c
            UNION ALL
            SELECT 3, 'parse_failures', c.malformed::double precision / nullif(c.written, 0), 0.005::double precision, c.written FROM citations AS c) AS s
        WHERE (SELECT reground._notice_scope())
        ORDER BY s.indicator_no;
    END;
COMMENT ON FUNCTION reground.sli(timestamptz, timestamptz) IS
'Returns the service level indicators of citations over current live answers, by default of the last 24 hours: cfs_p1 (first percentile of the scores, target 0.90), rerank_survival (target 0.95), parse_failures (target below 0.005). NULL without samples.';

CREATE FUNCTION reground.source_usage(since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL)
    RETURNS TABLE (corpus text, doc_id text, title text, contexts bigint, citations bigint, holding bigint, conversations bigint, last_cited timestamptz)
    LANGUAGE sql STABLE PARALLEL RESTRICTED
    BEGIN ATOMIC
        SELECT u.corpus, u.doc_id, pg_catalog.max(u.title), pg_catalog.sum(u.contexts)::bigint, pg_catalog.sum(u.citations)::bigint, pg_catalog.sum(u.holding)::bigint,
               pg_catalog.max(u.conversations), pg_catalog.max(u.last_cited)
        FROM (
            SELECT e #>> '{passage,corpus}' AS corpus, e #>> '{passage,doc_id}' AS doc_id, pg_catalog.max(reground._unsealed(t.tenant, 'title', e #>> '{passage,title}')) AS title, pg_catalog.count(DISTINCT t.turn_id) AS contexts,
                   0::bigint AS citations, 0::bigint AS holding, pg_catalog.count(DISTINCT t.conversation_id) AS conversations, NULL::timestamptz AS last_cited
            FROM reground.turns AS t, pg_catalog.jsonb_array_elements(t.context) AS e
            WHERE t.state IN ('open', 'ended') AND t.begun_at >= coalesce(source_usage.since, '-infinity') AND t.begun_at < coalesce(source_usage.until, 'infinity')
            GROUP BY 1, 2
            UNION ALL
            SELECT c.corpus, c.doc_id, pg_catalog.max(reground._unsealed(c.tenant, 'title', c.title)), 0, pg_catalog.count(*), pg_catalog.count(*) FILTER (WHERE c.holds), 0, pg_catalog.max(c.created_at)
            FROM reground.message_citations AS c JOIN reground.messages AS m ON m.message_id = c.message_id AND NOT m.superseded
            WHERE c.doc_id IS NOT NULL AND c.created_at >= coalesce(source_usage.since, '-infinity') AND c.created_at < coalesce(source_usage.until, 'infinity')
            GROUP BY 1, 2) AS u
        WHERE (SELECT reground._notice_scope())
        GROUP BY u.corpus, u.doc_id
        ORDER BY 5 DESC, 4 DESC, 1, 2;
    END;
COMMENT ON FUNCTION reground.source_usage(timestamptz, timestamptz) IS
'Counts per document the contexts that contained it, its citations in current answers, those that hold, and the conversations, most cited first.';
