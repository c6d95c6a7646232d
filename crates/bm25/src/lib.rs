#![forbid(unsafe_code)]
//! BM25 over the text search vectors that PostgreSQL already keeps.
//!
//! The lexical branch of a turn reads every visible passage once through a cursor. This crate does what
//! comes after the read: [`TsVector`] takes term frequencies and lengths out of the server's own bytes,
//! [`Collector`] counts the collection and keeps the rows that matter, and [`score`] holds the formula.
//! Rows outside the caller's filter still count in the statistics, so a filter never changes a score.

pub mod asked;
pub mod bigrams;
mod collect;
pub mod configuration;
mod error;
pub mod index;
pub mod score;
mod tsvector;

pub use asked::Asked;
pub use collect::{Collector, Ranking, Scored, Statistics};
pub use error::Bm25Error;
pub use score::Parameters;
pub use tsvector::TsVector;
