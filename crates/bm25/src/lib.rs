#![forbid(unsafe_code)]
//! BM25 over words of PostgreSQL's text search.
//!
//! Without an index, the lexical search of a turn reads every visible passage once through a cursor. [`TsVector`] reads term
//! frequencies and lengths from the bytes of a stored text search vector, [`WordCounter`] counts them in a text, [`Collector`] counts the collection and keeps the matching rows, and
//! [`score`] holds the formula. Rows outside the caller's filter still count in the statistics, so a filter never changes a
//! score. [`index`] is the inverted index for large tables.

pub mod bigrams;
mod collector;
pub mod config_name;
mod error;
pub mod index;
pub mod plain_words;
pub mod query;
mod row_words;
pub mod score;
mod tsvector;

pub use collector::{Collector, Ranking, Scored, Statistics};
pub use error::Bm25Error;
pub use query::query_weight::QueryWeight;
pub use row_words::{RowWords, WordCounter};
pub use score::Parameters;
pub use tsvector::TsVector;
