//! Measures of one answer.

use reground_interrupt::checked;
use serde::{Deserialize, Serialize};

use super::verdicts::{AnswerVerdicts, Entailment, Unmeasured};

/// Measures of one answer with statements and facts. Shares are in [0, 1].
///
/// The publication's program calls `false_claim_rate` recall and `misrepresentation_rate` precision of hallucination.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Measures {
    /// Entailed statements / statements.
    pub factual_precision: f64,
    /// Entailed facts / facts.
    pub factual_recall: f64,
    /// Harmonic mean of precision and recall; 0 if both are 0.
    pub factual_f1: f64,
    /// Contradicted statements / statements.
    pub false_claim_rate: f64,
    /// Contradicted facts / facts.
    pub misrepresentation_rate: f64,
    /// Harmonic mean of both rates; 0 if both are 0. Lower is better.
    pub hallucination_f1: f64,
    /// Tokens / entailed facts, `None` without. Lower is better.
    pub tokens_per_entailed_fact: Option<f64>,
    /// Tokens / contradicted facts, `None` without. Higher is better. (The publication's definition says lower; its analysis of
    /// the outlier that "pushes the trade-off boundary" says higher.)
    pub tokens_per_contradicted_fact: Option<f64>,
    /// Tokens / factual recall, `None` if that is 0. Lower is better.
    pub tokens_to_cover_all: Option<f64>,
}

/// Measures an answer.
///
/// # Errors
/// An answer without facts, otherwise one without statements, otherwise one with a missing verdict or list.
pub fn measure(answer: &AnswerVerdicts) -> Result<Measures, Unmeasured> {
    let is_empty =
        |side: &Option<Vec<Option<Entailment>>>| side.as_ref().is_some_and(Vec::is_empty);
    if is_empty(&answer.facts) {
        return Err(Unmeasured::NoFacts);
    }
    if is_empty(&answer.statements) {
        return Err(Unmeasured::NoStatements);
    }
    let statements = Counts::of(answer.statements.as_deref())?;
    let facts = Counts::of(answer.facts.as_deref())?;
    let factual_precision = statements.entailed / statements.all;
    let factual_recall = facts.entailed / facts.all;
    let false_claim_rate = statements.contradicted / statements.all;
    let misrepresentation_rate = facts.contradicted / facts.all;
    let tokens = answer.tokens as f64;
    let per = |denominator: f64| (denominator > 0.0).then(|| tokens / denominator);
    Ok(Measures {
        factual_precision,
        factual_recall,
        factual_f1: harmonic_mean(factual_precision, factual_recall),
        false_claim_rate,
        misrepresentation_rate,
        hallucination_f1: harmonic_mean(false_claim_rate, misrepresentation_rate),
        tokens_per_entailed_fact: per(facts.entailed),
        tokens_per_contradicted_fact: per(facts.contradicted),
        tokens_to_cover_all: per(factual_recall),
    })
}

/// Verdicts of one side.
struct Counts {
    all: f64,
    entailed: f64,
    contradicted: f64,
}

impl Counts {
    fn of(side: Option<&[Option<Entailment>]>) -> Result<Self, Unmeasured> {
        let verdicts = side.ok_or(Unmeasured::JudgeFailed)?;
        let mut counts = Self {
            all: 0.0,
            entailed: 0.0,
            contradicted: 0.0,
        };
        for verdict in checked(verdicts) {
            counts.all += 1.0;
            match verdict.ok_or(Unmeasured::JudgeFailed)? {
                Entailment::Entailed => counts.entailed += 1.0,
                Entailment::Contradicted => counts.contradicted += 1.0,
                Entailment::Neutral => {}
            }
        }
        Ok(counts)
    }
}

/// 2ab / (a + b); 0 if both are 0.
fn harmonic_mean(a: f64, b: f64) -> f64 {
    if a + b > 0.0 {
        2.0 * a * b / (a + b)
    } else {
        0.0
    }
}
