-- Rollups equal plain counts after each refresh; alert rules are read, changed and refused.
CREATE FUNCTION pg_temp.differences() RETURNS TABLE (answers bigint, citations bigint, turns bigint) LANGUAGE sql AS $$
    WITH said AS (SELECT m.message_id, m.tenant, m.cfs, left(m.model, 200) AS model, t.corpus, date_bin('1 hour', m.created_at, 'epoch') AS hour FROM reground.messages AS m JOIN reground.turns AS t USING (turn_id) WHERE NOT m.superseded),
    a AS (SELECT hour, tenant, corpus, model, round(cfs * 1000)::int AS cfs_bin, count(*) AS n FROM said GROUP BY 1, 2, 3, 4, 5),
    ra AS (SELECT hour, tenant, corpus, model, cfs_bin::int, sum(answers) AS n FROM reground.answer_rollup GROUP BY 1, 2, 3, 4, 5 HAVING sum(answers) <> 0),
    c AS (SELECT s.hour, s.tenant, coalesce(x.corpus, s.corpus) AS corpus, s.model, reground._document_type(x.uri, x.doc_id) AS document_type, x.status, x.lost_stage, count(*) AS n
          FROM said AS s JOIN reground.message_citations AS x USING (message_id) GROUP BY 1, 2, 3, 4, 5, 6, 7),
    rc AS (SELECT hour, tenant, corpus, model, document_type, status, lost_stage, sum(citations) AS n FROM reground.citation_rollup GROUP BY 1, 2, 3, 4, 5, 6, 7 HAVING sum(citations) <> 0),
    t AS (SELECT s.hour, s.tenant, s.corpus, s.model, count(*) AS answers, count(*) FILTER (WHERE t.context = '[]') AS empty, count(*) FILTER (WHERE t.context <> '[]' AND m.citation_count = 0) AS uncited,
              count(t.reranked_count) AS turns, coalesce(sum(t.reranked_count), 0) AS reranked, coalesce(sum(t.rerank_lost_count), 0) AS lost, sum(round(1000 * ln(greatest(extract(epoch FROM m.created_at - t.begun_at)::float8 * 1000, 1)))) AS log_ms
          FROM said AS s JOIN reground.messages AS m USING (message_id) JOIN reground.turns AS t USING (turn_id) GROUP BY 1, 2, 3, 4),
    rt AS (SELECT hour, tenant, corpus, model, answers, empty_contexts, uncited, rerank_turns, reranked, rerank_lost, log_ms FROM reground.turn_rollup WHERE answers <> 0)
    SELECT (SELECT count(*) FROM ((TABLE a EXCEPT TABLE ra) UNION ALL (TABLE ra EXCEPT TABLE a)) AS d), (SELECT count(*) FROM ((TABLE c EXCEPT TABLE rc) UNION ALL (TABLE rc EXCEPT TABLE c)) AS d), (SELECT count(*) FROM ((TABLE t EXCEPT TABLE rt) UNION ALL (TABLE rt EXCEPT TABLE t)) AS d) $$;
SELECT uri, doc_id, reground._document_type(uri, doc_id) AS document_type FROM (VALUES ('https://x.example/a/B.PDF?x=1.md#p.2', 'z.md'), ('https://x.example', NULL), ('https://x.example/', 'notes.txt'), ('a/b.d/c', NULL),
    (NULL, 'v1.2'), (NULL, '.bashrc'), (NULL, 'archive.tar.gz'), (NULL, 'farm')) AS v(uri, doc_id);
-- _document_type equals two regular expressions, for all names of up to four parts.
WITH parts AS (SELECT p FROM unnest(ARRAY['', 'a', '.', '/', 'http://', 'x.md', 'PDF', '?q.c', '#f', '7z', 'é', 'toolongforone', E'\n']) AS p),
    names AS (SELECT DISTINCT a.p || b.p || c.p || d.p AS name FROM parts AS a, parts AS b, parts AS c, parts AS d),
    compared AS (SELECT name, reground._document_type(name) AS ours, reground._document_type(NULL, name) AS of_id,
        lower(substring(regexp_replace(regexp_replace(name, '[?#].*$', ''), '^[A-Za-z][A-Za-z0-9+.-]*://[^/]*', ''), '[^/.]\.([A-Za-z][A-Za-z0-9]{0,7})$')) AS theirs, lower(substring(name, '[^/.]\.([A-Za-z][A-Za-z0-9]{0,7})$')) AS of_their_id FROM names)
SELECT count(*) > 10000 AS many, count(ours) > 500 AS with_type, count(*) FILTER (WHERE ours IS DISTINCT FROM theirs OR of_id IS DISTINCT FROM of_their_id) AS different FROM compared;
-- All answers of the files before this one, in portions.
SELECT answers > 0 AS some_wait, lag >= interval '0' AS lag FROM reground.audit_backlog;
SELECT reground.refresh_audit(3);
SELECT reground.refresh_audit() > 0 AS more;
SELECT reground.refresh_audit();
TABLE reground.audit_backlog;
SELECT * FROM pg_temp.differences();
-- An answer that supersedes another, and one that is superseded before it was counted.
SELECT reground.create_corpus('rolled');
SELECT reground.put_document('rolled', 'oats.md', content => 'Oats grow in the north.', uri => 'https://farm.example/oats.md');
SELECT count(*) FROM reground.begin_turn('rolled-1', 'Where do oats grow?', corpus => 'rolled');
SELECT count(*) FROM reground.end_turn((SELECT max(turn_id) FROM reground.turns), 'Oats grow in the north [A1]. Not here [Z9].', model => 'm');
SELECT reground.refresh_audit();
SELECT cfs_bin, answers FROM reground.answer_rollup WHERE corpus = 'rolled' AND answers <> 0;
SELECT count(*) FROM reground.end_turn((SELECT max(turn_id) FROM reground.turns), 'Oats grow in the north [A1].', model => 'm');
SELECT count(*) FROM reground.end_turn((SELECT max(turn_id) FROM reground.turns), 'Oats grow [A1]. In the north [A1].', model => 'm');
SELECT reground.refresh_audit();
SELECT cfs_bin, answers FROM reground.answer_rollup WHERE corpus = 'rolled' AND answers <> 0;
SELECT document_type, status, lost_stage, citations FROM reground.citation_rollup WHERE corpus = 'rolled' AND citations <> 0;
SELECT * FROM pg_temp.differences();
SELECT model, document_type, citations, judged, holding, malformed, lost_generation FROM reground.citations_hourly WHERE corpus = 'rolled';
-- Percentiles equal those of the scores, rounded to a thousandth.
SELECT count(*) > 3 AS several, bool_and((h.cfs_p1, h.cfs_p5, h.cfs_p50, h.cfs_p95, h.cfs_p99) IS NOT DISTINCT FROM (d.p[1], d.p[2], d.p[3], d.p[4], d.p[5])) AS same, bool_and(abs(h.cfs_mean - d.mean) < 0.0005) AS mean
FROM reground.cfs_hourly AS h CROSS JOIN LATERAL (
    SELECT percentile_disc(ARRAY[0.01, 0.05, 0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY round(m.cfs::numeric, 3)::float8) AS p, avg(m.cfs) AS mean
    FROM reground.messages AS m JOIN reground.turns AS t USING (turn_id)
    WHERE NOT m.superseded AND m.tenant = h.tenant AND t.corpus = h.corpus AND m.model IS NOT DISTINCT FROM h.model AND date_bin('1 hour', m.created_at, 'epoch') = h.hour) AS d;
SELECT reground.rebuild_audit() = (SELECT count(*) FROM reground.messages WHERE NOT superseded) AS all_counted;
SELECT * FROM pg_temp.differences();
-- A reranker that returns one passage of two, and one that returns both. A superseded answer counts no more.
SELECT reground.create_corpus('reranked');
SELECT reground.put_document('reranked', d, content => d || ' grow in the north.') FROM unnest(ARRAY['Oats', 'Oats and rye']) AS d;
CREATE FUNCTION public.first_only(query text, passages text[]) RETURNS real[] LANGUAGE sql AS $$ SELECT array_agg(CASE WHEN i = 1 THEN 1::real END ORDER BY i) FROM unnest(passages) WITH ORDINALITY AS u(p, i) $$;
CREATE FUNCTION public.all_equal(query text, passages text[]) RETURNS real[] LANGUAGE sql AS $$ SELECT array_agg(1::real) FROM unnest(passages) $$;
SELECT f, count(DISTINCT e.citation_no) AS citations FROM unnest(ARRAY['public.first_only', 'public.all_equal', 'off']) AS f, LATERAL (SELECT DISTINCT turn_id FROM reground.begin_turn('reranked ' || f, 'Do oats grow?', corpus => 'reranked', settings => jsonb_build_object('reranker', f))) AS b,
    LATERAL reground.end_turn(b.turn_id, 'Oats grow in the north [A1].', model => 'm') AS e GROUP BY 1 ORDER BY 1;
SELECT reground.refresh_audit();
SELECT answers, rerank_turns, reranked, rerank_lost FROM reground.turn_rollup WHERE corpus = 'reranked';
SELECT * FROM pg_temp.differences();
SELECT count(*) FROM reground.end_turn((SELECT turn_id FROM reground.turns WHERE corpus = 'reranked' AND rerank_lost_count > 0), 'Oats grow.', model => 'n');
SELECT reground.refresh_audit();
SELECT model, answers, rerank_turns, reranked, rerank_lost FROM reground.turn_rollup WHERE corpus = 'reranked' ORDER BY model;
SELECT * FROM pg_temp.differences();
DROP FUNCTION public.first_only, public.all_equal;
-- An answer that is deleted before it was counted.
SELECT count(*) FROM reground.begin_turn('rolled-2', 'Where do oats grow?', corpus => 'rolled');
SELECT count(*) FROM reground.end_turn((SELECT max(turn_id) FROM reground.turns), 'In the north [A1].');
DELETE FROM reground.conversations WHERE conversation_ref = 'rolled-2';
SELECT reground.refresh_audit();
SELECT * FROM pg_temp.differences();
-- A model name that is too long, as an older release may have stored it: it is counted, removed and counted again under its first characters.
CREATE FUNCTION pg_temp.of_long() RETURNS TABLE (length integer, answers bigint, citations bigint) LANGUAGE sql AS $$
    SELECT length(a.model), a.n, c.n FROM (SELECT model, sum(answers) AS n FROM reground.answer_rollup WHERE corpus = 'rolled' GROUP BY 1) AS a
    JOIN (SELECT model, sum(citations) AS n FROM reground.citation_rollup WHERE corpus = 'rolled' GROUP BY 1) AS c USING (model) WHERE a.model <> 'm' $$;
SELECT count(*) FROM reground.begin_turn('rolled-3', 'Where do oats grow?', corpus => 'rolled');
SELECT count(*) FROM reground.end_turn((SELECT max(turn_id) FROM reground.turns), 'In the north [A1].', message_ref => 'long', model => 'm');
UPDATE reground.messages SET model = (SELECT string_agg(md5(n::text), '' ORDER BY n) FROM generate_series(1, 200) AS n) WHERE message_ref = 'long';
SELECT reground.refresh_audit();
SELECT * FROM pg_temp.of_long();
SELECT reground.rebuild_audit() > 0 AS counted;
SELECT * FROM pg_temp.of_long();
SELECT * FROM pg_temp.differences();
SELECT count(*) FROM reground.end_turn((SELECT max(turn_id) FROM reground.turns), 'Oats grow [A1]. In the north [A1].', message_ref => 'short', model => 'm');
SELECT reground.refresh_audit();
SELECT * FROM pg_temp.of_long();
SELECT * FROM pg_temp.differences();
SELECT conversation_ref, corpus, turns, answers, regenerate_count, round(mean_cfs::numeric, 3) AS cfs, citations, judged, holding, rate, documents, reported FROM reground.conversation_audit WHERE conversation_ref = 'rolled-1';
-- The service levels equal the rollups and the rules, for a hundred answers with two citations each, at the limits.
BEGIN;
SELECT count(DISTINCT b.turn_id) AS answers FROM generate_series(1, 100) AS n, LATERAL (SELECT DISTINCT turn_id FROM reground.begin_turn('level-' || n, 'Where do oats grow?', corpus => 'rolled')) AS b,
    LATERAL reground.end_turn(b.turn_id, 'Oats grow [A1]. In the north [A1].', message_ref => 'level-' || n) AS e;
CREATE FUNCTION pg_temp.levels(lowest double precision, unread integer) RETURNS TABLE (indicator text, value double precision, met boolean, samples bigint, rolled double precision) LANGUAGE plpgsql AS $$
BEGIN
    UPDATE reground.messages SET created_at = '2001-01-01 00:30+00', cfs = CASE message_ref WHEN 'level-7' THEN lowest ELSE 1 END WHERE message_ref LIKE 'level-%';
    UPDATE reground.message_citations SET status = 'malformed' WHERE citation_id IN (SELECT c.citation_id FROM reground.message_citations AS c JOIN reground.messages AS m USING (message_id)
        WHERE m.message_ref LIKE 'level-%' ORDER BY c.citation_id LIMIT unread);
    PERFORM reground.rebuild_audit();
    RETURN QUERY SELECT s.indicator, s.value, s.met, s.samples, CASE s.indicator WHEN 'cfs_p1' THEN (SELECT h.cfs_p1 FROM reground.cfs_hourly AS h WHERE h.hour = '2001-01-01 00:00+00')
        WHEN 'parse_failures' THEN (SELECT h.malformed::float8 / h.citations FROM reground.citations_hourly AS h WHERE h.hour = '2001-01-01 00:00+00') END
    FROM reground.sli('2001-01-01 00:00+00', '2001-01-02 00:00+00') AS s WHERE s.indicator <> 'rerank_survival';
END $$;
SELECT * FROM pg_temp.levels(0.3, 0);
SELECT * FROM pg_temp.levels(0.9, 1);
ROLLBACK;
-- A tenant sees its own hours, and no alerts.
CREATE ROLE regress_tenant;
GRANT reground_user TO regress_tenant;
GRANT USAGE ON SCHEMA regress TO regress_tenant;
SET ROLE regress_tenant;
SELECT count(*) FROM reground.cfs_hourly;
SELECT * FROM regress.refusal('TABLE reground.alerts');
SELECT * FROM regress.refusal('SELECT reground.check_alerts()');
SELECT * FROM regress.refusal('SELECT reground.refresh_audit()');
RESET ROLE;
REVOKE USAGE ON SCHEMA regress FROM regress_tenant;
DROP ROLE regress_tenant;

-- Rules: the built-in ones, a new one, one that replaces a built-in one.
SELECT rule, indicator, threshold, period, whole_period, min_answers, per_corpus, severity, enabled FROM reground.active_alert_rules ORDER BY rule;
SELECT reground.set_alert_rule('low_tail', threshold => 0.7, severity => 'critical');
SELECT reground.set_alert_rule('unread', indicator => 'parse_failures', threshold => 0.1, period => '2 days', meaning => 'citations that nobody can read');
SELECT rule, built_in, indicator, threshold, period, min_answers, severity, enabled, meaning FROM reground.active_alert_rules WHERE rule IN ('low_tail', 'unread') ORDER BY rule;
SELECT reground.set_alert_rule('unread', enabled => false, min_answers => 5);
SELECT indicator, threshold, period, min_answers, enabled FROM reground.active_alert_rules WHERE rule = 'unread';
SELECT reground.drop_alert_rule('unread'), reground.drop_alert_rule('unread'), reground.drop_alert_rule('low_tail');
SELECT built_in, threshold FROM reground.active_alert_rules WHERE rule = 'low_tail';
-- The functions accept exactly the indicators of the table constraint, and the comment lists them; defaults of a rule are as documented.
SELECT count(*) AS indicators, count(reground.set_alert_rule('of ' || i.name, i.name, 0.5)) AS rules, bool_and(col_description('reground.alert_rules'::regclass, 3) ~ ('\m' || i.name || '\M')) AS described
FROM regress.refusal($$SELECT reground.set_alert_rule('new', 'cfs', 0.5)$$) AS r, regexp_split_to_table(trim(TRAILING '.' FROM replace(r.hint, 'Use one of ', '')), ', ') AS i(name);
SELECT DISTINCT period, whole_period, min_answers, per_corpus, severity, enabled FROM reground.active_alert_rules WHERE rule LIKE 'of %';
SELECT checked.name AS unknown_to_functions FROM pg_constraint AS c, regexp_matches(pg_get_constraintdef(c.oid), $re$'([a-z0-9_]+)'::text$re$, 'g') AS m, unnest(m) AS checked(name)
WHERE c.conrelid = 'reground.alert_rules'::regclass AND c.conname = 'alert_rules_indicator_check' AND NOT EXISTS (SELECT FROM reground.alert_rules WHERE rule = 'of ' || checked.name);
SELECT bool_and(reground.drop_alert_rule(rule)) AS dropped FROM reground.alert_rules WHERE rule LIKE 'of %';
SELECT f, r.* FROM unnest(ARRAY[$$SELECT reground.set_alert_rule(' ')$$, $$SELECT reground.set_alert_rule('new')$$, $$SELECT reground.set_alert_rule('new', 'cfs_p5')$$, $$SELECT reground.set_alert_rule('new', 'cfs', 0.5)$$,
    $$SELECT reground.set_alert_rule('low_tail', threshold => 'NaN')$$, $$SELECT reground.set_alert_rule('low_tail', threshold => 1.5)$$, $$SELECT reground.set_alert_rule('low_tail', period => '10 minutes')$$,
    $$SELECT reground.set_alert_rule('low_tail', min_answers => 0)$$, $$SELECT reground.set_alert_rule('low_tail', severity => 'bad')$$, $$SELECT reground.drop_alert_rule(NULL)$$,
    $$SELECT * FROM reground.diagnose(-1)$$, $$SELECT * FROM reground.diagnose(NULL)$$, $$SELECT reground.refresh_audit(0)$$, $$SELECT * FROM reground.take_baseline(NULL)$$,
    $$SELECT * FROM reground.take_baseline('-infinity')$$, $$SELECT * FROM reground.take_baseline(until => 'infinity')$$, $$SELECT * FROM reground.take_baseline('2026-01-02 10:00+00', '2026-01-02 09:00+00')$$,
    $$SELECT * FROM reground.take_baseline('2026-01-02 10:10+00', '2026-01-02 10:50+00')$$]) AS f, regress.refusal(f) AS r;
SELECT corpus, cfs_p5, answers FROM reground.take_baseline(now() - interval '1 day', now() + interval '1 hour') WHERE corpus = 'rolled';
SELECT * FROM reground.take_baseline('4714-11-24 00:00+00 BC', '4713-01-01 BC');
SELECT corpus, cfs_p5, answers, until > since AS ordered FROM reground.alert_baselines WHERE corpus = 'rolled';
SELECT task, processed >= 0 AS done FROM unnest(ARRAY['refresh_audit', 'check_alerts']) AS t, reground.run_maintenance(t);
