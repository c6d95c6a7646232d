//! Passages that contradict each other: they make the same statement with another number or year, or one denies what the other states.
//!
//! 1. `passage_statement` reads the sentences of the passages.
//! 2. `source_conflicts` finds pairs of sentences of different passages with many common words.
//! 3. `statement_pair` tells how the sentences of a pair are related.
//! 4. `one_sided` finds answers that cite only one side.
//!
//! Words do not tell whether two sentences are about the same thing. So a difference is a conflict only if nearly everything else is the
//! same.

mod one_sided;
mod passage_statement;
mod source_conflict;
mod source_conflicts;
mod statement_pair;

pub use one_sided::is_one_sided;
pub use source_conflict::{ConflictingStatement, SourceConflict, SourceConflictKind};
pub use source_conflicts::source_conflicts;
