//! What one call of a judge gives.

use serde::Serialize;

use super::verdict::Verdict;

/// One vote of a judge.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// Probability that the verdict is right, as the model states it.
    pub confidence: f64,
    /// Part of the passage that decides; `None` without one, and if the passage does not contain it.
    pub passage: Option<String>,
    /// The reason, at most [`MAX_EXPLANATION`](super::prompt::MAX_EXPLANATION) characters.
    pub explanation: Option<String>,
    /// Whether the place that the citation names is that of the passage; `None` if this cannot be compared.
    pub coordinates_match: Option<bool>,
}

impl Judgement {
    /// A judgement without texts.
    pub(super) fn of(verdict: Verdict, confidence: f64) -> Self {
        Self {
            verdict,
            confidence,
            passage: None,
            explanation: None,
            coordinates_match: None,
        }
    }
}
