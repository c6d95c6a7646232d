#![forbid(unsafe_code)]
//! What analysts ask of the citations that were judged, and when to call them, as pure functions.
//!
//! | question | module |
//! |---|---|
//! | what to group by | [`dimension`] |
//! | what reviewers say | [`label`] |
//! | what the rollups hold, hour by hour | [`hours`] |
//! | where a citation was lost | [`stage`] |
//! | what a rule watches | [`indicator`] |
//! | when to call someone | [`alert`] |
//! | why | [`diagnosis`], [`versions`] |

pub mod alert;
#[cfg(test)]
mod alert_tests;
pub mod diagnosis;
#[cfg(test)]
mod diagnosis_tests;
pub mod dimension;
pub mod error;
pub mod hours;
pub mod indicator;
pub mod label;
pub mod stage;
pub mod versions;
