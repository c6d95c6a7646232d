//! Confidence intervals, significance tests, and the quality of a score as a classifier.

pub mod classification;
pub mod comparison;
pub mod interval;
pub mod mann_whitney;
pub(crate) mod normal;
pub mod proportion;
