-- Alert rules, baselines and alerts.

CREATE TABLE reground.alert_rules (
    rule         text NOT NULL CHECK (rule <> ''),
    built_in     boolean NOT NULL DEFAULT false,
    indicator    text NOT NULL CHECK (indicator IN ('cfs_p1', 'cfs_p5', 'cfs_p50', 'cfs_p95', 'cfs_p99', 'cfs_mean', 'cfs_p5_drop', 'survival_coordinates', 'survival_retrieval', 'survival_rerank',
                                                   'survival_context', 'survival_generation', 'parse_failures', 'stale_share', 'judge_disagreement',
                                                   'holding_drop', 'malformed_rise', 'uncited_rise', 'empty_context_rise', 'rerank_loss_rise', 'answer_ms_rise', 'traffic')),
    threshold    double precision NOT NULL,
    period       interval NOT NULL CHECK (period BETWEEN interval '1 hour' AND interval '31 days'),
    whole_period boolean NOT NULL,
    min_answers  integer NOT NULL CHECK (min_answers > 0),
    per_corpus   boolean NOT NULL,
    severity     text NOT NULL CHECK (severity IN ('warning', 'critical')),
    enabled      boolean NOT NULL,
    meaning      text,
    -- A user's rule overrides the built-in rule of the same name. A later release may change the built-in one, so only the user's is dumped.
    PRIMARY KEY (rule, built_in)
);
COMMENT ON TABLE reground.alert_rules IS 'Alert rules, written by set_alert_rule. The effective rules are in active_alert_rules.';
COMMENT ON COLUMN reground.alert_rules.rule IS 'Name of the rule.';
COMMENT ON COLUMN reground.alert_rules.built_in IS 'Whether the rule came with the extension. A rule of the same name with built_in false overrides it.';
COMMENT ON COLUMN reground.alert_rules.indicator IS 'Watched figure: cfs_p1, cfs_p5, cfs_p50, cfs_p95, cfs_p99, cfs_mean, survival_coordinates, survival_retrieval, survival_rerank, survival_context or survival_generation, bad below the threshold (survival_generation: or below what is usual on the highest days of the corpus, at most half further from 1); cfs_p5_drop (from the baseline), stale_share or judge_disagreement (labelled citations whose label differs from the judge''s verdict), bad above it; parse_failures, bad from the threshold on. Relative to the four weeks before the period: holding_drop (of the share of citations that hold), malformed_rise, uncited_rise (answers with sources and without citations), empty_context_rise, rerank_loss_rise (passages that a reranker did not return), answer_ms_rise (of the geometric mean; 0.5 is half as long again); they accumulate evidence for a change by the threshold. traffic: answers as a share of those of the same hours in earlier weeks, bad below it.';
COMMENT ON COLUMN reground.alert_rules.threshold IS 'Threshold, 0 to 1.';
COMMENT ON COLUMN reground.alert_rules.period IS 'Period that the rule examines, in whole hours, including the current hour (traffic: without it).';
COMMENT ON COLUMN reground.alert_rules.whole_period IS 'Whether the rule uses the whole period; otherwise only the latest hours, as few as contain min_answers answers.';
COMMENT ON COLUMN reground.alert_rules.min_answers IS 'Smallest number of answers on which the rule fires or resolves; for rules relative to the weeks before, the smallest number of citations, answers or reranked turns of those weeks.';
COMMENT ON COLUMN reground.alert_rules.per_corpus IS 'Whether the rule examines each corpus separately (per tenant), or all together. Rules relative to the weeks before always do.';
COMMENT ON COLUMN reground.alert_rules.severity IS 'Severity of the alerts, warning or critical. A mean score under 0.70 and reports of users make any alert critical.';
COMMENT ON COLUMN reground.alert_rules.enabled IS 'Whether the rule is enabled.';
COMMENT ON COLUMN reground.alert_rules.meaning IS 'Description.';
INSERT INTO reground.alert_rules (rule, built_in, indicator, threshold, period, whole_period, min_answers, per_corpus, severity, enabled, meaning) VALUES
    ('low_tail',          true, 'cfs_p5',               0.85,  '6 hours',  false, 50, true,  'warning', true,  'one answer in twenty has a low fidelity score'),
    ('tail_drop',         true, 'cfs_p5_drop',          0.15,  '6 hours',  false, 50, true,  'warning', true,  'the fifth percentile has fallen from its baseline; see take_baseline'),
    ('lost_coordinates',  true, 'survival_coordinates', 0.90,  '6 hours',  false, 50, true,  'warning', true,  'cited passages have no position in their document'),
    ('lost_retrieval',    true, 'survival_retrieval',   0.90,  '6 hours',  false, 50, true,  'warning', true,  'cited passages were not retrieved'),
    ('lost_rerank',       true, 'survival_rerank',      0.90,  '6 hours',  false, 50, true,  'warning', true,  'cited passages were not returned by the reranker'),
    ('lost_context',      true, 'survival_context',     0.90,  '6 hours',  false, 50, true,  'warning', true,  'cited passages were not in the context'),
    ('lost_generation',   true, 'survival_generation',  0.90,  '6 hours',  false, 50, true,  'warning', true,  'cited sources do not support the claim, or do not exist'),
    ('sli_cfs_p1',        true, 'cfs_p1',               0.90,  '24 hours', true,  50, false, 'warning', true,  'service level: one answer in a hundred'),
    ('sli_rerank',        true, 'survival_rerank',      0.95,  '24 hours', true,  50, false, 'warning', true,  'service level: survival of the reranker'),
    ('sli_parse_failures',true, 'parse_failures',       0.005, '24 hours', true,  50, false, 'warning', true,  'service level: citations that cannot be parsed'),
    ('stale_sources',     true, 'stale_share',          0.10,  '24 hours', true,  50, true,  'warning', true,  'cited documents have changed or were deleted since'),
    ('judge_disagreement',true, 'judge_disagreement',   0.20,  '31 days',  true,  50, false, 'warning', false, 'the judge and the reviewers disagree; see judge_agreement'),
    ('fewer_hold',        true, 'holding_drop',         0.10,  '72 hours', true, 200, true,  'warning', true,  'fewer citations hold than usual'),
    ('malformed',         true, 'malformed_rise',       0.05,  '72 hours', true, 200, true,  'warning', true,  'more citations cannot be parsed than usual'),
    ('uncited_answers',   true, 'uncited_rise',         0.20,  '72 hours', true, 200, true,  'warning', true,  'more answers have no citation than usual'),
    ('empty_contexts',    true, 'empty_context_rise',   0.20,  '72 hours', true, 200, true,  'warning', true,  'more turns find no source than usual'),
    ('reranker_losses',   true, 'rerank_loss_rise',     0.20,  '72 hours', true, 200, true,  'warning', true,  'the reranker returns fewer passages than usual'),
    ('slow_answers',      true, 'answer_ms_rise',       1.00,  '72 hours', true, 200, true,  'warning', true,  'answers take twice as long as usual'),
    ('traffic_stops',     true, 'traffic',              0.05,  '24 hours', true,  50, true,  'critical', true, 'no answers where there were many in earlier weeks'),
    ('literal_p95',       true, 'cfs_p95',              0.85,  '6 hours',  false, 50, true,  'warning', false, 'as published; it fires only if nineteen of twenty answers are bad'),
    ('literal_p99',       true, 'cfs_p99',              0.90,  '24 hours', true,  50, false, 'warning', false, 'as published; it almost never fires');

CREATE VIEW reground.active_alert_rules WITH (security_invoker = true) AS
    SELECT DISTINCT ON (r.rule) r.rule, r.built_in, r.indicator, r.threshold, r.period, r.whole_period, r.min_answers, r.per_corpus, r.severity, r.enabled, r.meaning
    FROM reground.alert_rules AS r
    ORDER BY r.rule, r.built_in;
COMMENT ON VIEW reground.active_alert_rules IS 'Effective rule of each name: the user''s, otherwise the built-in one.';
COMMENT ON COLUMN reground.active_alert_rules.rule IS 'Name of the rule.';
COMMENT ON COLUMN reground.active_alert_rules.built_in IS 'Whether the rule came with the extension.';
COMMENT ON COLUMN reground.active_alert_rules.indicator IS 'Watched figure; see alert_rules.';
COMMENT ON COLUMN reground.active_alert_rules.threshold IS 'Threshold, 0 to 1.';
COMMENT ON COLUMN reground.active_alert_rules.period IS 'Period that the rule examines.';
COMMENT ON COLUMN reground.active_alert_rules.whole_period IS 'Whether the rule uses the whole period.';
COMMENT ON COLUMN reground.active_alert_rules.min_answers IS 'Smallest number of answers on which the rule fires or resolves; for rules relative to the weeks before, the smallest number of citations, answers or reranked turns of those weeks.';
COMMENT ON COLUMN reground.active_alert_rules.per_corpus IS 'Whether the rule examines each corpus separately.';
COMMENT ON COLUMN reground.active_alert_rules.severity IS 'Severity of the alerts, warning or critical.';
COMMENT ON COLUMN reground.active_alert_rules.enabled IS 'Whether the rule is enabled.';
COMMENT ON COLUMN reground.active_alert_rules.meaning IS 'Description.';

CREATE TABLE reground.alert_baselines (
    tenant   text,
    corpus   text,
    cfs_p5   double precision NOT NULL,
    answers  bigint NOT NULL,
    since    timestamptz NOT NULL,
    until    timestamptz NOT NULL,
    taken_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    UNIQUE NULLS NOT DISTINCT (tenant, corpus)
);
-- The key has NULLs, so it cannot be the identity of a published row.
ALTER TABLE reground.alert_baselines REPLICA IDENTITY FULL;
COMMENT ON TABLE reground.alert_baselines IS 'Baselines that cfs_p5_drop compares with (take_baseline).';
COMMENT ON COLUMN reground.alert_baselines.tenant IS 'Tenant of the corpus; NULL for a shared corpus.';
COMMENT ON COLUMN reground.alert_baselines.corpus IS 'Corpus; NULL for all corpora.';
COMMENT ON COLUMN reground.alert_baselines.cfs_p5 IS 'Fifth percentile of the citation fidelity scores.';
COMMENT ON COLUMN reground.alert_baselines.answers IS 'Number of answers.';
COMMENT ON COLUMN reground.alert_baselines.since IS 'Start of the period.';
COMMENT ON COLUMN reground.alert_baselines.until IS 'End of the period.';
COMMENT ON COLUMN reground.alert_baselines.taken_at IS 'When the baseline was taken.';

CREATE TABLE reground.alerts (
    alert_id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    rule           text NOT NULL,
    tenant         text,
    corpus         text,
    state          text NOT NULL CHECK (state IN ('firing', 'resolved')),
    severity       text NOT NULL CHECK (severity IN ('warning', 'critical')),
    indicator      text NOT NULL,
    value          double precision NOT NULL,
    threshold      double precision NOT NULL,
    baseline       double precision,
    samples        bigint NOT NULL,
    since          timestamptz NOT NULL,
    first_bad_hour timestamptz NOT NULL,
    fired_at       timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    checked_at     timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    resolved_at    timestamptz
);
CREATE UNIQUE INDEX alerts_firing ON reground.alerts (rule, tenant, corpus) NULLS NOT DISTINCT WHERE state = 'firing';
COMMENT ON TABLE reground.alerts IS 'Alerts of all tenants.';
COMMENT ON COLUMN reground.alerts.alert_id IS 'Key.';
COMMENT ON COLUMN reground.alerts.rule IS 'Name of the rule.';
COMMENT ON COLUMN reground.alerts.tenant IS 'Tenant of the corpus; NULL for a shared corpus.';
COMMENT ON COLUMN reground.alerts.corpus IS 'Corpus, for rules per corpus; NULL otherwise.';
COMMENT ON COLUMN reground.alerts.state IS 'firing or resolved. An alert resolves when its value is better than the threshold by a tenth of the distance to the best value, after a whole period without a bad hour, or when the rule no longer watches; if it is relative to the weeks before, when half of the evidence is gone (traffic: at half of the expected answers).';
COMMENT ON COLUMN reground.alerts.severity IS 'warning or critical. A critical alert stays critical.';
COMMENT ON COLUMN reground.alerts.indicator IS 'Watched figure.';
COMMENT ON COLUMN reground.alerts.value IS 'Last value while firing.';
COMMENT ON COLUMN reground.alerts.threshold IS 'Threshold.';
COMMENT ON COLUMN reground.alerts.baseline IS 'Baseline, for cfs_p5_drop; the usual figure, for indicators relative to the weeks before.';
COMMENT ON COLUMN reground.alerts.samples IS 'Number of answers or citations behind value.';
COMMENT ON COLUMN reground.alerts.since IS 'First hour of value.';
COMMENT ON COLUMN reground.alerts.first_bad_hour IS 'First bad hour of the current run. Later good hours do not move it while the alert fires.';
COMMENT ON COLUMN reground.alerts.fired_at IS 'When the alert fired.';
COMMENT ON COLUMN reground.alerts.checked_at IS 'When the alert was last checked.';
COMMENT ON COLUMN reground.alerts.resolved_at IS 'When the alert was resolved.';

-- Functions of alerts.

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
    RETURNS TABLE (tenant text, corpus text, cfs_p5 double precision, answers bigint) LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 10 AS 'MODULE_PATHNAME', 'take_baseline_wrapper';
COMMENT ON FUNCTION reground.take_baseline(timestamptz, timestamptz) IS
'Stores the fifth percentile of the citation fidelity scores of a period, per corpus and for all (corpus NULL), as the baseline of cfs_p5_drop. The period is rounded to whole hours. Errors: 22023 for infinite times, or if no hour lies between them.';

CREATE FUNCTION reground.check_alerts()
    RETURNS TABLE (event text, alert_id bigint, rule text, tenant text, corpus text, severity text, indicator text, value double precision, threshold double precision, baseline double precision,
                   samples bigint, since timestamptz, first_bad_hour timestamptz)
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 5 AS 'MODULE_PATHNAME', 'check_alerts_wrapper';
COMMENT ON FUNCTION reground.check_alerts() IS
'Refreshes the rollups, evaluates all enabled rules and updates alerts. event: fired, escalated (now critical), firing or resolved; all but firing are sent to the channel reground_alerts as {"event", "alert_id", "rule", "severity"}. Other columns: see alerts.';

CREATE FUNCTION reground.diagnose(alert_id bigint)
    RETURNS TABLE (step integer, clue text, stage text, stage_no integer, tenant text, corpus text, document_type text, hour timestamptz, severity text, details jsonb)
    LANGUAGE c STABLE PARALLEL UNSAFE ROWS 10 AS 'MODULE_PATHNAME', 'diagnose_wrapper';
COMMENT ON FUNCTION reground.diagnose(bigint) IS
'Explains why an alert fired, by comparison with the week before. step and clue: 0 conclusion, 1 component_changed, 2 ids_missing or text_changed, 3 document_type, 4 severity. Errors: P0002 if the alert does not exist.';
