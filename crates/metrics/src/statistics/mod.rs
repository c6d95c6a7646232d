//! Confidence intervals, a significance test, and the quality of a score as a classifier.

pub mod classification;
pub mod interval;
pub mod mann_whitney;
pub(crate) mod normal;
pub mod proportion;
