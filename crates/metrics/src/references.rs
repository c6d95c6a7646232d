//! Whether the references of an answer exist, and whether what needs one has one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Ratio;

/// How many references of an answer lead somewhere, and what became of each kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Validity<S: Ord> {
    /// Resolved of extracted.
    pub ratio: Ratio,
    /// How many references have each status; those that none has are not listed.
    pub by_status: BTreeMap<S, u64>,
}

/// Reference validity: references that resolve, of all that were extracted. `resolves` says which statuses do.
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

/// What coverage asks of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sentence {
    /// Whether it says something that needs a source.
    pub needs_citation: bool,
    /// Whether it has one.
    pub is_cited: bool,
}

/// Citation coverage: of the sentences that need a citation, those that have one.
///
/// A citation on a sentence that needs none earns nothing, so the value never exceeds 1.
pub fn coverage(sentences: impl IntoIterator<Item = Sentence>) -> Ratio {
    let needing = sentences.into_iter().filter(|s| s.needs_citation);
    Ratio::of(needing.map(|sentence| sentence.is_cited))
}
