//! What the caller provides: passages from outside the corpora, and turns that another system finished.

pub mod additional_sources;
pub(crate) mod caller_passages;
pub mod check;
pub mod fingerprint;
pub mod imported_turns;
