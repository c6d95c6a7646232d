//! The tables `alert_rules`, `alert_baselines` and `alerts`.

use pgrx::datum::{DatumWithOid, Interval};
use reground_audit::alert::{CheckInput, Finding, Horizon, NewBaseline, USUAL_HOURS};
use reground_audit::diagnosis::DiagnosisInput;
use reground_audit::hours::HOUR;
use reground_audit::rule::{Rule, RuleDefaults, Severity};
use reground_audit::window_rule::LOOK_BACK;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::run_as::{as_owner, as_owner_scanning};
use crate::sql::{self, Record};
use crate::store::rollups::{changes, epoch_hour_of, hours, judged, owner, stale};

/// FROM clause for the reports `r` of users on live answers, with the turn `t` and, for a report on a citation, the citation `c`.
const REPORTS: &str = "reground.citation_reports AS r JOIN reground.messages AS s ON s.message_id = r.message_id JOIN reground.turns AS t ON t.turn_id = s.turn_id AND t.origin = 'live' \
     LEFT JOIN reground.message_citations AS c ON c.citation_id = r.citation_id";

/// Expression for the corpus of such a report. A citation without a source counts for the corpus of the turn, as in the rollups.
const REPORTED: &str = "coalesce(c.corpus, t.corpus)";

/// Waits until no other session checks alerts, and prevents it until the transaction ends.
pub fn lock() -> Result<()> {
    as_owner(|| sql::lock("reground.alerts_alert_id_seq"))
}

/// The enabled rules. A rule of a user replaces the built-in rule of the same name.
pub fn rules() -> Result<Vec<Rule>> {
    Ok(as_owner(|| {
        sql::write_json(
            "SELECT coalesce(json_agg(r ORDER BY r.rule), '[]')::text FROM ( \
                 SELECT rule, indicator, threshold, ceil(date_part('epoch', period) / 3600)::bigint AS hours, whole_period, min_answers, per_corpus, severity \
                 FROM reground.active_alert_rules WHERE enabled) AS r",
            &[],
        )
    })?
    .unwrap_or_default())
}

/// The data that the rules are checked against, for the periods of all rules.
pub fn situation(horizon: Horizon) -> Result<Option<CheckInput>> {
    let now: i64 = as_owner(|| {
        sql::write_one(
            &format!("SELECT {}", epoch_hour_of("clock_timestamp()")),
            &[],
        )
    })?
    .unwrap_or_default();
    let until = now + HOUR;
    let since = until - horizon.hours * HOUR;
    let (hours, stale, judged) = (hours(), stale(), judged());
    let changes = changes("$8::bigint", USUAL_HOURS);
    let owner = owner("t.tenant", REPORTED);
    as_owner_scanning(|| {
        sql::write_json(
            &format!(
                "SELECT json_build_object('now', $6::bigint, {hours}, {stale}, {judged}, {changes}, \
                     'baselines', (SELECT coalesce(json_agg(b), '[]') FROM (SELECT tenant, corpus, cfs_p5 FROM reground.alert_baselines) AS b), \
                     'open', (SELECT coalesce(json_agg(a), '[]') FROM (SELECT alert_id, rule, tenant, corpus, severity FROM reground.alerts WHERE state = 'firing') AS a), \
                     'reported', (SELECT coalesce(json_agg(x), '[]') FROM (SELECT DISTINCT k.tenant, {REPORTED} AS corpus FROM {REPORTS} {owner} \
                         WHERE r.created_at > now() - interval '1 day') AS x))::text"
            ),
            &[
                since.into(),
                until.into(),
                None::<&str>.into(),
                None::<&str>.into(),
                (until - horizon.stale * HOUR).into(),
                now.into(),
                (until - horizon.traffic * HOUR).into(),
                (until - horizon.counts * HOUR).into(),
            ],
        )
    })
}

/// Stores the findings of a check, notifies the channel `reground_alerts`, and returns the changed alerts. `orphans` are open alerts that
/// no rule covers any more; they are resolved.
pub fn write(findings: &[Finding], orphans: Vec<i64>) -> Result<Vec<AlertEvent>> {
    let found = sql::json(findings)?;
    Ok(as_owner(|| {
        sql::write_json(
            "WITH x AS MATERIALIZED (SELECT x.*, to_timestamp(x.since) AS begins, to_timestamp(x.first_bad_hour) AS bad_since \
                 FROM json_to_recordset($1::json) AS x(event text, alert_id bigint, rule text, tenant text, corpus text, severity text, indicator text, value double precision, \
                     threshold double precision, baseline double precision, samples bigint, since bigint, first_bad_hour bigint)), \
             fired AS (INSERT INTO reground.alerts (rule, tenant, corpus, state, severity, indicator, value, threshold, baseline, samples, since, first_bad_hour) \
                 SELECT rule, tenant, corpus, 'firing', severity, indicator, value, threshold, baseline, samples, begins, bad_since FROM x WHERE event = 'fired' ON CONFLICT (rule, tenant, corpus) WHERE state = 'firing' DO NOTHING \
                 RETURNING 'fired' AS event, alerts.*), \
             going AS (UPDATE reground.alerts AS a SET severity = x.severity, indicator = x.indicator, value = x.value, threshold = x.threshold, baseline = x.baseline, samples = x.samples, since = x.begins, \
                     first_bad_hour = least(a.first_bad_hour, coalesce(x.bad_since, a.first_bad_hour)), checked_at = clock_timestamp() \
                 FROM x WHERE a.alert_id = x.alert_id AND x.event IN ('firing', 'escalated') RETURNING x.event, a.*), \
             over AS (UPDATE reground.alerts AS a SET state = 'resolved', checked_at = clock_timestamp(), resolved_at = clock_timestamp() \
                 WHERE a.state = 'firing' AND (a.alert_id = ANY ($2) OR a.alert_id IN (SELECT x.alert_id FROM x WHERE x.event = 'resolved')) RETURNING 'resolved' AS event, a.*), \
             changed AS (SELECT * FROM fired UNION ALL SELECT * FROM going UNION ALL SELECT * FROM over), \
             notified AS MATERIALIZED (SELECT pg_notify('reground_alerts', json_build_object('event', event, 'alert_id', alert_id, 'rule', rule, 'severity', severity)::text) \
                 FROM changed WHERE event <> 'firing') \
             SELECT coalesce(json_agg(t ORDER BY t.alert_id), '[]')::text FROM ( \
                 SELECT changed.event, changed.alert_id, rule, tenant, corpus, severity, indicator, value, threshold, baseline, samples, since, first_bad_hour \
                 FROM changed, (SELECT count(*) FROM notified) AS n) AS t",
            &[found.into(), orphans.into()],
        )
    })?
    .unwrap_or_default())
}

/// A row of `check_alerts`.
#[derive(Debug, Deserialize, Serialize)]
pub struct AlertEvent {
    pub event: String,
    pub alert_id: i64,
    pub rule: String,
    pub tenant: Option<String>,
    pub corpus: Option<String>,
    pub severity: String,
    pub indicator: String,
    pub value: f64,
    pub threshold: f64,
    pub baseline: Option<f64>,
    pub samples: i64,
    pub since: String,
    pub first_bad_hour: String,
}

/// The input of the diagnosis of an alert; `None` if the alert does not exist.
pub fn case(alert_id: i64) -> Result<Option<DiagnosisInput>> {
    /// Corpus and period of an alert.
    #[derive(Deserialize)]
    struct AlertPeriod {
        tenant: Option<String>,
        corpus: Option<String>,
        first_bad_hour: i64,
        until: i64,
    }
    let around: Option<AlertPeriod> = as_owner(|| {
        sql::read_json(
            &format!(
                "SELECT row_to_json(r)::text FROM (SELECT tenant, corpus, date_part('epoch', first_bad_hour)::bigint AS first_bad_hour, \
                     {} + {HOUR} AS until FROM reground.alerts WHERE alert_id = $1) AS r",
                epoch_hour_of("coalesce(resolved_at, clock_timestamp())")
            ),
            &[alert_id.into()],
        )
    })?;
    let Some(around) = around else {
        return Ok(None);
    };
    let args: [DatumWithOid<'_>; 6] = [
        (around.first_bad_hour - LOOK_BACK * HOUR).into(),
        around.until.into(),
        around.corpus.as_deref().into(),
        around.tenant.as_deref().into(),
        around.first_bad_hour.into(),
        alert_id.into(),
    ];
    as_owner_scanning(|| sql::read_json(&case_query(), &args))
}

/// Query for a [`DiagnosisInput`]. Turns are grouped by their whole settings before these are expanded, because most turns share them.
fn case_query() -> String {
    let (hour, hours, stale) = (epoch_hour_of("t.begun_at"), hours(), stale());
    let (owner, reported) = (owner("t.tenant", "t.corpus"), owner("t.tenant", REPORTED));
    format!(
        "WITH of AS MATERIALIZED (SELECT t.turn_id, t.settings, t.warnings, m.model, {hour} AS hour \
             FROM reground.turns AS t LEFT JOIN reground.messages AS m ON m.turn_id = t.turn_id AND NOT m.superseded {owner} \
             WHERE t.origin = 'live' AND t.begun_at >= to_timestamp($1) AND t.begun_at < to_timestamp($2) AND ($3::text IS NULL OR t.corpus = $3 AND k.tenant IS NOT DISTINCT FROM $4::text)), \
         ran AS (SELECT hour, settings, count(*) AS turns FROM of GROUP BY 1, 2) \
         SELECT json_build_object('indicator', a.indicator, 'tenant', a.tenant, 'corpus', a.corpus, 'first_bad_hour', $5::bigint, 'until', $2::bigint, {hours}, {stale}, \
             'components', (SELECT coalesce(json_agg(r), '[]') FROM ( \
                 SELECT r.hour, s.key AS name, coalesce(s.value, '') AS value, sum(r.turns) AS turns FROM ran AS r, jsonb_each_text(r.settings) AS s GROUP BY 1, 2, 3 \
                 UNION ALL SELECT hour, 'model', model, count(*) FROM of WHERE model IS NOT NULL GROUP BY 1, 3) AS r), \
             'reranks', (SELECT coalesce(json_agg(r), '[]') FROM ( \
                 SELECT o.hour, count(*) AS turns, count(*) FILTER (WHERE o.warnings && '{{rerank_missing,rerank_unmatched}}') AS missing, \
                        count(*) FILTER (WHERE EXISTS (SELECT FROM reground.drift_events AS e WHERE e.turn_id = o.turn_id AND e.event = 'reranker_text_mutation')) AS changed \
                 FROM of AS o GROUP BY 1) AS r), \
             'reports', (SELECT count(*) FROM {REPORTS} {reported} \
                 WHERE r.created_at >= to_timestamp($5) AND r.created_at < to_timestamp($2) AND ($3::text IS NULL OR {REPORTED} = $3 AND k.tenant IS NOT DISTINCT FROM $4::text)))::text \
         FROM reground.alerts AS a WHERE a.alert_id = $6"
    )
}

/// The arguments of `set_alert_rule`; `None` leaves a column as it is.
#[derive(Debug, Default, Serialize)]
pub struct Change<'a> {
    pub rule: &'a str,
    pub indicator: Option<&'static str>,
    pub threshold: Option<f64>,
    pub whole_period: Option<bool>,
    pub min_answers: Option<i32>,
    pub per_corpus: Option<bool>,
    pub severity: Option<Severity>,
    pub enabled: Option<bool>,
    pub meaning: Option<&'a str>,
}

/// Whether a rule of this name exists.
pub fn is_known(rule: &str) -> Result<bool> {
    let is_known: Option<bool> = as_owner(|| {
        sql::read_one(
            "SELECT EXISTS (SELECT FROM reground.alert_rules WHERE rule = $1)",
            &[rule.into()],
        )
    })?;
    Ok(is_known == Some(true))
}

/// Columns of a rule after its name, in the order of [`set_rule`].
const RULE: Record = Record(&[
    "indicator text, threshold double precision, period interval, whole_period boolean, min_answers integer, per_corpus boolean",
    "severity text, enabled boolean, meaning text",
]);

/// Stores a rule of a user. Columns without a new value are taken from the active rule of this name, else from the defaults.
pub fn set_rule(change: &Change<'_>, period: Option<Interval>) -> Result<()> {
    let (change, defaults) = (sql::json(change)?, sql::json(&RuleDefaults::default())?);
    as_owner(|| {
        sql::run(
            &format!(
                "INSERT INTO reground.alert_rules (rule, built_in, {}) \
                 SELECT x.rule, false, coalesce(x.indicator, r.indicator), coalesce(x.threshold, r.threshold), \
                     coalesce($2, r.period, make_interval(hours => d.hours)), coalesce(x.whole_period, r.whole_period, d.whole_period), \
                     coalesce(x.min_answers, r.min_answers, d.min_answers), coalesce(x.per_corpus, r.per_corpus, d.per_corpus), \
                     coalesce(x.severity, r.severity, d.severity), coalesce(x.enabled, r.enabled, true), coalesce(x.meaning, r.meaning) \
                 FROM json_to_record($1::json) AS x(rule text, {RULE}) LEFT JOIN reground.active_alert_rules AS r USING (rule) \
                     CROSS JOIN json_to_record($3::json) AS d(hours integer, {RULE}) \
                 ON CONFLICT (rule, built_in) DO UPDATE SET {}",
                RULE.columns(""),
                RULE.assignments("excluded.")
            ),
            &[change.into(), period.into(), defaults.into()],
        )
    })?;
    Ok(())
}

/// Whether a rule may have this period: one hour to 31 days.
pub fn is_period(period: Option<Interval>) -> Result<bool> {
    let fits: Option<bool> = as_owner(|| {
        sql::read_one(
            "SELECT coalesce($1 BETWEEN interval '1 hour' AND interval '31 days', true)",
            &[period.into()],
        )
    })?;
    Ok(fits == Some(true))
}

/// Deletes a rule of a user; returns whether it existed.
pub fn drop_rule(rule: &str) -> Result<bool> {
    let dropped = as_owner(|| {
        sql::run(
            "DELETE FROM reground.alert_rules WHERE rule = $1 AND NOT built_in",
            &[rule.into()],
        )
    })?;
    Ok(dropped > 0)
}

/// The rollups of a period, in seconds since 1970, for a baseline.
pub fn hours_of(since: i64, until: i64) -> Result<Option<reground_audit::hours::Hours>> {
    as_owner_scanning(|| {
        sql::write_json(
            &format!("SELECT json_build_object({})::text", hours()),
            &[
                since.into(),
                until.into(),
                None::<&str>.into(),
                None::<&str>.into(),
            ],
        )
    })
}

/// Stores baselines; replaces those of the same corpora. The period is in seconds since 1970.
pub fn set_baselines(baselines: &[NewBaseline], since: i64, until: i64) -> Result<()> {
    let rows = sql::json(baselines)?;
    as_owner(|| {
        sql::run(
            "INSERT INTO reground.alert_baselines (tenant, corpus, cfs_p5, answers, since, until) \
             SELECT x.tenant, x.corpus, x.cfs_p5, x.answers, to_timestamp($2), to_timestamp($3) \
             FROM json_to_recordset($1::json) AS x(tenant text, corpus text, cfs_p5 double precision, answers bigint) \
             ON CONFLICT (tenant, corpus) DO UPDATE SET cfs_p5 = excluded.cfs_p5, answers = excluded.answers, since = excluded.since, until = excluded.until, taken_at = clock_timestamp()",
            &[rows.into(), since.into(), until.into()],
        )
    })?;
    Ok(())
}
