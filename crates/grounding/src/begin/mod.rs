//! The beginning of a turn, one file for each stage.

pub mod answerability;
pub mod assign_markers;
pub mod carry;
pub mod collapse;
pub mod facts;
pub mod fuse;
pub mod multi_corpus;
pub mod prior_results;
pub mod relevance;
pub mod rerank;
pub mod reuse_context;
pub mod select;
mod turn;
pub mod warnings;

pub(crate) use turn::assign_markers_and_facts;
pub use turn::{Composed, GatherInput, Gathered, compose, gather};
