//! Validation of a decomposer and of a judge by the labels of humans.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::decomposition::{omission_rate, smape};
use super::published::VALIDATION;
use super::verdicts::Entailment;
use crate::agreement::{ConfusionMatrix, fleiss_kappa, majority};

/// Confidence of the interval of κ.
const CONFIDENCE: f64 = 0.95;

/// A human's review of a decomposition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct LabelledDecomposition {
    /// Statements of the decomposer.
    pub statements: u64,
    /// Statements that the human makes of the answer.
    pub human_statements: u64,
    /// Those of them that the decomposer left out.
    pub omitted_statements: u64,
}

/// A verdict with the labels of humans.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct LabelledVerdict {
    /// The judge's verdict; `None` if the judge failed.
    pub verdict: Option<Entailment>,
    /// One label of each human.
    pub labels: Vec<Entailment>,
}

/// A measure of agreement, with the published range.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AgreementRow {
    /// Name of the measure.
    pub measure: &'static str,
    /// The value; `None` without samples, and where κ is not defined.
    pub value: Option<f64>,
    /// Lower bound of the 95 % interval, for κ.
    pub low: Option<f64>,
    /// Upper bound of the 95 % interval, for κ.
    pub high: Option<f64>,
    /// Reviews, statements or verdicts that the value is from.
    pub samples: u64,
    /// Published value, or the smallest of several.
    pub source_low: f64,
    /// Published value, or the largest of several.
    pub source_high: f64,
}

/// The agreement with humans: of the decomposer in counts and omissions, of the judge with the majority of the humans, and of the
/// humans among each other.
///
/// A verdict without a majority of more than half of its labels counts only for the agreement of the humans. Fleiss' κ needs the
/// same number of labels for each verdict: it takes the number, from 2, that most verdicts have.
pub fn agreement(
    decompositions: &[LabelledDecomposition],
    verdicts: &[LabelledVerdict],
) -> Vec<AgreementRow> {
    let counts = decompositions.iter();
    let counts = counts.map(|review| (review.statements, review.human_statements));
    let covered = decompositions.iter().flat_map(|review| {
        (0..review.human_statements).map(|statement| statement >= review.omitted_statements)
    });
    let omitted = omission_rate(covered);
    let pairs = verdicts.iter().filter_map(|one| {
        let gold = majority(&one.labels, 1)?;
        Some((gold.category, one.verdict?))
    });
    let matrix = ConfusionMatrix::of(&Entailment::ALL, pairs);
    let judged = matrix.as_ref().map_or(0, ConfusionMatrix::total);
    let kappa = matrix
        .as_ref()
        .and_then(|matrix| matrix.kappa_interval(CONFIDENCE));
    let even = evenly_labelled(verdicts);
    let same = |measure, value, samples, source| AgreementRow {
        measure,
        value,
        low: None,
        high: None,
        samples,
        source_low: source,
        source_high: source,
    };
    let of_humans = VALIDATION.majority_kappa;
    vec![
        same(
            "smape",
            smape(counts),
            decompositions.len() as u64,
            VALIDATION.smape,
        ),
        same(
            "omission_rate",
            omitted.value(),
            omitted.denominator,
            VALIDATION.omission_rate,
        ),
        same(
            "weighted_f1",
            matrix.as_ref().and_then(ConfusionMatrix::weighted_f1),
            judged,
            VALIDATION.weighted_f1,
        ),
        AgreementRow {
            measure: "kappa",
            value: kappa.map(|kappa| kappa.mean),
            low: kappa.map(|kappa| kappa.low),
            high: kappa.map(|kappa| kappa.high),
            samples: judged,
            source_low: of_humans.into_iter().fold(f64::INFINITY, f64::min),
            source_high: of_humans.into_iter().fold(f64::NEG_INFINITY, f64::max),
        },
        same(
            "fleiss_kappa",
            fleiss_kappa(&even),
            even.len() as u64,
            VALIDATION.fleiss_kappa,
        ),
    ]
}

/// Counts of the labels by category, of the verdicts with the most frequent number of labels from 2; the larger number of equally
/// frequent ones.
fn evenly_labelled(verdicts: &[LabelledVerdict]) -> Vec<Vec<u64>> {
    let mut by_number: BTreeMap<usize, Vec<Vec<u64>>> = BTreeMap::new();
    for one in verdicts.iter().filter(|one| one.labels.len() >= 2) {
        let votes = |category| {
            one.labels
                .iter()
                .filter(|label| **label == category)
                .count() as u64
        };
        let counts = Entailment::ALL.map(votes).to_vec();
        by_number.entry(one.labels.len()).or_default().push(counts);
    }
    let most = by_number.into_values().max_by_key(Vec::len);
    most.unwrap_or_default()
}
