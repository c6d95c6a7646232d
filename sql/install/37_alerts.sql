-- When to call someone: rules, what they are holding against, and what they fired.

CREATE TABLE reground.alert_rules (
    rule         text NOT NULL CHECK (rule <> ''),
    built_in     boolean NOT NULL DEFAULT false,
    indicator    text NOT NULL CHECK (indicator IN ('cfs_p1', 'cfs_p5', 'cfs_p50', 'cfs_p95', 'cfs_p99', 'cfs_mean', 'cfs_p5_drop', 'survival_coordinates', 'survival_retrieval', 'survival_rerank',
                                                   'survival_context', 'survival_generation', 'parse_failures', 'stale_share')),
    threshold    double precision NOT NULL,
    period       interval NOT NULL CHECK (period BETWEEN interval '1 hour' AND interval '31 days'),
    whole_period boolean NOT NULL,
    min_answers integer NOT NULL CHECK (min_answers > 0),
    per_corpus   boolean NOT NULL,
    severity     text NOT NULL CHECK (severity IN ('warning', 'critical')),
    enabled      boolean NOT NULL,
    meaning      text,
    -- A rule of one's own takes the place of the built-in one, which a later release may change: a dump holds the former alone.
    PRIMARY KEY (rule, built_in)
);
COMMENT ON TABLE  reground.alert_rules IS 'When to call someone (I14, I15). set_alert_rule writes rules; those in force are in active_alert_rules.';
COMMENT ON COLUMN reground.alert_rules.rule IS 'Name.';
COMMENT ON COLUMN reground.alert_rules.built_in IS 'Whether it came with the extension. One of your own of that name takes its place.';
COMMENT ON COLUMN reground.alert_rules.indicator IS 'What it watches: cfs_p1, cfs_p5, cfs_p50, cfs_p95, cfs_p99, cfs_mean, survival_coordinates, survival_retrieval, survival_rerank, survival_context or survival_generation, bad below the threshold; cfs_p5_drop (from the baseline) or stale_share, bad above it; parse_failures, bad from the threshold on.';
COMMENT ON COLUMN reground.alert_rules.threshold IS 'From where on that is bad, in [0, 1].';
COMMENT ON COLUMN reground.alert_rules.period IS 'How far back it looks, in whole hours, the running one included.';
COMMENT ON COLUMN reground.alert_rules.whole_period IS 'Whether it takes all of that; else the latest hours, as few as have min_answers answers.';
COMMENT ON COLUMN reground.alert_rules.min_answers IS 'Answers under which it neither fires nor resolves.';
COMMENT ON COLUMN reground.alert_rules.per_corpus IS 'Whether it looks at each corpus alone, those of one name that belong to several tenants apart; else at all at once.';
COMMENT ON COLUMN reground.alert_rules.severity IS 'Of its alerts, warning or critical; a mean score under 0.70 and reports of users make any critical.';
COMMENT ON COLUMN reground.alert_rules.enabled IS 'Whether it is in force.';
COMMENT ON COLUMN reground.alert_rules.meaning IS 'What it is for.';
INSERT INTO reground.alert_rules (rule, built_in, indicator, threshold, period, whole_period, min_answers, per_corpus, severity, enabled, meaning) VALUES
    ('low_tail',          true, 'cfs_p5',               0.85,  '6 hours',  false, 50, true,  'warning', true,  'one answer in twenty has a low fidelity score'),
    ('tail_drop',         true, 'cfs_p5_drop',          0.15,  '6 hours',  false, 50, true,  'warning', true,  'the fifth percentile has fallen from its baseline; see take_baseline'),
    ('lost_coordinates',  true, 'survival_coordinates', 0.90,  '6 hours',  false, 50, true,  'warning', true,  'passages without a place in their document are cited'),
    ('lost_retrieval',    true, 'survival_retrieval',   0.90,  '6 hours',  false, 50, true,  'warning', true,  'what is cited was not found'),
    ('lost_rerank',       true, 'survival_rerank',      0.90,  '6 hours',  false, 50, true,  'warning', true,  'what is cited did not come back from the reranker'),
    ('lost_context',      true, 'survival_context',     0.90,  '6 hours',  false, 50, true,  'warning', true,  'what is cited did not come into the context'),
    ('lost_generation',   true, 'survival_generation',  0.90,  '6 hours',  false, 50, true,  'warning', true,  'answers cite what does not say it, or does not exist'),
    ('sli_cfs_p1',        true, 'cfs_p1',               0.90,  '24 hours', true,  50, false, 'warning', true,  'service level: one answer in a hundred'),
    ('sli_rerank',        true, 'survival_rerank',      0.95,  '24 hours', true,  50, false, 'warning', true,  'service level: survival of the reranker'),
    ('sli_parse_failures',true, 'parse_failures',       0.005, '24 hours', true,  50, false, 'warning', true,  'service level: citations that cannot be read'),
    ('stale_sources',     true, 'stale_share',          0.10,  '24 hours', true,  50, true,  'warning', true,  'what was cited has changed or gone since'),
    ('literal_p95',       true, 'cfs_p95',              0.85,  '6 hours',  false, 50, true,  'warning', false, 'as published, and as good as never true: it says that nineteen answers in twenty are bad'),
    ('literal_p99',       true, 'cfs_p99',              0.90,  '24 hours', true,  50, false, 'warning', false, 'as published, and as good as never true');

CREATE VIEW reground.active_alert_rules WITH (security_invoker = true) AS
    SELECT DISTINCT ON (r.rule) r.rule, r.built_in, r.indicator, r.threshold, r.period, r.whole_period, r.min_answers, r.per_corpus, r.severity, r.enabled, r.meaning
    FROM reground.alert_rules AS r
    ORDER BY r.rule, r.built_in;
COMMENT ON VIEW reground.active_alert_rules IS 'The rule of each name that counts: your own, or else the built-in one. In force where enabled.';

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
COMMENT ON TABLE  reground.alert_baselines IS 'What good days look like: the figures that a drop is from (take_baseline).';
COMMENT ON COLUMN reground.alert_baselines.tenant IS 'Whose the corpus is; NULL where it is shared.';
COMMENT ON COLUMN reground.alert_baselines.corpus IS 'Corpus; NULL is all.';
COMMENT ON COLUMN reground.alert_baselines.cfs_p5 IS 'Fifth percentile of the fidelity scores.';
COMMENT ON COLUMN reground.alert_baselines.answers IS 'Answers that it is of.';
COMMENT ON COLUMN reground.alert_baselines.since IS 'From when.';
COMMENT ON COLUMN reground.alert_baselines.until IS 'Until when.';
COMMENT ON COLUMN reground.alert_baselines.taken_at IS 'When it was taken.';

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
COMMENT ON TABLE  reground.alerts IS 'What the rules fired, over all tenants.';
COMMENT ON COLUMN reground.alerts.alert_id IS 'Key.';
COMMENT ON COLUMN reground.alerts.rule IS 'The rule.';
COMMENT ON COLUMN reground.alerts.tenant IS 'Whose the corpus is; NULL where it is shared.';
COMMENT ON COLUMN reground.alerts.corpus IS 'Corpus, where the rule looks at each.';
COMMENT ON COLUMN reground.alerts.state IS 'firing or resolved: better than the threshold by a tenth of what lies between that and the best value, good in every hour of the period of its rule, or no longer watched.';
COMMENT ON COLUMN reground.alerts.severity IS 'warning or critical: what became critical stays so.';
COMMENT ON COLUMN reground.alerts.indicator IS 'What the rule watches.';
COMMENT ON COLUMN reground.alerts.value IS 'Its value when it was last looked at and not over.';
COMMENT ON COLUMN reground.alerts.threshold IS 'From where on that is bad.';
COMMENT ON COLUMN reground.alerts.baseline IS 'What a drop is from.';
COMMENT ON COLUMN reground.alerts.samples IS 'Answers or citations that value is of.';
COMMENT ON COLUMN reground.alerts.since IS 'First hour that value is of.';
COMMENT ON COLUMN reground.alerts.first_bad_hour IS 'First hour of the run of bad ones that it is of: good ones that follow while it is firing do not move it.';
COMMENT ON COLUMN reground.alerts.fired_at IS 'When it fired.';
COMMENT ON COLUMN reground.alerts.checked_at IS 'When it was last looked at.';
COMMENT ON COLUMN reground.alerts.resolved_at IS 'When it was over.';
