#![forbid(unsafe_code)]
//! Evaluation measures: rankings, citations, claims, contexts and answers as their publications define them, confidence
//! intervals, a significance test, and classification quality.
//!
//! Only [`squad`] and [`rouge`] read texts, and they count words. Whether a passage supports a sentence is an input.
//!
//! A measure with an empty denominator is `None`, not 0. So a mean over queries also tells how many queries it covers.

pub mod alce;
pub mod claims;
pub mod classification;
pub mod context;
pub mod history_hits;
pub mod interval;
mod lcs;
pub mod mann_whitney;
mod normal;
pub mod proportion;
pub mod ranking;
mod ratio;
pub mod references;
pub mod rouge;
pub mod squad;
pub mod trec_rag;

pub use ratio::Ratio;
