//! `_factuality`: the measures of an answer, for the view `factuality`.

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_metrics::factuality::measures::Measures;
use reground_metrics::factuality::outcome::{Outcome, Tally};
use reground_metrics::factuality::verdicts::{AnswerVerdicts, Entailment};

use crate::error::{Error, Result};
use crate::rows;

#[pg_extern(sql = false)]
fn _factuality(
    statement_verdicts: Option<Vec<Option<String>>>,
    fact_verdicts: Option<Vec<Option<String>>>,
    tokens: Option<i32>,
    queued: Option<i64>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    let answer = AnswerVerdicts {
        statements: side(statement_verdicts, "statement_verdicts")?,
        facts: side(fact_verdicts, "fact_verdicts")?,
        tokens: u64::try_from(tokens.unwrap_or_default()).unwrap_or_default(),
    };
    let queued = u64::try_from(queued.unwrap_or_default()).unwrap_or_default();
    let outcome = Outcome::of(&answer, queued);
    let statements = answer.statements.as_deref().map(Tally::of);
    let facts = answer.facts.as_deref().map(Tally::of);
    let measures = outcome.measures();
    let count = |side: Option<Tally>, of: fn(Tally) -> u64| {
        side.and_then(|side| i64::try_from(of(side)).ok())
            .into_datum()
    };
    let share = |of: fn(&Measures) -> f64| measures.map(of).into_datum();
    let cost = |of: fn(&Measures) -> Option<f64>| measures.and_then(of).into_datum();
    let row = [
        outcome.name().into_datum(),
        count(statements, |side| side.all),
        count(statements, |side| side.entailed),
        count(statements, |side| side.contradicted),
        count(facts, |side| side.all),
        count(facts, |side| side.entailed),
        count(facts, |side| side.contradicted),
        share(|one| one.factual_precision),
        share(|one| one.factual_recall),
        share(|one| one.factual_f1),
        share(|one| one.false_claim_rate),
        share(|one| one.misrepresentation_rate),
        share(|one| one.hallucination_f1),
        cost(|one| one.tokens_per_entailed_fact),
        cost(|one| one.tokens_per_contradicted_fact),
        cost(|one| one.tokens_to_cover_all),
    ];
    rows::emit_values(fcinfo, &row);
    Ok(())
}

/// The verdicts of one side. Errors: 22023 for an unknown verdict.
fn side(
    verdicts: Option<Vec<Option<String>>>,
    argument: &'static str,
) -> Result<Option<Vec<Option<Entailment>>>> {
    let verdict = |name: Option<String>| name.map(|name| entailment(&name, argument)).transpose();
    verdicts
        .map(|side| side.into_iter().map(verdict).collect())
        .transpose()
}

/// The verdict of this name. Errors: 22023 for an unknown one.
pub(super) fn entailment(name: &str, argument: &'static str) -> Result<Entailment> {
    Entailment::parse(name).ok_or_else(|| Error::Bad {
        argument,
        fault: format!("\"{name}\""),
        hint: format!(
            "Use one of {}.",
            Entailment::ALL.map(Entailment::name).join(", ")
        ),
    })
}
