//! The kinds of cues.

use serde::{Deserialize, Serialize};

/// What a cue tells about a claim or a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SupportCue {
    /// A word that denies: `not`. With an apostrophe, the end of a word and what follows it: `n't`. In a script without
    /// spaces, any string.
    Negation,
    /// A longer string that begins with a negation and denies nothing: `not only`, 不同 (different).
    NoNegation,
    /// What separates the decimals of a number, `.` or `,`; the other one groups thousands.
    Decimal,
    /// A word, or several, and its number: `twelve=12`. Without a number, a word that joins two: `and=`.
    Number,
    /// A word behind a number and what it multiplies by: `million=1000000`. One or two letters stand right behind the
    /// digits, and so does anything in a script without spaces.
    Scale,
    /// A word behind a number and the sign of what it measures: `percent=%`.
    Measure,
}

impl SupportCue {
    /// Every kind.
    pub const ALL: [Self; 6] = [
        Self::Negation,
        Self::NoNegation,
        Self::Decimal,
        Self::Number,
        Self::Scale,
        Self::Measure,
    ];

    /// The stable text that is stored and shown.
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
