//! How much of a claim stands in which source, without a model, and why.
//!
//! 1. [`words`] cuts texts into words, numbers and pairs of characters, [`said`] names each by the lexeme that the server
//!    made of it and hears what is denied, [`figures`] reads what it says in numbers, [`units`] and [`source`] keep what
//!    claims and sources have in common.
//! 2. [`reading`] compares a claim with a source: what it holds, where most of that stands together, numbers, quotations,
//!    negation.
//! 3. [`parts`] adds that up to one figure between 0 and 1 and keeps what it was made of.
//! 4. [`verdict`] holds the citations of a claim against the sources of the context.
//!
//! It sees words, not sense: a low figure says that content is missing, a high one does not prove the claim.

mod bit_set;
mod comparison;
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

pub(crate) use joint::joint;
pub use joint::{Text, support};
pub use language::{Cues, SUPPORT_CUES, SupportCue, configuration};
pub use parts::{Contradiction, Quotation, SupportParts, TextRange, measures};
pub(crate) use quotations::contains_quote;
pub use quote::Quote;
pub(crate) use source::SourceUnits;
pub(crate) use text_events::unit_starts;
pub(crate) use units::{ClaimUnits, Vocabulary};
pub use verdict::SupportRules;
pub(crate) use verdict::{ClaimSupport, Verdict};
