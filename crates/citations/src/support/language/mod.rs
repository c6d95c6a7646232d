//! Data on languages: words that deny, numerals, measures, and the text search configuration of each language.

mod cue_rows;
mod cues;
mod languages;
mod measures;
mod notations;
mod numerals;
mod quantities;
mod support_cue;

pub use cue_rows::SUPPORT_CUES;
pub use cues::Cues;
pub use languages::configuration;
pub(super) use notations::time_at;
pub(super) use quantities::{Quantity, quantity_from_digits, quantity_from_words};
pub use support_cue::SupportCue;
