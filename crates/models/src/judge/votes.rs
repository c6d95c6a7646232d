//! Several votes of one model, and their majority.

use reground_metrics::agreement::majority;

use super::verdict::Verdict;
use crate::kind::Api;

/// Votes on a citation. Also at temperature 0, models behind an API do not always give the same answer.
const VOTES: i32 = 3;
/// Fewest valid votes for a verdict.
const NEEDED: usize = 2;

/// Whether one vote decides: the worker's own models always give the same answer.
#[must_use]
pub fn is_deterministic(api: Api) -> bool {
    api == Api::Local
}

/// Number of votes on a citation.
#[must_use]
pub fn wanted(is_deterministic: bool) -> i32 {
    if is_deterministic { 1 } else { VOTES }
}

/// The verdict of more than half of the valid votes; `None` if it is undecided: in a tie, or with fewer than two votes of a model that is
/// not deterministic. A failed call is not a vote.
#[must_use]
pub fn decide(votes: &[Verdict], is_deterministic: bool) -> Option<Verdict> {
    let needed = if is_deterministic { 1 } else { NEEDED };
    majority(votes, needed).map(|majority| majority.category)
}
