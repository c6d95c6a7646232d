//! Passages, the ranked lists that contain them, and the candidates that a turn makes of them.

mod candidate;
pub mod date;
pub mod identity;
mod list;
mod locator;
pub mod near_twins;
pub mod similarity;
mod text;
pub mod vectors;
mod window;

pub use candidate::{Candidate, Dropped, Origin, Reason, Stage, single_precision};
pub use list::{Branch, Hit, Metric, RankedList, nearest_first};
pub use locator::{LOCATOR, locator, structured_locator};
pub(crate) use locator::{ends_of, joined_locators};
pub use text::{CharRange, Passage, RowText};
pub(crate) use text::{byte_of, one_line};
