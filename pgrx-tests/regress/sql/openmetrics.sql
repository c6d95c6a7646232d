-- Metrics as OpenMetrics text: totals of all answers, which only grow; who sees which; hostile names and operators.
CREATE SCHEMA metrics;
SET search_path = metrics, public;
CREATE FUNCTION metrics.lines(text text, pattern text DEFAULT '^[^#]') RETURNS SETOF text LANGUAGE sql AS $$ SELECT l FROM regexp_split_to_table(text, E'\n') AS l WHERE l ~ pattern ORDER BY l COLLATE "C" $$;
CREATE FUNCTION metrics.ended(conversation text, query text, answer text, model text DEFAULT NULL, usage jsonb DEFAULT NULL) RETURNS bigint LANGUAGE sql AS
    $$ SELECT count(*) FROM reground.end_turn((SELECT max(turn_id) FROM reground.begin_turn(conversation, query, 'me"tr\ics')), answer, model => model, usage => usage) $$;
CREATE ROLE regress_metrics IN ROLE reground_user;
CREATE ROLE regress_metrics_other IN ROLE reground_user;
CREATE ROLE regress_metrics_auditor IN ROLE reground_auditor;
GRANT USAGE ON SCHEMA metrics TO regress_metrics, regress_metrics_other, regress_metrics_auditor;
GRANT USAGE ON SCHEMA regress TO regress_metrics;
SELECT reground.create_corpus('me"tr\ics');
GRANT SELECT ON "me""tr\ics", "me""tr\ics_documents" TO regress_metrics, regress_metrics_other;
SELECT doc_id, version FROM (VALUES ('tea', 'Green tea steeps for two minutes.'), ('rye', 'Rye bread rises slowly in the cold.')) AS v(doc_id, body), reground.put_document('me"tr\ics', doc_id, body);
INSERT INTO reground.model_prices (model, input_price, output_price, cached_price) VALUES ('a\b"c', 2, 10, 1);
SELECT reground.refresh_audit() IS NOT NULL AS refreshed;
SET ROLE regress_metrics;
-- Nothing yet: the families are there, without samples.
SELECT count(*) AS samples FROM metrics.lines(reground.openmetrics());
SELECT * FROM metrics.lines(reground.openmetrics(), '^#');
-- An answer that is regenerated, and one of a hostile model. Both are counted, also if a refresh finds the first answer superseded.
SELECT metrics.ended('talk', 'How long does green tea steep?', 'Green tea steeps for two minutes [A1]. Pigs fly [Z9].', E'a\\b"c', '{"input_tokens": 900, "output_tokens": 40, "cache_read_input_tokens": 100}');
SELECT status FROM reground.end_turn(regress.turn('talk'), 'Green tea steeps for two minutes [A1].', message_ref => 'second', model => E'a\\b"c', usage => '{"input_tokens": 1000000, "output_tokens": 10}');
SELECT metrics.ended('talk', 'And rye bread?', 'Rye bread rises slowly in the cold.', E'x\ny');
RESET ROLE;
SELECT reground.refresh_audit();
SET ROLE regress_metrics;
CREATE TEMPORARY TABLE first AS SELECT reground.openmetrics() AS text;
SELECT l FROM first, metrics.lines(text, '^reground_(answers|refusals|turns|citations|cost|tokens)') AS l;
SELECT text ~ E'\n# EOF\n$' AS ends, text !~ 'reground_alerts|reground_queue|reground_maintenance|reground_coordinate' AS without_operation FROM first;
-- The histogram has all answers, and each bucket contains the one before.
SELECT sum(n) FILTER (WHERE l ~ 'le="\+Inf"') AS all_answers, (SELECT sum(substring(c FROM '\d+$')::integer) FROM first, metrics.lines(text, '^reground_answer_seconds_count') AS c) AS counted, bool_and(n >= before) IS NOT FALSE AS cumulative
FROM (SELECT l, n, lag(n) OVER (PARTITION BY regexp_replace(l, 'le="[^"]*",?|[^ ]*$', '', 'g') ORDER BY nullif(substring(l FROM 'le="([^"]*)"'), '+Inf')::numeric NULLS LAST) AS before FROM first, metrics.lines(text, '_bucket') AS l, substring(l FROM '[0-9.]+$') AS s, CAST(s AS numeric) AS n) AS b;
-- The sum of the times is that of the answers.
SELECT abs(sum(substring(l FROM '[0-9.e-]+$')::numeric) - (SELECT sum(extract(epoch FROM m.created_at - t.begun_at)) FROM reground.messages AS m JOIN reground.turns AS t USING (turn_id))) < 0.0001 AS as_stored FROM first, metrics.lines(text, '_seconds_sum') AS l;
-- A rebuild counts current answers only, and does not change what was counted. It counts answers that still wait.
SELECT metrics.ended('talk', 'Once more: green tea?', 'Green tea steeps for two minutes [A1].', E'x\ny');
RESET ROLE;
SELECT reground.rebuild_audit() > 0 AS rebuilt, reground.refresh_audit() AS waiting;
SET ROLE regress_metrics;
SELECT l FROM metrics.lines(reground.openmetrics(), '^reground_(answers|turns)') AS l WHERE NOT EXISTS (SELECT FROM first, metrics.lines(text) AS f WHERE f = l) ORDER BY l COLLATE "C";
-- Erased conversations stay counted.
SELECT sum(erased) > 0 AS erased FROM reground.forget_conversation('talk');
SELECT count(*) AS answers FROM metrics.lines(reground.openmetrics(), '^reground_answers.*decision');
-- Another tenant sees nothing, an auditor all tenants and the operation.
SET ROLE regress_metrics_other;
SELECT count(*) AS samples FROM metrics.lines(reground.openmetrics());
SET ROLE regress_metrics_auditor;
SELECT count(*) > 1 AS samples FROM metrics.lines(reground.openmetrics(), 'tenant="regress_metrics"');
SELECT l FROM metrics.lines(reground.openmetrics(), '^(reground_queue_tasks.queue="audit"|# (TYPE|UNIT) reground_(alerts|queue|coordinate|maintenance))') AS l;
-- As with the reports, operators of the search_path of the caller are not used.
RESET ROLE;
CREATE FUNCTION metrics.never(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT false';
CREATE OPERATOR metrics.= (LEFTARG = text, RIGHTARG = text, FUNCTION = metrics.never);
GRANT EXECUTE ON FUNCTION metrics.never TO PUBLIC;
INSERT INTO reground.alerts (rule, state, severity, indicator, value, threshold, samples, since, first_bad_hour) VALUES ('of metrics', 'firing', 'warning', 'cfs_p5', 0.5, 0.85, 60, now(), now());
SET ROLE regress_metrics_auditor;
SET search_path = metrics, pg_catalog;
SELECT l FROM metrics.lines(reground.openmetrics(), 'rule="of metrics"') AS l;
RESET ROLE;
RESET search_path;
DELETE FROM reground.alerts WHERE rule = 'of metrics';
DROP TABLE first;
-- A tenant that is forgotten leaves nothing.
SELECT relation, erased FROM reground.forget_tenant('regress_metrics') WHERE relation = 'reground.metric_totals'::regclass AND erased > 10;
DELETE FROM reground.model_prices WHERE model = E'a\\b"c';
SELECT reground.drop_corpus('me"tr\ics', true);
SET client_min_messages = warning;
DROP SCHEMA metrics CASCADE;
RESET client_min_messages;
REVOKE ALL ON SCHEMA regress FROM regress_metrics;
DROP ROLE regress_metrics, regress_metrics_other, regress_metrics_auditor;
