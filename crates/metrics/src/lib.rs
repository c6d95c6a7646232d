#![forbid(unsafe_code)]
//! Measures of rankings, citations, claims and context, as their publications define them, and how far their means can be
//! trusted; and how well a score tells two classes apart.
//!
//! Nothing here reads a text: whether a passage supports a sentence comes in as a verdict, from whoever gave it.
//!
//! A measure whose denominator is empty is `None`, never a conventional 0: a mean over queries then says
//! over how many of them it was taken.

pub mod alce;
pub mod claims;
pub mod classification;
pub mod context;
pub mod interval;
pub mod ranking;
mod ratio;
pub mod references;
pub mod trec_rag;

pub use ratio::Ratio;
