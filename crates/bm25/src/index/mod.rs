//! An inverted index on pages: written in segments that never change, read by whoever holds a snapshot.
//!
//! ```text
//! insert → tail → spill → segments ⇄ merge        vacuum marks documents as removed
//!                    └──────── meta page ────────┘   search reads what the meta page lists
//! ```
//!
//! `page` and `meta` are the format's frame, `blocks` and `dictionary` its small parts; `writer` and `segment` write and read
//! a whole segment, `tail` the write buffer. A `search` goes over a `snapshot`, segment by segment with `maxscore`; `maintain` and
//! `vacuum` change the index. All of it over a [`Store`].

mod best;
mod blocks;
pub mod build;
pub mod check;
mod dictionary;
mod fault;
mod list;
pub mod maintain;
mod maxscore;
pub mod memory;
pub mod meta;
pub mod norms;
pub mod page;
pub mod runs;
pub mod score;
pub mod search;
mod segment;
pub mod snapshot;
mod space;
mod store;
mod tail;
pub mod terms;
pub mod vacuum;
mod writer;

pub use fault::{Fault, Result};
pub use store::{Extent, Pages, Store};

/// Work of a posting: interrupts are asked for every eight thousand of them.
const POSTING: usize = reground_interrupt::CHECK_INTERVAL >> 13;
