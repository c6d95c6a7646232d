//! How bad it is that a reranker changed or lost a passage.

use serde::{Deserialize, Serialize};

/// Similarity from which a changed text is a minor drift.
const MINOR_DRIFT: f64 = 0.9;

/// Similarity from which a changed text is a major drift; below it, critical.
const MAJOR_DRIFT: f64 = 0.5;

/// The severity of a drift event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// A changed text with at least 90 % of the words in common.
    Minor,
    /// A changed text with at least 50 %, or a lost passage.
    Major,
    /// A changed text with less than 50 %, so the score may refer to another text; or a lost passage, if all were lost.
    Critical,
}

impl Severity {
    /// Returns the severity of a changed text, by its similarity to the original.
    pub(super) fn of_change(similarity: f64) -> Self {
        if similarity >= MINOR_DRIFT {
            Self::Minor
        } else if similarity >= MAJOR_DRIFT {
            Self::Major
        } else {
            Self::Critical
        }
    }

    /// Returns the severity of each of `lost` passages of `received`.
    pub(super) const fn of_loss(lost: usize, received: usize) -> Self {
        if lost == received {
            Self::Critical
        } else {
            Self::Major
        }
    }
}
