//! Functions behind the SQL functions of quality and comparison.

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_audit::dimension::{Dimension, Subject};
use reground_audit::figure::Figure;
use reground_metrics::comparison::{self, Answer, Samples};
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

#[pg_extern(sql = false)]
fn of_answers(figure: Option<&str>) -> std::result::Result<bool, ErrorReport> {
    Ok(figure_named(figure)?.subject() == Subject::Answers)
}

fn figure_named(name: Option<&str>) -> Result<Figure> {
    Ok(given(name, "figure")?.parse::<Figure>()?)
}

/// The groups of a comparison, as arrays with an element for each answer.
type Sums = Option<Vec<Option<f64>>>;
type Counts = Option<Vec<Option<i64>>>;

#[pg_extern(sql = false)]
#[expect(clippy::too_many_arguments, reason = "the SQL signature")]
fn compare(
    figure: Option<&str>,
    dimension: Option<&str>,
    value_a: Option<&str>,
    value_b: Option<&str>,
    overlap: Option<bool>,
    sums_a: Sums,
    counts_a: Counts,
    sums_b: Sums,
    counts_b: Counts,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    let figure = figure_named(figure)?;
    given(dimension, "dimension")?;
    given(value_a, "value_a")?;
    given(value_b, "value_b")?;
    if overlap == Some(true) {
        return Err(Error::Bad {
            argument: "value_b",
            fault: "it overlaps value_a".into(),
            hint: "Compare two different values, or two periods without a common time.".into(),
        }
        .into());
    }
    let compared = comparison::compare(
        &answers_of(group(sums_a, counts_a), group(sums_b, counts_b)),
        figure.is_share(),
    );
    let found = compared.comparison;
    let medians = found.and_then(|found| found.medians);
    let count = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let row = [
        count(compared.answers[0]).into_datum(),
        count(compared.answers[1]).into_datum(),
        count(compared.samples[0]).into_datum(),
        count(compared.samples[1]).into_datum(),
        found.map(|found| found.means[0]).into_datum(),
        found.map(|found| found.means[1]).into_datum(),
        medians.map(|medians| medians[0]).into_datum(),
        medians.map(|medians| medians[1]).into_datum(),
        found.map(|found| found.difference).into_datum(),
        found.map(|found| found.low).into_datum(),
        found.map(|found| found.high).into_datum(),
        found.map(|found| found.effect).into_datum(),
        compared.effect_size.into_datum(),
        compared.test.into_datum(),
        found.map(|found| found.p_value).into_datum(),
    ];
    rows::emit_values(fcinfo, &row);
    Ok(())
}

/// The samples of one group.
fn group(sums: Sums, counts: Counts) -> impl Iterator<Item = Samples> {
    let pairs = sums.into_iter().flatten().zip(counts.into_iter().flatten());
    pairs.map(|(sum, count)| Samples::of(sum, count))
}

fn answers_of(
    first: impl Iterator<Item = Samples>,
    second: impl Iterator<Item = Samples>,
) -> Vec<Answer> {
    first.zip(second).map(|(a, b)| [a, b]).collect()
}
