-- Whether the service is as good as it was promised to be, and what its sources are used for.

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
        ORDER BY s.indicator_no;
    END;
COMMENT ON FUNCTION reground.sli(timestamptz, timestamptz) IS
'Returns the service level indicators of citations (I15) over current live answers, by default of the last 24 hours: cfs_p1 (first percentile of the scores, target 0.90), rerank_survival (target 0.95), parse_failures (target below 0.005). NULL without samples.';

CREATE FUNCTION reground.source_usage(since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL)
    RETURNS TABLE (corpus text, doc_id text, title text, contexts bigint, citations bigint, holding bigint, conversations bigint, last_cited timestamptz)
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
        SELECT u.corpus, u.doc_id, pg_catalog.max(u.title), pg_catalog.sum(u.contexts)::bigint, pg_catalog.sum(u.citations)::bigint, pg_catalog.sum(u.holding)::bigint,
               pg_catalog.max(u.conversations), pg_catalog.max(u.last_cited)
        FROM (
            SELECT e #>> '{passage,corpus}' AS corpus, e #>> '{passage,doc_id}' AS doc_id, pg_catalog.max(e #>> '{passage,title}') AS title, pg_catalog.count(DISTINCT t.turn_id) AS contexts,
                   0::bigint AS citations, 0::bigint AS holding, pg_catalog.count(DISTINCT t.conversation_id) AS conversations, NULL::timestamptz AS last_cited
            FROM reground.turns AS t, pg_catalog.jsonb_array_elements(t.context) AS e
            WHERE t.state IN ('open', 'ended') AND t.begun_at >= coalesce(source_usage.since, '-infinity') AND t.begun_at < coalesce(source_usage.until, 'infinity')
            GROUP BY 1, 2
            UNION ALL
            SELECT c.corpus, c.doc_id, pg_catalog.max(c.title), 0, pg_catalog.count(*), pg_catalog.count(*) FILTER (WHERE c.holds), 0, pg_catalog.max(c.created_at)
            FROM reground.message_citations AS c JOIN reground.messages AS m ON m.message_id = c.message_id AND NOT m.superseded
            WHERE c.doc_id IS NOT NULL AND c.created_at >= coalesce(source_usage.since, '-infinity') AND c.created_at < coalesce(source_usage.until, 'infinity')
            GROUP BY 1, 2) AS u
        GROUP BY u.corpus, u.doc_id
        ORDER BY 5 DESC, 4 DESC, 1, 2;
    END;
COMMENT ON FUNCTION reground.source_usage(timestamptz, timestamptz) IS
'Counts per document the contexts that contained it, its citations in current answers, those that hold, and the conversations, most cited first.';
