//! Functions behind the SQL functions of quality and comparison.

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_audit::dimension::{Dimension, Subject};
use reground_metrics::mann_whitney::two_sided;
use reground_metrics::proportion::wilson;

use crate::api::given;
use crate::error::{Error, Result};
use crate::rows;

#[pg_extern(sql = false)]
fn dimension_name(
    dimension: Option<&str>,
    of_answers: Option<bool>,
) -> std::result::Result<Option<String>, ErrorReport> {
    Ok(parsed(dimension, of_answers)?.name)
}

#[pg_extern(sql = false)]
fn dimension_key(
    dimension: Option<&str>,
    of_answers: Option<bool>,
) -> std::result::Result<Option<String>, ErrorReport> {
    Ok(parsed(dimension, of_answers)?.key)
}

/// Parses a dimension; NULL is no dimension for citations, and an error (22004) for answers.
fn parsed(dimension: Option<&str>, of_answers: Option<bool>) -> Result<Dimension> {
    let subject = match of_answers {
        Some(true) => Subject::Answers,
        _ => Subject::Citations,
    };
    if subject == Subject::Answers {
        given(dimension, "dimension")?;
    }
    let dimension = dimension.map(|name| Dimension::parse(name, subject));
    Ok(dimension.transpose()?.unwrap_or_default())
}

#[pg_extern(sql = false)]
fn document_type(uri: Option<&str>, doc_id: Option<&str>) -> Option<String> {
    reground_documents::document_type(uri, doc_id)
}

/// The row of `_wilson_interval`.
#[derive(Default)]
struct Bounds {
    low: Option<f64>,
    high: Option<f64>,
}

#[pg_extern(sql = false)]
fn wilson_interval(
    successes: Option<i64>,
    trials: Option<i64>,
    confidence: Option<f64>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    let (successes, trials) = (given(successes, "successes")?, given(trials, "trials")?);
    let confidence = given(confidence, "confidence")?;
    let Bounds { low, high } = bounds(successes, trials, confidence)?;
    rows::emit_values(fcinfo, &[low.into_datum(), high.into_datum()]);
    Ok(())
}

fn bounds(successes: i64, trials: i64, confidence: f64) -> Result<Bounds> {
    let counts = u64::try_from(successes)
        .ok()
        .zip(u64::try_from(trials).ok());
    if counts == Some((0, 0)) {
        return Ok(Bounds::default());
    }
    let interval = counts.and_then(|(successes, trials)| wilson(successes, trials, confidence));
    let interval = interval.ok_or_else(|| Error::Bad {
        argument: "successes",
        fault: format!("{successes} of {trials} at a confidence of {confidence}"),
        hint: "Pass 0 or more successes, at least as many trials, and a confidence above 0 and below 1."
            .into(),
    })?;
    Ok(Bounds {
        low: Some(interval.low),
        high: Some(interval.high),
    })
}

/// The row of `_mann_whitney`.
#[derive(Default)]
struct UTest {
    u: Option<f64>,
    p_value: Option<f64>,
    effect: Option<f64>,
}

#[pg_extern(sql = false)]
fn mann_whitney(
    a: Option<Vec<Option<f64>>>,
    b: Option<Vec<Option<f64>>>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    let values = |sample: Option<Vec<Option<f64>>>, name| -> Result<Vec<f64>> {
        Ok(given(sample, name)?.into_iter().flatten().collect())
    };
    let (a, b) = (values(a, "a")?, values(b, "b")?);
    let result = match two_sided(&a, &b) {
        Some(test) => UTest {
            u: Some(test.statistic),
            p_value: Some(test.p_value),
            effect: Some(test.effect),
        },
        None if a.is_empty() || b.is_empty() => UTest::default(),
        None => {
            return Err(Error::Bad {
                argument: "a",
                fault: "a or b contains a value that is not finite".into(),
                hint: "Remove NaN and infinite values.".into(),
            }
            .into());
        }
    };
    let UTest { u, p_value, effect } = result;
    let row = [u.into_datum(), p_value.into_datum(), effect.into_datum()];
    rows::emit_values(fcinfo, &row);
    Ok(())
}
