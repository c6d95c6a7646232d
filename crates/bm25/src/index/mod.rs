//! An inverted index on pages. It consists of segments that never change and of a write buffer; each reader has a snapshot.
//!
//! ```text
//! insert → write buffer → segments ⇄ merge        vacuum marks documents as removed
//!             └──────── meta page ────────┘        search reads what the meta page lists
//! ```
//!
//! `pages` holds the page format, the meta page and the [`Store`](pages::store::Store) that everything works on. `segment` is the
//! format of a segment, with its reader and its writer. `write` changes the index, `search` reads it, `check` verifies it.

pub mod check;
mod error;
mod interrupts;
pub mod pages;
pub mod score;
pub mod search;
pub mod segment;
pub mod terms;
pub mod write;

pub use error::{IndexError, Result};
