#![forbid(unsafe_code)]
//! Evaluation measures: rankings, citations, claims, contexts and answers as their publications define them, confidence
//! intervals, significance tests, classification quality, and agreement of raters.
//!
//! Only [`squad`] and [`rouge`] read texts, and they count words. Whether a passage supports a sentence is an input.
//!
//! A measure with an empty denominator is `None`, not 0. So a mean over queries also shows how many queries it covers.

pub mod agreement;
pub mod alce;
pub mod claims;
pub mod context;
pub mod factuality;
pub mod history_hits;
pub mod ranking;
mod ratio;
pub mod references;
mod statistics;
mod texts;
pub mod trec_rag;

pub use ratio::Ratio;
pub use statistics::{classification, comparison, interval, mann_whitney, proportion};
pub use texts::{rouge, squad};
