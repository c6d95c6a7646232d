-- Reports of users on citations and answers, and their review.

CREATE FUNCTION reground.report_citation(citation_id bigint, reason text, reported_by text DEFAULT NULL)
    RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'report_citation_wrapper';
COMMENT ON FUNCTION reground.report_citation(bigint, text, text) IS
'Stores a user''s report that a citation is wrong. reported_by: default the current role. Errors: 22004 without a reason, 22023 for an empty one, P0002 if the tenant has no such citation.';

CREATE FUNCTION reground.report_answer(message_id bigint, reason text, reported_by text DEFAULT NULL)
    RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'report_answer_wrapper';
COMMENT ON FUNCTION reground.report_answer(bigint, text, text) IS
'Stores a user''s report that an answer is wrong. reported_by: default the current role. Errors: 22004 without a reason, 22023 for an empty one, P0002 if the tenant has no such answer.';

CREATE FUNCTION reground.review_report(report_id bigint, justified boolean, note text DEFAULT NULL, reviewed_by text DEFAULT NULL)
    RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'review_report_wrapper';
COMMENT ON FUNCTION reground.review_report(bigint, boolean, text, text) IS
'Stores whether a report of a user was justified; replaces an earlier review. reviewed_by: default the current role. For reground_auditor. Errors: 22004 for a missing outcome, P0002 if the report does not exist.';

CREATE FUNCTION reground.report_rates(dimension text DEFAULT 'model', since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL)
    RETURNS TABLE (value text, answers bigint, reported bigint, reported_share double precision, reports bigint, reviewed bigint, justified bigint, justified_share double precision,
                   low double precision, high double precision)
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
        SELECT q.value, q.answers, q.reported, q.reported::double precision / nullif(q.answers, 0), q.reports, q.reviewed, q.justified, q.justified::double precision / nullif(q.reviewed, 0), w.low, w.high
        FROM (
            SELECT a.value, pg_catalog.count(*) AS answers, pg_catalog.count(*) FILTER (WHERE r.reports > 0) AS reported, pg_catalog.sum(r.reports)::bigint AS reports,
                   pg_catalog.sum(r.reviewed)::bigint AS reviewed, pg_catalog.sum(r.justified)::bigint AS justified
            FROM reground._answers_by(report_rates.dimension, true, report_rates.since, report_rates.until) AS a
            CROSS JOIN LATERAL (
                SELECT pg_catalog.count(*) AS reports, pg_catalog.count(r.justified) AS reviewed, pg_catalog.count(*) FILTER (WHERE r.justified) AS justified
                FROM reground.citation_reports AS r WHERE r.message_id = a.message_id) AS r
            GROUP BY a.value) AS q
        CROSS JOIN LATERAL reground._wilson_interval(q.justified, q.reviewed) AS w
        WHERE (SELECT reground._notice_scope())
        ORDER BY q.value;
    END;
COMMENT ON FUNCTION reground.report_rates(text, timestamptz, timestamptz) IS
'Counts current answers, those that users reported (themselves or a citation), their reports, the reviewed ones and those that were justified, per value of a dimension. dimension: as in compare. justified_share: justified / reviewed, with its 95 % Wilson interval low to high. Errors: 22023 for an unknown dimension.';
