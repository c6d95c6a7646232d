//! Extracts citations, sentences and claims from the text of an answer.

mod bracket_numbers;
pub(crate) mod claims;
pub(crate) mod code_spans;
pub(crate) mod extract;
pub(crate) mod forms;
mod grammar;
mod mentions;
mod patterns;
pub(crate) mod reference_lists;
pub(crate) mod scan;

pub use bracket_numbers::LONG_NUMBERS;
pub use extract::{extract, extract_with_statements};
pub use grammar::{Grammar, GrammarError, GrammarRules};
pub use mentions::DocumentTitle;
pub use patterns::{PatternError, PatternRule};
