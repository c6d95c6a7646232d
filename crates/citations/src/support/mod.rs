//! Computes how far sources support a claim, from words and without a model.
//!
//! 1. `pieces` splits a text into words, numbers and pairs of characters. `text_events` assigns each the lexeme of
//!    the server and detects denials; `language` reads numbers and measures. `claim_reader`, `units` and `source` keep the units that
//!    claims and sources have in common.
//! 2. `comparison` compares a claim with a source: common units, the best window, numbers, quotations.
//! 3. `conflicts` finds another number, another name and a denial on one side.
//! 4. `parts` computes the support, in [0, 1], and keeps its components.
//! 5. `verdict` decides on the citations of a claim with regard to all sources of the context.
//!
//! Low support means that content is missing. High support does not prove the claim, because words do not determine
//! its meaning.

mod bit_set;
mod claim_reader;
mod comparison;
mod conflicts;
mod joint;
mod language;
mod parts;
mod pieces;
mod quotations;
mod quote;
mod sentences;
mod source;
mod text_events;
mod units;
mod verdict;

pub(crate) use bit_set::BitSet;
pub(crate) use comparison::Comparison;
pub use conflicts::Conflict;
pub(crate) use joint::joint;
pub use joint::{Text, support};
pub use language::{Cues, SUPPORT_CUES, SupportCue, configuration};
pub use parts::{ANSWER_SUPPORT, Contradiction, Quotation, SupportParts, TextRange, measures};
pub(crate) use pieces::is_unspaced;
pub(crate) use quotations::contains_quote;
pub use quote::Quote;
pub(crate) use sentences::{Sentence, Sentences};
pub(crate) use source::SourceUnits;
pub(crate) use text_events::unit_starts;
pub(crate) use units::{ClaimNumber, ClaimUnits, Vocabulary};
pub use verdict::SupportRules;
pub(crate) use verdict::{ClaimSupport, Verdict};
