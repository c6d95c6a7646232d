//! Measures of a data set: means over its answers.

use serde::{Deserialize, Serialize};

use super::measures::Measures;
use super::verdicts::Unmeasured;
use crate::interval::{Interval, bootstrap_mean};

/// Confidence of the intervals.
const CONFIDENCE: f64 = 0.95;
/// Resamples of the intervals.
const RESAMPLES: usize = 1000;
/// Seed of the intervals.
const SEED: u64 = 1;

/// The largest values of the token costs. They replace costs with a denominator of 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct LargestCosts {
    /// Of tokens per entailed fact; `None` if no answer has one.
    pub per_entailed_fact: Option<f64>,
    /// Of tokens per contradicted fact; `None` if no answer has one.
    pub per_contradicted_fact: Option<f64>,
    /// Of tokens to cover all facts; `None` if no answer has them.
    pub to_cover_all: Option<f64>,
}

impl LargestCosts {
    /// The largest costs of answers. To compare systems whose answers fail at different questions, pass the answers of all of
    /// them: an own maximum rises with a system's own worst answer.
    pub fn of<'a>(answers: impl IntoIterator<Item = &'a Measures>) -> Self {
        let larger = |held: Option<f64>, one: Option<f64>| match (held, one) {
            (Some(held), Some(one)) => Some(held.max(one)),
            (held, one) => held.or(one),
        };
        answers
            .into_iter()
            .fold(Self::default(), |largest, answer| Self {
                per_entailed_fact: larger(
                    largest.per_entailed_fact,
                    answer.tokens_per_entailed_fact,
                ),
                per_contradicted_fact: larger(
                    largest.per_contradicted_fact,
                    answer.tokens_per_contradicted_fact,
                ),
                to_cover_all: larger(largest.to_cover_all, answer.tokens_to_cover_all),
            })
    }
}

/// The mean of a token cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Mean in tokens, with a 95 % interval that takes the largest cost as given.
    pub tokens: Interval,
    /// Answers whose cost is replaced by the largest one, because they have no such fact.
    pub replaced: u64,
}

/// Measures of a data set. Means are over the measured answers, with 95 % bootstrap intervals; `None` without measured answers.
///
/// F1 is the mean of the answers' F1 (requirement of the publication's table, where it is below the F1 of both means).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// All answers.
    pub answers: u64,
    /// Answers with measures.
    pub measured: u64,
    /// Answers whose reference has no facts.
    pub no_facts: u64,
    /// Answers without statements.
    pub no_statements: u64,
    /// Answers with a missing verdict or list.
    pub judge_failed: u64,
    /// Mean of [`Measures::factual_precision`].
    pub factual_precision: Option<Interval>,
    /// Mean of [`Measures::factual_recall`].
    pub factual_recall: Option<Interval>,
    /// Mean of [`Measures::factual_f1`].
    pub factual_f1: Option<Interval>,
    /// Mean of [`Measures::false_claim_rate`].
    pub false_claim_rate: Option<Interval>,
    /// Mean of [`Measures::misrepresentation_rate`].
    pub misrepresentation_rate: Option<Interval>,
    /// Mean of [`Measures::hallucination_f1`].
    pub hallucination_f1: Option<Interval>,
    /// Mean of [`Measures::tokens_per_entailed_fact`]; `None` if no answer has an entailed fact.
    pub tokens_per_entailed_fact: Option<Cost>,
    /// Mean of [`Measures::tokens_per_contradicted_fact`]; `None` if no answer has a contradicted fact. Higher is better.
    pub tokens_per_contradicted_fact: Option<Cost>,
    /// Mean of [`Measures::tokens_to_cover_all`]; `None` if no answer has an entailed fact.
    pub tokens_to_cover_all: Option<Cost>,
}

/// Summarises the answers of a data set. Costs with a denominator of 0 become the `largest` ones; `None` takes those of the data set
/// itself, as the publication does.
pub fn summarize(
    answers: &[Result<Measures, Unmeasured>],
    largest: Option<LargestCosts>,
) -> Summary {
    let measured: Vec<&Measures> = answers.iter().flatten().collect();
    let largest = largest.unwrap_or_else(|| LargestCosts::of(measured.iter().copied()));
    let unmeasured = |why| answers.iter().filter(|one| **one == Err(why)).count() as u64;
    let mean = |of: fn(&Measures) -> f64| {
        interval(&measured.iter().map(|one| of(one)).collect::<Vec<f64>>())
    };
    let cost = |of: fn(&Measures) -> Option<f64>, largest: Option<f64>| {
        let costs: Vec<Option<f64>> = measured.iter().map(|one| of(one)).collect();
        let replaced = costs.iter().filter(|cost| cost.is_none()).count() as u64;
        let known: Option<Vec<f64>> = costs.into_iter().map(|cost| cost.or(largest)).collect();
        interval(&known?).map(|tokens| Cost { tokens, replaced })
    };
    Summary {
        answers: answers.len() as u64,
        measured: measured.len() as u64,
        no_facts: unmeasured(Unmeasured::NoFacts),
        no_statements: unmeasured(Unmeasured::NoStatements),
        judge_failed: unmeasured(Unmeasured::JudgeFailed),
        factual_precision: mean(|one| one.factual_precision),
        factual_recall: mean(|one| one.factual_recall),
        factual_f1: mean(|one| one.factual_f1),
        false_claim_rate: mean(|one| one.false_claim_rate),
        misrepresentation_rate: mean(|one| one.misrepresentation_rate),
        hallucination_f1: mean(|one| one.hallucination_f1),
        tokens_per_entailed_fact: cost(
            |one| one.tokens_per_entailed_fact,
            largest.per_entailed_fact,
        ),
        tokens_per_contradicted_fact: cost(
            |one| one.tokens_per_contradicted_fact,
            largest.per_contradicted_fact,
        ),
        tokens_to_cover_all: cost(|one| one.tokens_to_cover_all, largest.to_cover_all),
    }
}

fn interval(values: &[f64]) -> Option<Interval> {
    bootstrap_mean(values, CONFIDENCE, RESAMPLES, SEED)
}
