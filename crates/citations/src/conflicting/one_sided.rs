//! Answers that cite only one side of a conflict.

use super::conflict::{ConflictingStatement, SourceConflict};
use crate::Judgement;

/// Whether a citation that holds relies on a statement of a conflict, and the answer cites the passage of the other side nowhere. Passages
/// have the indices of the judged sources.
#[must_use]
pub fn is_one_sided(conflicts: &[SourceConflict], judgements: &[Judgement]) -> bool {
    let relies_on = |statement: &ConflictingStatement| {
        judgements.iter().any(|judgement| {
            let quote = judgement.quote.as_ref();
            judgement.source == Some(statement.passage)
                && judgement.status.holds() == Some(true)
                && quote.is_some_and(|quote| {
                    quote.chars.start < statement.chars.end
                        && statement.chars.start < quote.chars.end
                })
        })
    };
    let cites = |statement: &ConflictingStatement| {
        let mut sources = judgements.iter().map(|judgement| judgement.source);
        sources.any(|source| source == Some(statement.passage))
    };
    conflicts.iter().any(|conflict| {
        let (one, other) = (&conflict.one, &conflict.other);
        (relies_on(one) && !cites(other)) || (relies_on(other) && !cites(one))
    })
}
