//! Measured systems and the published tables as rows with the same columns.

use serde::Serialize;

use super::measures::Measures;
use super::outcome::Outcome;
use super::published::{MODELS, PublishedRow, RETRIEVAL, Setting};
use super::summary::{Cost, LargestCosts, Summary, summarize};
use super::verdicts::Unmeasured;
use crate::interval::Interval;

/// The answers of a system in a setting.
#[derive(Debug, Clone, PartialEq)]
pub struct System {
    /// Name of the system, such as the value of a dimension.
    pub name: Option<String>,
    /// Whether the questions were asked alone.
    pub setting: Setting,
    /// Its answers.
    pub outcomes: Vec<Outcome>,
}

/// A system, measured or published. Shares are in [0, 1]. Counts and intervals are `None` for published systems.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ComparisonRow {
    /// Number of the published table; `None` for a measured system.
    pub published_table: Option<u8>,
    /// Name of the system.
    pub value: Option<String>,
    /// Setting.
    pub setting: Option<Setting>,
    /// Answers.
    pub answers: Option<u64>,
    /// Answers with measures.
    pub measured: Option<u64>,
    /// Answers with queued tasks. They belong to no mean.
    pub pending: Option<u64>,
    /// Answers without statements.
    pub no_statements: Option<u64>,
    /// Answers whose reference has no facts.
    pub no_facts: Option<u64>,
    /// Answers with a verdict that failed.
    pub judge_failed: Option<u64>,
    /// Mean factual recall.
    pub factual_recall: Option<f64>,
    /// Mean factual precision.
    pub factual_precision: Option<f64>,
    /// Mean factual F1.
    pub factual_f1: Option<f64>,
    /// Lower bound of its interval.
    pub factual_f1_low: Option<f64>,
    /// Upper bound of its interval.
    pub factual_f1_high: Option<f64>,
    /// Mean false claim rate.
    pub false_claim_rate: Option<f64>,
    /// Mean misrepresentation rate.
    pub misrepresentation_rate: Option<f64>,
    /// Mean hallucination F1.
    pub hallucination_f1: Option<f64>,
    /// Lower bound of its interval.
    pub hallucination_f1_low: Option<f64>,
    /// Upper bound of its interval.
    pub hallucination_f1_high: Option<f64>,
    /// Mean tokens per entailed fact.
    pub tokens_per_entailed_fact: Option<f64>,
    /// Answers without an entailed fact. The largest costs replace theirs, also that to cover all facts.
    pub without_entailed_fact: Option<u64>,
    /// Mean tokens per contradicted fact. Higher is better.
    pub tokens_per_contradicted_fact: Option<f64>,
    /// Answers without a contradicted fact. The largest cost replaces theirs.
    pub without_contradicted_fact: Option<u64>,
    /// Mean tokens to cover all facts.
    pub tokens_to_cover_all: Option<f64>,
}

/// The measured systems in their order, then the published tables. The systems are one data set: a cost with a denominator of 0
/// becomes the largest cost of all of them.
pub fn compare(systems: &[System]) -> Vec<ComparisonRow> {
    let all = systems.iter().flat_map(|system| &system.outcomes);
    let largest = LargestCosts::of(all.filter_map(Outcome::measures));
    let measured = systems.iter().map(|system| of_system(system, largest));
    let published = MODELS.iter().chain(&RETRIEVAL).map(of_publication);
    measured.chain(published).collect()
}

fn of_system(system: &System, largest: LargestCosts) -> ComparisonRow {
    let settled = |outcome: &Outcome| match outcome {
        Outcome::Pending => None,
        Outcome::Done(measures) => Some(Ok(*measures)),
        Outcome::Unmeasured(why) => Some(Err(*why)),
    };
    let answers: Vec<Result<Measures, Unmeasured>> =
        system.outcomes.iter().filter_map(settled).collect();
    let one: Summary = summarize(&answers, Some(largest));
    let mean = |interval: Option<Interval>| interval.map(|interval| interval.mean);
    let cost = |cost: Option<Cost>| cost.map(|cost| cost.tokens.mean);
    let without = |of: fn(&Measures) -> Option<f64>| {
        let lacks = |one: &&Measures| of(one).is_none();
        Some(answers.iter().flatten().filter(lacks).count() as u64)
    };
    ComparisonRow {
        published_table: None,
        value: system.name.clone(),
        setting: Some(system.setting),
        answers: Some(system.outcomes.len() as u64),
        measured: Some(one.measured),
        pending: Some((system.outcomes.len() - answers.len()) as u64),
        no_statements: Some(one.no_statements),
        no_facts: Some(one.no_facts),
        judge_failed: Some(one.judge_failed),
        factual_recall: mean(one.factual_recall),
        factual_precision: mean(one.factual_precision),
        factual_f1: mean(one.factual_f1),
        factual_f1_low: one.factual_f1.map(|interval| interval.low),
        factual_f1_high: one.factual_f1.map(|interval| interval.high),
        false_claim_rate: mean(one.false_claim_rate),
        misrepresentation_rate: mean(one.misrepresentation_rate),
        hallucination_f1: mean(one.hallucination_f1),
        hallucination_f1_low: one.hallucination_f1.map(|interval| interval.low),
        hallucination_f1_high: one.hallucination_f1.map(|interval| interval.high),
        tokens_per_entailed_fact: cost(one.tokens_per_entailed_fact),
        without_entailed_fact: without(|one| one.tokens_per_entailed_fact),
        tokens_per_contradicted_fact: cost(one.tokens_per_contradicted_fact),
        without_contradicted_fact: without(|one| one.tokens_per_contradicted_fact),
        tokens_to_cover_all: cost(one.tokens_to_cover_all),
    }
}

fn of_publication(row: &PublishedRow) -> ComparisonRow {
    let share = |percent: f64| percent / 100.0;
    ComparisonRow {
        published_table: Some(row.table),
        value: Some(row.system.to_owned()),
        setting: Some(row.setting),
        factual_recall: row.factual_recall.map(share),
        factual_precision: row.factual_precision.map(share),
        factual_f1: Some(share(row.factual_f1)),
        false_claim_rate: row.false_claim_rate.map(share),
        misrepresentation_rate: row.misrepresentation_rate.map(share),
        hallucination_f1: Some(share(row.hallucination_f1)),
        tokens_per_entailed_fact: Some(row.tokens_per_entailed_fact),
        tokens_per_contradicted_fact: Some(row.tokens_per_contradicted_fact),
        tokens_to_cover_all: row.tokens_to_cover_all,
        ..ComparisonRow::default()
    }
}
