#![forbid(unsafe_code)]
//! Measures of rankings, citations, claims, context and answers, as their publications define them, how far their means can
//! be trusted and whether two of them differ; and how well a score tells two classes apart.
//!
//! Only [`squad`] and [`rouge`] read a text, and they count words: whether a passage supports a sentence comes in as a verdict,
//! from whoever gave it.
//!
//! A measure whose denominator is empty is `None`, never a conventional 0: a mean over queries then says
//! over how many of them it was taken.

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
