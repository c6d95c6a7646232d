//! The modes of correction.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What is corrected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RepairMode {
    /// Sentences that nothing supports are marked. Citations stay.
    Mark,
    /// Wrong citations move to the source that clearly supports their claim, citations of things that do not exist are removed, and
    /// sentences without a citation get that of the source that clearly supports them.
    #[default]
    Repoint,
    /// The same, and sentences that nothing supports are removed.
    Strict,
}

impl RepairMode {
    /// All modes, the mildest first.
    pub const ALL: [Self; 3] = [Self::Mark, Self::Repoint, Self::Strict];

    /// The stable name that is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mark => "mark",
            Self::Repoint => "repoint",
            Self::Strict => "strict",
        }
    }
}

/// A mode that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no mode of repair")]
pub struct UnknownRepairMode;

impl FromStr for RepairMode {
    type Err = UnknownRepairMode;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|mode| mode.as_str() == name);
        known.ok_or(UnknownRepairMode)
    }
}
