//! Labels of reviewers on verdicts and decompositions.

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;

use super::measures::entailment;
use crate::api::audit::reviews::who;
use crate::api::{given, writable};
use crate::error::{Error, Result};
use crate::store::factuality::labels::{self, DecompositionReview};

/// Most statements of a review.
const MOST_STATEMENTS: i32 = 10_000;

#[pg_extern(sql = false)]
fn label_verdict(
    verdict_id: Option<i64>,
    label: Option<&str>,
    note: Option<&str>,
    labelled_by: Option<&str>,
) -> std::result::Result<(), ErrorReport> {
    writable("label_verdict")?;
    let verdict_id = given(verdict_id, "verdict_id")?;
    let label = entailment(given(label, "label")?, "label")?;
    let who = who(labelled_by, "labelled_by")?;
    if !labels::label_verdict(verdict_id, label, note, &who)? {
        return Err(Error::Unknown("verdict", verdict_id.to_string()).into());
    }
    Ok(())
}

#[pg_extern(sql = false)]
fn label_decomposition(
    evaluation_id: Option<i64>,
    human_statements: Option<i32>,
    omitted_statements: Option<i32>,
    note: Option<&str>,
    labelled_by: Option<&str>,
) -> std::result::Result<(), ErrorReport> {
    writable("label_decomposition")?;
    let evaluation_id = given(evaluation_id, "evaluation_id")?;
    let human_statements = within(human_statements, MOST_STATEMENTS, "human_statements")?;
    let review = DecompositionReview {
        human_statements,
        omitted_statements: within(omitted_statements, human_statements, "omitted_statements")?,
        note,
    };
    let who = who(labelled_by, "labelled_by")?;
    match labels::label_decomposition(evaluation_id, &review, &who)? {
        None => Err(Error::Unknown("evaluation", evaluation_id.to_string()).into()),
        Some(reviewed) if !reviewed.is_decomposed => {
            Err(Error::NotDecomposed(evaluation_id).into())
        }
        Some(_) => Ok(()),
    }
}

/// A number from 0 to `most`. Errors: 22004 for NULL, 22023 for another number.
fn within(number: Option<i32>, most: i32, argument: &'static str) -> Result<i32> {
    match given(number, argument)? {
        number if (0..=most).contains(&number) => Ok(number),
        other => Err(Error::Bad {
            argument,
            fault: other.to_string(),
            hint: format!("From 0 to {most}."),
        }),
    }
}
