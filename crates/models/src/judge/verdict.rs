//! Verdicts on citations.

use serde::{Deserialize, Serialize};

/// A verdict on a citation. Reviewers use the same categories for their labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The passage supports the whole claim.
    Accurate,
    /// The passage supports a part of the claim.
    Partial,
    /// The passage does not support the claim, or contradicts it.
    Hallucinated,
    /// It cannot be decided.
    Unverifiable,
}

impl Verdict {
    /// All verdicts, the best first.
    pub const ALL: [Self; 4] = [
        Self::Accurate,
        Self::Partial,
        Self::Hallucinated,
        Self::Unverifiable,
    ];

    /// The name in SQL, as of the labels of reviewers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Accurate => "accurate",
            Self::Partial => "partial",
            Self::Hallucinated => "hallucinated",
            Self::Unverifiable => "unverifiable",
        }
    }

    /// The word in prompts and in answers of models.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Accurate => "ACCURATE",
            Self::Partial => "PARTIAL",
            Self::Hallucinated => "HALLUCINATED",
            Self::Unverifiable => "UNVERIFIABLE",
        }
    }

    /// The verdict of this name in SQL.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.name() == name)
    }
}
