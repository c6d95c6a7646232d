#![forbid(unsafe_code)]
//! Measures of rankings, computed as trec_eval computes them, and how far their means can be trusted.
//!
//! A measure whose denominator is empty is `None`, never a conventional 0: a mean over queries then says
//! over how many of them it was taken.

pub mod interval;
pub mod ranking;
