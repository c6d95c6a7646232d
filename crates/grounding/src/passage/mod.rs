//! Passages, the ranked lists that contain them, and the candidates that a turn makes of them.

mod candidate;
pub mod date;
pub mod identity;
mod list;
pub mod similarity;
mod text;
pub mod vectors;

pub use candidate::{Candidate, Dropped, Origin, Reason, Stage};
pub use list::{Branch, Hit, Metric, RankedList};
pub use text::{CharRange, Passage};
