//! All changes of an index: inserts, bulk loads, merges and removals.

pub mod bulk_load;
mod lost_pages;
pub mod maintain;
mod merge;
mod publish;
pub mod sorted_runs;
pub mod vacuum;
pub mod write_buffer;
