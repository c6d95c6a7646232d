-- How good citations are: rates with their intervals by any dimension, and what people say of them.

CREATE FUNCTION reground.wilson_interval(successes bigint, trials bigint, confidence double precision DEFAULT 0.95)
    RETURNS TABLE (low double precision, high double precision) LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'wilson_interval_wrapper';
COMMENT ON FUNCTION reground.wilson_interval(bigint, bigint, double precision) IS 'Wilson''s score interval of a rate, within [0, 1]: successes of trials at a confidence above 0 and under 1. NULLs without trials; 22023 for numbers that are no such counts.';

CREATE FUNCTION reground._dimension(by text, of_answers boolean DEFAULT false)
    RETURNS TABLE (name text, key text) LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dimension_wrapper';
COMMENT ON FUNCTION reground._dimension(text, boolean) IS 'What to group by, and the key of tag:KEY; 22023 for what is no dimension, of citations or of answers.';

CREATE FUNCTION reground._citations_by(by text, since timestamptz, until timestamptz)
    RETURNS TABLE (value text, citation_id bigint, holds boolean, support double precision, factor_coordinates smallint, factor_retrieval smallint, factor_rerank smallint,
                   factor_context smallint, factor_generation smallint)
    LANGUAGE sql STABLE PARALLEL UNSAFE
    BEGIN ATOMIC
        SELECT CASE d.name WHEN 'model' THEN m.model WHEN 'tenant' THEN c.tenant WHEN 'corpus' THEN c.corpus WHEN 'document' THEN c.doc_id
                           WHEN 'conversation' THEN v.external_id WHEN 'intent' THEN t.intent WHEN 'form' THEN c.form WHEN 'status' THEN c.status WHEN 'mode' THEN c.mode
                           WHEN 'lost_at' THEN c.lost_at WHEN 'decision' THEN m.decision
                           WHEN 'day' THEN pg_catalog.to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')
                           WHEN 'hour' THEN pg_catalog.to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24":00Z"')
                           WHEN 'tag' THEN (t.tags || m.tags) ->> d.key END,
               c.citation_id, c.holds, c.support, c.factor_coordinates, c.factor_retrieval, c.factor_rerank, c.factor_context, c.factor_generation
        FROM reground._dimension(_citations_by.by) AS d
        CROSS JOIN reground.message_citations AS c
        JOIN reground.messages AS m ON m.message_id = c.message_id AND NOT m.superseded
        LEFT JOIN reground.turns AS t ON t.turn_id = c.turn_id
        LEFT JOIN reground.conversations AS v ON v.conversation_id = c.conversation_id
        WHERE (_citations_by.since IS NULL OR c.created_at >= _citations_by.since) AND (_citations_by.until IS NULL OR c.created_at < _citations_by.until);
    END;
COMMENT ON FUNCTION reground._citations_by(text, timestamptz, timestamptz) IS 'Citations in answers that stand, each with its value of a dimension.';

CREATE FUNCTION reground.citation_quality(by text DEFAULT NULL, since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL)
    RETURNS TABLE (value text, citations bigint, judged bigint, held bigint, rate double precision, low double precision, high double precision,
                   mean_support double precision, labelled bigint, labelled_accurate bigint, reported bigint)
    LANGUAGE sql STABLE PARALLEL UNSAFE
    BEGIN ATOMIC
        SELECT q.value, q.citations, q.judged, q.held, q.held::double precision / nullif(q.judged, 0), w.low, w.high, q.mean_support, q.labelled, q.labelled_accurate, q.reported
        FROM (
            SELECT c.value,
                   pg_catalog.count(*) AS citations, pg_catalog.count(c.holds) AS judged, pg_catalog.count(*) FILTER (WHERE c.holds) AS held, pg_catalog.avg(c.support) AS mean_support,
                   pg_catalog.count(l.label) AS labelled, pg_catalog.count(*) FILTER (WHERE l.label = 'accurate') AS labelled_accurate, pg_catalog.count(r.citation_id) AS reported
            FROM reground._citations_by(citation_quality.by, citation_quality.since, citation_quality.until) AS c
            LEFT JOIN (SELECT DISTINCT ON (citation_id) citation_id, label FROM reground.citation_labels ORDER BY citation_id, labelled_at DESC) AS l ON l.citation_id = c.citation_id
            LEFT JOIN (SELECT DISTINCT citation_id FROM reground.citation_reports) AS r ON r.citation_id = c.citation_id
            GROUP BY 1) AS q
        CROSS JOIN LATERAL reground.wilson_interval(q.held, q.judged) AS w
        ORDER BY q.citations DESC, q.value;
    END;
COMMENT ON FUNCTION reground.citation_quality(text, timestamptz, timestamptz) IS
'How many citations hold, in answers that stand: a row for each value of a dimension, those with most citations first, or one row for all; none where nothing was cited. by is model, tenant, corpus, document, conversation, intent, form, status, mode, lost_at, decision, day, hour (UTC), or tag:KEY. judged leaves out citations of which nothing can be said (malformed, author and year); rate is held of judged, low and high its Wilson interval at 95 %. labelled counts citations that a reviewer labelled, labelled_accurate those that the last of them called accurate, reported those that a user reported. A tenant sees its own, an auditor all. 22023 for another dimension.';

CREATE FUNCTION reground.label_citation(citation bigint, label text, note text DEFAULT NULL, labelled_by text DEFAULT NULL)
    RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'label_citation_wrapper';
COMMENT ON FUNCTION reground.label_citation(bigint, text, text, text) IS 'What a reviewer says of a citation (for the auditor): accurate, partial, hallucinated or unverifiable. labelled_by defaults to the role; the same reviewer''s later word takes the place of the earlier. The tenant of the citation can read it. P0002 for a citation that there is not, 22023 for another label.';

CREATE FUNCTION reground.report_citation(citation bigint, reason text, reported_by text DEFAULT NULL)
    RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'report_citation_wrapper';
COMMENT ON FUNCTION reground.report_citation(bigint, text, text) IS 'Notes that a user complained of a citation. P0002 for a citation that is not the tenant''s.';

CREATE FUNCTION reground.sample_for_review(max_results integer DEFAULT 20, since timestamptz DEFAULT NULL, status text DEFAULT NULL, seed text DEFAULT '')
    RETURNS TABLE (citation_id bigint, tenant text, conversation text, turn integer, query text, claim text, raw text, status text, holds boolean, support double precision,
                   quote text, corpus text, doc_id text, chunk_id text, title text, uri text, created_at timestamptz)
    LANGUAGE sql STABLE PARALLEL UNSAFE
    BEGIN ATOMIC
        SELECT c.citation_id, c.tenant, v.external_id, t.number, t.query, c.claim, c.raw, c.status, c.holds, c.support, c.quote, c.corpus, c.doc_id, c.chunk_id, c.title, c.uri,
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
COMMENT ON FUNCTION reground.sample_for_review(integer, timestamptz, text, text) IS 'Citations that nobody has labelled yet, drawn at random (for the auditor): the same seed draws the same ones, another seed others; max_results NULL gives all. status draws among citations of that verdict alone.';

CREATE FUNCTION reground.stage_survival(by text DEFAULT NULL, since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL)
    RETURNS TABLE (value text, stage integer, name text, reached bigint, survived bigint, rate double precision, low double precision, high double precision)
    LANGUAGE sql STABLE PARALLEL UNSAFE
    BEGIN ATOMIC
        SELECT q.value, q.stage, q.name, q.reached, q.survived, q.survived::double precision / nullif(q.reached, 0), w.low, w.high
        FROM (
            SELECT x.value, f.stage, f.name, pg_catalog.count(f.factor) AS reached, pg_catalog.count(*) FILTER (WHERE f.factor = 1) AS survived
            FROM reground._citations_by(stage_survival.by, stage_survival.since, stage_survival.until) AS x
            CROSS JOIN LATERAL (VALUES (1, 'coordinates', x.factor_coordinates), (2, 'retrieval', x.factor_retrieval), (3, 'rerank', x.factor_rerank),
                                       (4, 'context', x.factor_context), (5, 'generation', x.factor_generation)) AS f(stage, name, factor)
            GROUP BY 1, 2, 3) AS q
        CROSS JOIN LATERAL reground.wilson_interval(q.survived, q.reached) AS w
        ORDER BY q.value, q.stage;
    END;
COMMENT ON FUNCTION reground.stage_survival(text, timestamptz, timestamptz) IS
'How many citations survive each stage of the pipeline (I4), in answers that stand: coordinates, retrieval, rerank, context, generation. reached are those that the stage before let through, and for generation also those that name nothing that there is; rate is survived of reached, low and high its Wilson interval at 95 %. by as in citation_quality. A tenant sees its own, an auditor all.';
