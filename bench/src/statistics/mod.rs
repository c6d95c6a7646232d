//! Random numbers, cross-validation, logistic regression and medians of times.

pub mod folds;
pub mod logistic;
pub mod random;
pub mod times;
