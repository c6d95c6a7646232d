//! `factuality_report` and `factuality_agreement`.

use pgrx::datum::TimestampWithTimeZone;
use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_metrics::factuality::comparison::{ComparisonRow, System, compare};
use reground_metrics::factuality::outcome::Outcome;
use reground_metrics::factuality::validation::agreement;

use crate::error::{Error, Result};
use crate::rows;
use crate::store::factuality::reports::{self, Models, Period, ReportedAnswer};
use crate::tenant::membership;

#[pg_extern(sql = false)]
fn factuality_report(
    dimension: Option<&str>,
    since: Option<TimestampWithTimeZone>,
    until: Option<TimestampWithTimeZone>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    membership::notice_scope()?;
    rows::emit(fcinfo, &compared(dimension, Period { since, until })?)?;
    Ok(())
}

fn compared(dimension: Option<&str>, period: Period) -> Result<Vec<ComparisonRow>> {
    let mut systems: Vec<System> = Vec::new();
    for answer in reports::answers(dimension, period)? {
        let outcome = outcome(&answer)?;
        match systems.last_mut() {
            Some(system) if (&system.name, system.setting) == (&answer.value, answer.setting) => {
                system.outcomes.push(outcome);
            }
            _ => systems.push(System {
                name: answer.value,
                setting: answer.setting,
                outcomes: vec![outcome],
            }),
        }
    }
    Ok(compare(&systems))
}

fn outcome(answer: &ReportedAnswer) -> Result<Outcome> {
    Outcome::parse(&answer.outcome, answer.measures)
        .ok_or_else(|| Error::Stored(format!("an evaluation has the outcome {}", answer.outcome)))
}

#[pg_extern(sql = false)]
fn factuality_agreement(
    decompose_model: Option<&str>,
    entail_model: Option<&str>,
    since: Option<TimestampWithTimeZone>,
    until: Option<TimestampWithTimeZone>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    let models = Models {
        decompose: decompose_model,
        entail: entail_model,
    };
    membership::notice_scope()?;
    let period = Period { since, until };
    let reviews = reports::reviews(models, period)?;
    let verdicts = reports::verdicts(models, period)?;
    rows::emit(fcinfo, &agreement(&reviews, &verdicts))?;
    Ok(())
}
