//! Answers that cite only one side of a conflict.

use std::collections::BTreeMap;

use super::source_conflict::{ConflictingStatement, SourceConflict};
use crate::Judgement;

/// Whether a citation that holds relies on a statement of a conflict, and the answer cites no passage that contradicts the statement.
///
/// Passages have the indices of the judged sources. `states` tells whether the claim of a citation contains a number in normal form: a claim
/// without the number that differs does not rely on the statement.
#[must_use]
pub fn is_one_sided(
    conflicts: &[SourceConflict],
    judgements: &[Judgement],
    states: impl Fn(usize, &str) -> bool,
) -> bool {
    let relies_on = |statement: &ConflictingStatement| {
        let mut judged = judgements.iter().enumerate();
        judged.any(|(citation, judgement)| {
            let quote = judgement.quote.as_ref();
            let number = statement.number.as_deref();
            judgement.source == Some(statement.passage)
                && judgement.status.holds() == Some(true)
                && quote.is_some_and(|quote| {
                    quote.chars.start < statement.chars.end
                        && statement.chars.start < quote.chars.end
                })
                && number.is_none_or(|number| states(citation, number))
        })
    };
    let cites = |statement: &ConflictingStatement| {
        let mut sources = judgements.iter().map(|judgement| judgement.source);
        sources.any(|source| source == Some(statement.passage))
    };
    let sides = conflicts.iter().flat_map(|conflict| {
        let (one, other) = (&conflict.one, &conflict.other);
        [(one, other), (other, one)]
    });
    // A statement may have several opposites. One of them is enough.
    let mut cited: BTreeMap<(usize, usize), bool> = BTreeMap::new();
    for (statement, opposite) in sides.filter(|(statement, _)| relies_on(statement)) {
        let key = (statement.passage, statement.chars.start);
        *cited.entry(key).or_default() |= cites(opposite);
    }
    cited.into_values().any(|cited| !cited)
}
