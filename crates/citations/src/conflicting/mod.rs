//! Passages that contradict each other: they make the same statement with another number or year, or one denies what the other states.
//!
//! 1. `statement` reads the sentences of the passages.
//! 2. `conflicts` finds pairs of sentences of different passages with many common words.
//! 3. `comparison` tells how the two sentences of a pair differ.
//! 4. `one_sided` finds answers that cite only one side.
//!
//! Words do not tell whether two sentences are about the same thing. So a difference is a conflict only if nearly everything else is the
//! same.

mod comparison;
mod conflict;
mod conflicts;
mod one_sided;
mod statement;

pub use conflict::{ConflictKind, ConflictingStatement, SourceConflict};
pub use conflicts::source_conflicts;
pub use one_sided::is_one_sided;
