//! Validity of the references of an answer, and citation coverage.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Ratio;

/// Validity of references, with counts by status.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Validity<S: Ord> {
    /// Resolved references among all extracted ones.
    pub ratio: Ratio,
    /// Number of references by status. Statuses without references are not listed.
    pub by_status: BTreeMap<S, u64>,
}

/// Reference validity: the share of extracted references that resolve. `resolves` returns whether a status counts as resolved.
pub fn validity<S: Ord>(
    statuses: impl IntoIterator<Item = S>,
    resolves: impl Fn(&S) -> bool,
) -> Validity<S> {
    let mut by_status = BTreeMap::new();
    let ratio = Ratio::of(statuses.into_iter().map(|status| {
        let resolved = resolves(&status);
        *by_status.entry(status).or_default() += 1;
        resolved
    }));
    Validity { ratio, by_status }
}

/// Input of [`coverage`] for one sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sentence {
    /// Whether the sentence needs a citation.
    pub needs_citation: bool,
    /// Whether the sentence has a citation.
    pub is_cited: bool,
}

/// Citation coverage: the share of the sentences that need a citation and have one.
///
/// A citation on a sentence that needs none does not count, so the value is at most 1.
pub fn coverage(sentences: impl IntoIterator<Item = Sentence>) -> Ratio {
    let needing = sentences.into_iter().filter(|s| s.needs_citation);
    Ratio::of(needing.map(|sentence| sentence.is_cited))
}
