//! Agreement of a judge with the labels of reviewers.

use reground_metrics::agreement::{ConfusionMatrix, EXPECTED_PARTIAL_ACCURATE};
use serde::{Deserialize, Serialize};

use super::verdict::Verdict;

/// Labels of a quarter below which a judge is not calibrated.
pub const MIN_LABELS: u64 = 200;
/// Confidence of the interval of κ.
const CONFIDENCE: f64 = 0.95;

/// Labelled citations with the same label and the same verdict.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct LabelCount {
    /// Name of the model.
    pub model: String,
    /// Version of the prompt.
    pub prompt: String,
    /// The last label of a reviewer.
    pub label: Verdict,
    /// The judge's verdict; `None` if it is undecided.
    pub verdict: Option<Verdict>,
    /// Number of citations.
    pub citations: u64,
    /// Number of those that were labelled in the last quarter.
    pub of_quarter: u64,
}

/// Agreement of a model with a version of the prompt. Undecided verdicts are counted, and left out of the measures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Agreement {
    /// Name of the model.
    pub model: String,
    /// Version of the prompt.
    pub prompt: String,
    /// Labelled citations with a verdict.
    pub citations: u64,
    /// Labelled citations without a majority of votes.
    pub undecided: u64,
    /// Cohen's κ; `None` without citations, and if all labels and verdicts are the same.
    pub kappa: Option<f64>,
    /// Lower bound of the 95 % interval of κ.
    pub kappa_low: Option<f64>,
    /// Upper bound of the 95 % interval of κ.
    pub kappa_high: Option<f64>,
    /// Share of equal labels and verdicts.
    pub accuracy: Option<f64>,
    /// Mean of the F1 of the categories that occur.
    pub macro_f1: Option<f64>,
    /// Mean of the F1 of the categories, weighted by the labels.
    pub weighted_f1: Option<f64>,
    /// Share of disagreements among the citations whose label and verdict are PARTIAL or ACCURATE.
    pub partial_accurate: Option<f64>,
    /// Lower bound of the share that the literature expects.
    pub expected_low: f64,
    /// Upper bound of the share that the literature expects.
    pub expected_high: f64,
    /// Whether there are fewer than [`MIN_LABELS`] citations with a label of the last quarter.
    pub uncalibrated: bool,
}

/// The agreement of each model and prompt, in the order of the counts.
#[must_use]
pub fn agreements(counts: &[LabelCount]) -> Vec<Agreement> {
    let same = |a: &LabelCount, b: &LabelCount| (&a.model, &a.prompt) == (&b.model, &b.prompt);
    counts.chunk_by(same).filter_map(agreement).collect()
}

/// The agreement of counts of one model and prompt.
fn agreement(counts: &[LabelCount]) -> Option<Agreement> {
    let first = counts.first()?;
    let mut pairs = Vec::new();
    let (mut undecided, mut of_quarter) = (0_u64, 0_u64);
    for count in counts {
        let Some(verdict) = count.verdict else {
            undecided = undecided.saturating_add(count.citations);
            continue;
        };
        of_quarter = of_quarter.saturating_add(count.of_quarter);
        let times = usize::try_from(count.citations).unwrap_or_default();
        pairs.extend(std::iter::repeat_n((count.label, verdict), times));
    }
    let matrix = ConfusionMatrix::of(&Verdict::ALL, pairs)?;
    let interval = matrix.kappa_interval(CONFIDENCE);
    let (expected_low, expected_high) = EXPECTED_PARTIAL_ACCURATE;
    let partial_accurate = matrix.disagreement(&Verdict::Partial, &Verdict::Accurate);
    Some(Agreement {
        model: first.model.clone(),
        prompt: first.prompt.clone(),
        citations: matrix.total(),
        undecided,
        kappa: matrix.cohens_kappa(),
        kappa_low: interval.map(|interval| interval.low),
        kappa_high: interval.map(|interval| interval.high),
        accuracy: matrix.accuracy().value(),
        macro_f1: matrix.macro_f1(),
        weighted_f1: matrix.weighted_f1(),
        partial_accurate: partial_accurate.value(),
        expected_low,
        expected_high,
        uncalibrated: of_quarter < MIN_LABELS,
    })
}
