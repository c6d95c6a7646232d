//! The kinds of cues.

use serde::{Deserialize, Serialize};

/// The kind of a cue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SupportCue {
    /// A word that denies: `not`. With an apostrophe, the end of a word and the piece after it: `n't`. In a script
    /// without spaces, any string.
    Negation,
    /// A longer phrase that begins with a negation but does not deny: `not only`, 不同 (different).
    NoNegation,
    /// The decimal separator, `.` or `,`. The other one groups thousands.
    Decimal,
    /// A word or phrase and its number: `twelve=12`. Without a number, a word that joins two numbers: `and=`.
    Number,
    /// A word after a number and its factor: `million=1000000`. One or two letters follow the digits directly, as
    /// does any text in a script without spaces.
    Scale,
    /// A word after a number and the sign of its measure: `percent=%`.
    Measure,
}

impl SupportCue {
    /// All kinds.
    pub const ALL: [Self; 6] = [
        Self::Negation,
        Self::NoNegation,
        Self::Decimal,
        Self::Number,
        Self::Scale,
        Self::Measure,
    ];

    /// The stable name that is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Negation => "negation",
            Self::NoNegation => "no_negation",
            Self::Decimal => "decimal",
            Self::Number => "number",
            Self::Scale => "scale",
            Self::Measure => "measure",
        }
    }
}
