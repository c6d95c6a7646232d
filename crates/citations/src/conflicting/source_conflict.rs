//! Types of conflicts.

use std::ops::Range;

/// The kind of a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SourceConflictKind {
    /// The statements have different numbers.
    Number,
    /// They have different years.
    Date,
    /// One denies what the other states.
    Negation,
}

impl SourceConflictKind {
    /// The stable name that is shown.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Date => "date",
            Self::Negation => "negation",
        }
    }
}

/// One side of a conflict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConflictingStatement {
    /// Index of the passage.
    pub passage: usize,
    /// The sentence.
    pub text: String,
    /// Its position in the passage, in characters.
    pub chars: Range<usize>,
    /// The number that differs, in normal form; `None` for a negation.
    pub number: Option<String>,
}

/// Statements of two passages that contradict each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceConflict {
    /// What differs.
    pub kind: SourceConflictKind,
    /// The statement of the earlier passage.
    pub one: ConflictingStatement,
    /// The statement of the later passage.
    pub other: ConflictingStatement,
}
