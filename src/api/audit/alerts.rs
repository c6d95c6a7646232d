//! Alert rules, alerts and their diagnosis.

use pgrx::datum::{Interval, TimestampWithTimeZone};
use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_audit::alert::{Horizon, baselines};
use reground_audit::indicator::Indicator;
use reground_audit::rule::{self, Severity};

use crate::api::{given, not_empty, writable};
use crate::error::{Error, Result};
use crate::rows;
use crate::sql;
use crate::store::alerts::{self, AlertEvent, Change};
use crate::store::rollups;

#[pg_extern(sql = false)]
#[expect(clippy::too_many_arguments, reason = "the SQL signature")]
fn set_alert_rule(
    rule: Option<&str>,
    indicator: Option<&str>,
    threshold: Option<f64>,
    period: Option<Interval>,
    whole_period: Option<bool>,
    min_answers: Option<i32>,
    per_corpus: Option<bool>,
    severity: Option<&str>,
    enabled: Option<bool>,
    meaning: Option<&str>,
) -> std::result::Result<(), ErrorReport> {
    writable("set_alert_rule")?;
    let rule = not_empty(rule, "rule")?;
    let indicator: Option<Indicator> =
        indicator.map(str::parse).transpose().map_err(Error::from)?;
    let invalid = |argument, fault: &str| Error::Bad {
        argument,
        fault: fault.into(),
        hint: String::new(),
    };
    let threshold = threshold
        .map(rule::threshold)
        .transpose()
        .map_err(Error::from)?;
    if !alerts::is_period(period)? {
        return Err(invalid("period", "it is below 1 hour or above 31 days").into());
    }
    if min_answers.is_some_and(|least| least < 1) {
        return Err(invalid("min_answers", "it is below 1").into());
    }
    let severity: Option<Severity> = severity.map(str::parse).transpose().map_err(Error::from)?;
    if !alerts::is_known(rule)? {
        given(indicator, "indicator")?;
        given(threshold, "threshold")?;
    }
    let change = Change {
        rule,
        indicator: indicator.map(Indicator::name),
        threshold,
        whole_period,
        min_answers,
        per_corpus,
        severity,
        enabled,
        meaning,
    };
    alerts::set_rule(&change, period)?;
    Ok(())
}

#[pg_extern(sql = false)]
fn drop_alert_rule(rule: Option<&str>) -> std::result::Result<bool, ErrorReport> {
    writable("drop_alert_rule")?;
    Ok(alerts::drop_rule(given(rule, "rule")?)?)
}

#[pg_extern(sql = false)]
fn take_baseline(
    since: Option<TimestampWithTimeZone>,
    until: Option<TimestampWithTimeZone>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    writable("take_baseline")?;
    let since = hour_at(since, "since")?;
    let until = hour_at(until, "until")?;
    if since >= until {
        return Err(invalid_hour("since", "no hour begins between since and until").into());
    }
    rollups::refresh(None)?;
    let hours = alerts::hours_of(since, until)?.unwrap_or_default();
    let taken = baselines(&hours);
    alerts::set_baselines(&taken, since, until)?;
    rows::emit(fcinfo, &taken)?;
    Ok(())
}

fn hour_at(moment: Option<TimestampWithTimeZone>, name: &'static str) -> Result<i64> {
    rollups::hour_at(given(moment, name)?)?.ok_or_else(|| invalid_hour(name, "it is infinite"))
}

fn invalid_hour(argument: &'static str, fault: &str) -> Error {
    Error::Bad {
        argument,
        fault: fault.into(),
        hint: "A baseline covers whole hours. Pass since and until in different hours.".into(),
    }
}

#[pg_extern(sql = false)]
fn check_alerts(fcinfo: pg_sys::FunctionCallInfo) -> std::result::Result<(), ErrorReport> {
    writable("check_alerts")?;
    rollups::refresh(None)?;
    rows::emit(fcinfo, &check()?)?;
    Ok(())
}

/// Runs the check as a task of maintenance, and returns the number of alerts that changed.
pub(super) fn check_all() -> Result<i64> {
    rollups::refresh(None)?;
    let alerts = check()?;
    let changed = alerts.iter().filter(|alert| alert.event != "firing");
    Ok(i64::try_from(changed.count()).unwrap_or(i64::MAX))
}

/// Evaluates the rules on the current rollups, and updates the alerts.
fn check() -> Result<Vec<AlertEvent>> {
    alerts::lock()?;
    let rules = alerts::rules()?;
    let Some(situation) = alerts::situation(Horizon::of(&rules))? else {
        return Ok(Vec::new());
    };
    alerts::write(&situation.check(&rules), situation.orphans(&rules))
}

#[pg_extern(sql = false)]
fn diagnose(
    alert_id: Option<i64>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    let alert_id = given(alert_id, "alert_id")?;
    let case =
        alerts::case(alert_id)?.ok_or_else(|| Error::Unknown("alert", alert_id.to_string()))?;
    let clues = sql::json(&case.diagnose())?;
    rows::emit_from(fcinfo, CLUES, &[clues.into()])?;
    Ok(())
}

/// Clues as rows. Their hours become timestamps.
const CLUES: &str = "(SELECT step, clue, stage, stage_no, tenant, corpus, document_type, pg_catalog.to_timestamp(x.hour) AS hour, severity, details, place \
     FROM ROWS FROM (pg_catalog.json_to_recordset($1::pg_catalog.json) AS (step integer, clue text, stage text, stage_no integer, tenant text, corpus text, document_type text, hour bigint, severity text, details jsonb)) \
         WITH ORDINALITY AS x(step, clue, stage, stage_no, tenant, corpus, document_type, hour, severity, details, place)) AS r ORDER BY r.place";
