//! All changes of an index: inserts, bulk loads, merges and removals.

mod ascending_merge;
pub mod bulk_load;
pub mod load_merge;
pub mod loaded_part;
mod lost_pages;
pub mod maintain;
mod merge;
mod publish;
pub mod sorted_runs;
pub mod vacuum;
pub mod write_buffer;
