//! Everything that changes an index.

pub mod bulk_load;
pub mod maintain;
mod merge;
mod publish;
pub mod sorted_runs;
pub mod vacuum;
pub mod write_buffer;
