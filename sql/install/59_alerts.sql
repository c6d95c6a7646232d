-- Calling someone, and saying why.

CREATE FUNCTION reground.set_alert_rule(rule text, indicator text DEFAULT NULL, threshold double precision DEFAULT NULL, period interval DEFAULT NULL, whole_period boolean DEFAULT NULL,
                                        min_answers integer DEFAULT NULL, per_corpus boolean DEFAULT NULL, severity text DEFAULT NULL, enabled boolean DEFAULT NULL, meaning text DEFAULT NULL)
    RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'set_alert_rule_wrapper';
COMMENT ON FUNCTION reground.set_alert_rule IS 'Makes a rule of your own, or changes one; what is NULL stays as it was. A rule named as a built-in one takes its place, with all that you do not say from there; drop_alert_rule gives that back. A new rule wants an indicator and a threshold; the rest is 6 hours, the latest with 50 answers, each corpus, warning, enabled. 22023 for what is no such value, 22004 for what is wanting.';

CREATE FUNCTION reground.drop_alert_rule(rule text)
    RETURNS boolean LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'drop_alert_rule_wrapper';
COMMENT ON FUNCTION reground.drop_alert_rule(text) IS 'Drops a rule of your own: a built-in one of that name counts again. False where there was none. To switch a built-in rule off: set_alert_rule(''NAME'', enabled => false).';

CREATE FUNCTION reground.take_baseline(since timestamptz DEFAULT pg_catalog.now() - interval '7 days', until timestamptz DEFAULT pg_catalog.now())
    RETURNS TABLE (tenant text, corpus text, cfs_p5 double precision, answers bigint) LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'take_baseline_wrapper';
COMMENT ON FUNCTION reground.take_baseline(timestamptz, timestamptz) IS 'Stores the fifth percentile of the fidelity scores of a period, in whole hours from that of since to before that of until, for each corpus (with its tenant, NULL where it is shared) and for all (corpus NULL), as what cfs_p5_drop is measured from. Counts what waits first. Take it when things are well. 22023 for what is infinite, and where no hour lies between the two.';

CREATE FUNCTION reground.check_alerts()
    RETURNS TABLE (event text, alert_id bigint, rule text, tenant text, corpus text, severity text, indicator text, value double precision, threshold double precision, baseline double precision,
                   samples bigint, since timestamptz, first_bad_hour timestamptz)
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'check_alerts_wrapper';
COMMENT ON FUNCTION reground.check_alerts() IS 'Counts what waits, holds every rule in force against the rollups, and writes what that changes into alerts: a row for each alert that fired, escalated (has become critical), goes on (firing) or is resolved. All but those that go on are told on the channel reground_alerts, as {"event", "alert_id", "rule", "severity"}: a name of a corpus or a tenant is not for everyone who listens. A rule that looks at each corpus looks at corpora of one name that belong to several tenants apart; tenant is NULL where the corpus is shared. For the worker, a scheduler or a person.';

CREATE FUNCTION reground.diagnose(alert_id bigint)
    RETURNS TABLE (step integer, clue text, stage text, stage_no integer, tenant text, corpus text, document_type text, hour timestamptz, severity text, details jsonb)
    LANGUAGE c STABLE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'diagnose_wrapper';
COMMENT ON FUNCTION reground.diagnose(bigint) IS 'Why an alert fired, by the runbook (I14), with the week before for comparison. Step 0, conclusion: the stage that loses more than before by the most, with corpus (and its tenant, NULL where it is shared), type of document where one is lost three times as often as the others, and first bad hour. 1, component_changed: a setting, a model or a version (see component_versions) that nobody had until a day before. 2, ids_missing and text_changed: what the reranker lost or changed. 3, document_type. 4, severity. P0002 for an alert that there is not.';

CREATE FUNCTION reground.run_maintenance()
    RETURNS TABLE (task text, processed bigint) LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'run_maintenance_wrapper';
COMMENT ON FUNCTION reground.run_maintenance() IS 'What the worker does every time, a row a task with how much it did: refresh_audit (answers counted) and check_alerts (alerts that fired, escalated or were resolved). Call it from a scheduler where the library is not preloaded.';
