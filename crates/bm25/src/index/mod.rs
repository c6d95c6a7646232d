//! An inverted index on pages: written in segments that never change, read by whoever holds a snapshot.
//!
//! ```text
//! insert → tail → spill → segments ⇄ merge        vacuum marks documents as removed
//!                    └──────── meta page ────────┘   search reads what the meta page lists
//! ```
//!
//! `page` and `meta` are the format's frame, `blocks` and `dictionary` its small parts; `writer` and `segment` write and read
//! a whole segment, `tail` the write buffer. `search` answers, `maintain` and `vacuum` change, all of it over a [`Store`].

mod blocks;
pub mod build;
pub mod check;
mod dictionary;
mod fault;
pub mod maintain;
pub mod memory;
pub mod meta;
pub mod norms;
pub mod page;
pub mod score;
pub mod search;
mod segment;
mod space;
mod store;
mod tail;
pub mod terms;
pub mod vacuum;
mod writer;

pub use fault::{Fault, Result};
pub use store::{Extent, Pages, Store};
