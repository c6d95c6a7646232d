-- Calling someone, and saying why.

CREATE FUNCTION reground.set_alert_rule(rule text, indicator text DEFAULT NULL, threshold double precision DEFAULT NULL, period interval DEFAULT NULL, whole_period boolean DEFAULT NULL,
                                        min_answers integer DEFAULT NULL, per_corpus boolean DEFAULT NULL, severity text DEFAULT NULL, enabled boolean DEFAULT NULL, meaning text DEFAULT NULL)
    RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'set_alert_rule_wrapper';
COMMENT ON FUNCTION reground.set_alert_rule IS
'Creates or changes an alert rule; NULL keeps a property. A rule with the name of a built-in one overrides it and inherits its other properties. A new rule requires indicator and threshold; defaults: 6 hours, whole_period false, 50 answers, per corpus, warning, enabled. Columns: see alert_rules. Errors: 22004 for a missing value, 22023 for an invalid one.';

CREATE FUNCTION reground.drop_alert_rule(rule text)
    RETURNS boolean LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'drop_alert_rule_wrapper';
COMMENT ON FUNCTION reground.drop_alert_rule(text) IS
'Drops a rule made with set_alert_rule and returns whether it existed; a built-in rule of that name becomes effective again.';

CREATE FUNCTION reground.take_baseline(since timestamptz DEFAULT pg_catalog.now() - interval '7 days', until timestamptz DEFAULT pg_catalog.now())
    RETURNS TABLE (tenant text, corpus text, cfs_p5 double precision, answers bigint) LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'take_baseline_wrapper';
COMMENT ON FUNCTION reground.take_baseline(timestamptz, timestamptz) IS
'Stores the fifth percentile of the citation fidelity scores of a period, per corpus and for all (corpus NULL), as the baseline of cfs_p5_drop. The period is rounded to whole hours. Errors: 22023 for infinite times, or if no hour lies between them.';

CREATE FUNCTION reground.check_alerts()
    RETURNS TABLE (event text, alert_id bigint, rule text, tenant text, corpus text, severity text, indicator text, value double precision, threshold double precision, baseline double precision,
                   samples bigint, since timestamptz, first_bad_hour timestamptz)
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'check_alerts_wrapper';
COMMENT ON FUNCTION reground.check_alerts() IS
'Refreshes the rollups, evaluates all enabled rules and updates alerts. event: fired, escalated (now critical), firing or resolved; all but firing are sent to the channel reground_alerts as {"event", "alert_id", "rule", "severity"}. Other columns: see alerts.';

CREATE FUNCTION reground.diagnose(alert_id bigint)
    RETURNS TABLE (step integer, clue text, stage text, stage_no integer, tenant text, corpus text, document_type text, hour timestamptz, severity text, details jsonb)
    LANGUAGE c STABLE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'diagnose_wrapper';
COMMENT ON FUNCTION reground.diagnose(bigint) IS
'Explains why an alert fired (I14), by comparison with the week before. step and clue: 0 conclusion, 1 component_changed, 2 ids_missing or text_changed, 3 document_type, 4 severity. Errors: P0002 if the alert does not exist.';

CREATE FUNCTION reground.run_maintenance()
    RETURNS TABLE (task text, processed bigint) LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'run_maintenance_wrapper';
COMMENT ON FUNCTION reground.run_maintenance() IS
'Runs refresh_audit and check_alerts, one row per task; processed: answers counted, alerts changed. Call it from a scheduler if the worker does not run.';
