-- Whether answers of one kind are better than those of another, and by how much that can be chance.

CREATE FUNCTION reground.mann_whitney(a double precision[], b double precision[])
    RETURNS TABLE (u double precision, p_value double precision, effect double precision) LANGUAGE c IMMUTABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'mann_whitney_wrapper';
COMMENT ON FUNCTION reground.mann_whitney(double precision[], double precision[]) IS
'Computes the two-sided Mann-Whitney U test of two samples, as scipy.stats.mannwhitneyu with method auto. u: statistic of a. effect: u / (size of a × size of b), the probability that a value of a exceeds one of b. NULL elements are ignored; NULL for an empty sample. Errors: 22023 for NaN.';

CREATE FUNCTION reground.compare_cfs(dimension text, value_a text, value_b text, since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL)
    RETURNS TABLE (answers_a bigint, answers_b bigint, mean_a double precision, mean_b double precision, median_a double precision, median_b double precision,
                   u double precision, p_value double precision, effect double precision)
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
        SELECT pg_catalog.cardinality(s.a), pg_catalog.cardinality(s.b), s.mean_a, s.mean_b, s.median_a, s.median_b, w.u, w.p_value, w.effect
        FROM (
            SELECT coalesce(pg_catalog.array_agg(x.cfs) FILTER (WHERE x.value = compare_cfs.value_a), '{}') AS a, coalesce(pg_catalog.array_agg(x.cfs) FILTER (WHERE x.value = compare_cfs.value_b), '{}') AS b,
                   pg_catalog.avg(x.cfs) FILTER (WHERE x.value = compare_cfs.value_a) AS mean_a, pg_catalog.avg(x.cfs) FILTER (WHERE x.value = compare_cfs.value_b) AS mean_b,
                   pg_catalog.percentile_cont(0.5) WITHIN GROUP (ORDER BY x.cfs) FILTER (WHERE x.value = compare_cfs.value_a) AS median_a,
                   pg_catalog.percentile_cont(0.5) WITHIN GROUP (ORDER BY x.cfs) FILTER (WHERE x.value = compare_cfs.value_b) AS median_b
            FROM reground._answers_by(compare_cfs.dimension, true, compare_cfs.since, compare_cfs.until) AS x WHERE x.cfs IS NOT NULL) AS s
        CROSS JOIN LATERAL reground.mann_whitney(s.a, s.b) AS w;
    END;
COMMENT ON FUNCTION reground.compare_cfs(text, text, text, timestamptz, timestamptz) IS
'Compares the citation fidelity scores of current answers between two values of a dimension, by mann_whitney. dimension: model, tenant, corpus (of the turn), conversation, intent, decision, origin, day, hour or tag:KEY. Errors: 22004 for NULL, 22023 for an unknown dimension.';

CREATE FUNCTION reground.in_canary(conversation_ref text, share double precision DEFAULT 0.05, salt text DEFAULT '')
    RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN share > 0 AND share <= 1 AND (pg_catalog.hashtextextended(in_canary.salt || '/' || in_canary.conversation_ref, 0) & 1048575) < share * 1048576;
COMMENT ON FUNCTION reground.in_canary(text, double precision, text) IS
'Returns whether a conversation belongs to a share of all conversations (I16), by a hash of its id. share: above 0, at most 1. salt: another salt selects other conversations.';
