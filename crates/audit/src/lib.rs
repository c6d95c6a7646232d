#![forbid(unsafe_code)]
//! Audit logic over judged citations, as pure functions: analyses, alert rules and diagnoses.
//!
//! | topic | module |
//! |---|---|
//! | dimensions to group by | [`dimension`] |
//! | figures to compare | [`figure`] |
//! | labels that reviewers give | [`label`] |
//! | hourly rollup cells | [`hours`] |
//! | pipeline stages at which citations are lost | [`stage`] |
//! | indicators that rules watch | [`indicator`] |
//! | counts of events | [`counts`] |
//! | alert rules, and how each kind is read | [`rule`], [`window_rule`], [`rise`], [`traffic`] |
//! | checks and alert states | [`alert`] |
//! | causes of an alert | [`diagnosis`], [`versions`] |

pub mod alert;
#[cfg(test)]
mod alert_tests;
pub mod counts;
pub mod diagnosis;
#[cfg(test)]
mod diagnosis_tests;
pub mod dimension;
pub mod error;
pub mod figure;
pub mod hours;
pub mod indicator;
pub mod label;
mod rules;
pub mod stage;
pub mod versions;

pub use rules::{rise, rule, traffic, window_rule};
