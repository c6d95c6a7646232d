#![forbid(unsafe_code)]
//! What analysts ask of the citations that were judged, as pure functions.
//!
//! | question | module |
//! |---|---|
//! | what to group by | [`dimension`] |
//! | what reviewers say | [`label`] |

pub mod dimension;
pub mod error;
pub mod label;
