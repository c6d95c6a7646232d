-- How good citations are: rates with their intervals by any dimension, and what people say of them.

CREATE FUNCTION reground.wilson_interval(successes bigint, trials bigint, confidence double precision DEFAULT 0.95)
    RETURNS TABLE (low double precision, high double precision) LANGUAGE c IMMUTABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'wilson_interval_wrapper';
COMMENT ON FUNCTION reground.wilson_interval(bigint, bigint, double precision) IS
'Returns the Wilson score interval of a rate, within [0, 1]. confidence: above 0 and below 1. NULL without trials. Errors: 22023 for invalid counts.';

-- Apart and IMMUTABLE, so that a dimension which is given as a constant is one for the planner: it then reads what that one needs.
CREATE FUNCTION reground._dimension_name(dimension text, of_answers boolean DEFAULT false)
    RETURNS text LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dimension_name_wrapper';
COMMENT ON FUNCTION reground._dimension_name(text, boolean) IS
'Internal: returns the name of a dimension, tag for tag:KEY. Errors: 22023 for an unknown dimension, 22004 for NULL with of_answers.';

CREATE FUNCTION reground._dimension_key(dimension text, of_answers boolean DEFAULT false)
    RETURNS text LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dimension_key_wrapper';
COMMENT ON FUNCTION reground._dimension_key(text, boolean) IS
'Internal: returns the key of tag:KEY, NULL for other dimensions.';

CREATE FUNCTION reground._answers_by(dimension text, of_answers boolean, since timestamptz, until timestamptz, live boolean DEFAULT false)
    RETURNS TABLE (message_id bigint, cfs double precision, value text)
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
        SELECT m.message_id, m.cfs,
               CASE reground._dimension_name(_answers_by.dimension, _answers_by.of_answers)
                   WHEN 'model' THEN m.model WHEN 'tenant' THEN m.tenant WHEN 'decision' THEN m.decision WHEN 'origin' THEN m.origin WHEN 'conversation' THEN v.conversation_ref
                   WHEN 'day' THEN pg_catalog.to_char(m.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')
                   WHEN 'hour' THEN pg_catalog.to_char(m.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24":00Z"') END
        FROM reground.messages AS m
        LEFT JOIN reground.conversations AS v ON v.conversation_id = m.conversation_id AND reground._dimension_name(_answers_by.dimension, _answers_by.of_answers) = 'conversation'
        WHERE NOT m.superseded AND (NOT _answers_by.live OR m.origin = 'live') AND m.created_at >= coalesce(_answers_by.since, '-infinity') AND m.created_at < coalesce(_answers_by.until, 'infinity')
            AND coalesce(reground._dimension_name(_answers_by.dimension, _answers_by.of_answers), '') NOT IN ('intent', 'tag') AND NOT (_answers_by.of_answers AND _answers_by.dimension = 'corpus')
        UNION ALL
        -- Of the turn. OFFSET 0: joined before citations are, ten times as many, which the planner does not see, as it takes the two periods for independent.
        SELECT x.message_id, x.cfs,
               CASE reground._dimension_name(_answers_by.dimension, _answers_by.of_answers)
                   WHEN 'corpus' THEN x.corpus WHEN 'intent' THEN x.intent
                   WHEN 'tag' THEN CASE WHEN x.tags ? reground._dimension_key(_answers_by.dimension, _answers_by.of_answers) THEN x.tags ELSE x.turn_tags END ->> reground._dimension_key(_answers_by.dimension, _answers_by.of_answers) END
        FROM (SELECT m.message_id, m.cfs, m.tags, t.corpus, t.intent, t.tags AS turn_tags FROM reground.messages AS m JOIN reground.turns AS t ON t.turn_id = m.turn_id
              WHERE NOT m.superseded AND (NOT _answers_by.live OR m.origin = 'live') AND m.created_at >= coalesce(_answers_by.since, '-infinity') AND m.created_at < coalesce(_answers_by.until, 'infinity') OFFSET 0) AS x
        WHERE reground._dimension_name(_answers_by.dimension, _answers_by.of_answers) IN ('intent', 'tag') OR (_answers_by.of_answers AND _answers_by.dimension = 'corpus');
    END;
COMMENT ON FUNCTION reground._answers_by(text, boolean, timestamptz, timestamptz, boolean) IS
'Internal: returns current answers (all, or live ones) with their value of a dimension; NULL for a dimension of citations.';

CREATE FUNCTION reground._citations_by(dimension text, since timestamptz, until timestamptz, live boolean DEFAULT false)
    RETURNS TABLE (value text, citation_id bigint, holds boolean, support double precision, factor_coordinates smallint, factor_retrieval smallint, factor_rerank smallint,
                   factor_context smallint, factor_generation smallint)
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
        SELECT CASE reground._dimension_name(_citations_by.dimension)
                   WHEN 'corpus' THEN c.corpus WHEN 'document' THEN c.doc_id WHEN 'form' THEN c.form WHEN 'status' THEN c.status WHEN 'hallucination_mode' THEN c.hallucination_mode
                   WHEN 'lost_stage' THEN c.lost_stage WHEN 'document_type' THEN reground.document_type(c.uri, c.doc_id) ELSE a.value END,
               c.citation_id, c.holds, c.support, c.factor_coordinates, c.factor_retrieval, c.factor_rerank, c.factor_context, c.factor_generation
        FROM reground._answers_by(_citations_by.dimension, false, _citations_by.since, _citations_by.until, _citations_by.live) AS a
        -- A citation is written after its answer: the index on its own time is of use too.
        JOIN reground.message_citations AS c ON c.message_id = a.message_id AND c.created_at >= coalesce(_citations_by.since, '-infinity');
    END;
COMMENT ON FUNCTION reground._citations_by(text, timestamptz, timestamptz, boolean) IS
'Internal: returns citations of current answers with their value of a dimension.';

CREATE FUNCTION reground.citation_quality(dimension text DEFAULT NULL, since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL)
    RETURNS TABLE (value text, citations bigint, judged bigint, holding bigint, rate double precision, low double precision, high double precision,
                   mean_support double precision, labelled bigint, labelled_accurate bigint, reported bigint)
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
        -- Labels and reports are few: they are looked up by themselves, and what is left is counted in parallel.
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
                -- Never a row: asked in every plan, so that what is no dimension is refused though there is nothing to group.
                SELECT NULL, 0, 0, 0, NULL, 0, 0, 0 WHERE reground._dimension_name(citation_quality.dimension) = '') AS p
            GROUP BY p.value) AS q
        CROSS JOIN LATERAL reground.wilson_interval(q.holding, q.judged) AS w
        ORDER BY q.citations DESC, q.value;
    END;
COMMENT ON FUNCTION reground.citation_quality(text, timestamptz, timestamptz) IS
'Counts how many citations of current answers hold, one row per value of a dimension. dimension: model, tenant, corpus, document, document_type, conversation, intent, origin, form, status, hallucination_mode, lost_stage, decision, day, hour (UTC) or tag:KEY; NULL for one row. rate: holding / judged, with its 95 % Wilson interval low to high. labelled, labelled_accurate: citations with a label, by their last label. reported: citations reported by users. since, until: times of the answers. Errors: 22023 for an unknown dimension.';

CREATE FUNCTION reground.label_citation(citation_id bigint, label text, note text DEFAULT NULL, labelled_by text DEFAULT NULL)
    RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'label_citation_wrapper';
COMMENT ON FUNCTION reground.label_citation(bigint, text, text, text) IS
'Stores a reviewer''s label of a citation: accurate, partial, hallucinated or unverifiable. labelled_by: default the current role; a later label of the same reviewer replaces the earlier one. For reground_auditor. Errors: 22023 for an unknown label, P0002 if the citation does not exist.';

CREATE FUNCTION reground.report_citation(citation_id bigint, reason text, reported_by text DEFAULT NULL)
    RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'report_citation_wrapper';
COMMENT ON FUNCTION reground.report_citation(bigint, text, text) IS
'Stores a user''s complaint about a citation. Errors: P0002 if the tenant has no such citation.';

CREATE FUNCTION reground.sample_for_review(max_results integer DEFAULT 20, since timestamptz DEFAULT NULL, status text DEFAULT NULL, seed text DEFAULT '')
    RETURNS TABLE (citation_id bigint, tenant text, conversation_ref text, turn_no integer, query text, claim text, raw text, status text, holds boolean, support double precision,
                   quote text, corpus text, doc_id text, chunk_id text, title text, uri text, created_at timestamptz)
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
        SELECT c.citation_id, c.tenant, v.conversation_ref, t.turn_no, t.query, c.claim, c.raw, c.status, c.holds, c.support, c.quote, c.corpus, c.doc_id, c.chunk_id, c.title, c.uri,
               c.created_at
        FROM reground.message_citations AS c
        JOIN reground.messages AS m ON m.message_id = c.message_id AND NOT m.superseded
        JOIN reground.turns AS t ON t.turn_id = c.turn_id
        JOIN reground.conversations AS v ON v.conversation_id = c.conversation_id
        WHERE (sample_for_review.since IS NULL OR c.created_at >= sample_for_review.since)
            AND (sample_for_review.status IS NULL OR c.status = sample_for_review.status)
            AND NOT EXISTS (SELECT FROM reground.citation_labels AS l WHERE l.citation_id = c.citation_id)
        ORDER BY pg_catalog.hashtextextended(sample_for_review.seed || c.citation_id::text, 0), c.citation_id
        LIMIT CASE WHEN sample_for_review.max_results > 0 THEN sample_for_review.max_results WHEN sample_for_review.max_results <= 0 THEN 0 END;
    END;
COMMENT ON FUNCTION reground.sample_for_review(integer, timestamptz, text, text) IS
'Returns a random sample of citations without a label. seed: the same seed draws the same sample. max_results: NULL returns all. status: only citations with this verdict. For reground_auditor.';

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
                -- Never a row, as above.
                SELECT NULL, NULL, NULL, NULL, NULL, NULL WHERE reground._dimension_name(stage_survival.dimension) = '') AS x
            GROUP BY x.value) AS q
        CROSS JOIN LATERAL (VALUES (1, 'coordinates', q.r1, q.s1), (2, 'retrieval', q.r2, q.s2), (3, 'rerank', q.r3, q.s3), (4, 'context', q.r4, q.s4), (5, 'generation', q.r5, q.s5))
            AS f(stage_no, stage, reached, survived)
        CROSS JOIN LATERAL reground.wilson_interval(f.survived, f.reached) AS w
        ORDER BY q.value, f.stage_no;
    END;
COMMENT ON FUNCTION reground.stage_survival(text, timestamptz, timestamptz) IS
'Counts how many citations of current answers survive each stage of the pipeline (I4), per value of a dimension. dimension: as in citation_quality. reached: citations that the previous stage passed; for generation also those that name nothing. rate: survived / reached, with its 95 % Wilson interval low to high. Errors: 22023 for an unknown dimension.';
