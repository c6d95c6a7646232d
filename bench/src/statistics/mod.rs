//! Random numbers, cross-validation and logistic regression.

pub mod folds;
pub mod logistic;
pub mod random;
