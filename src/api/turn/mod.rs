//! The functions of a turn up to its context.

mod additional_retrieval;
mod begin_turn;
pub(in crate::api) mod dry_run;
pub(in crate::api) mod hooks;
mod named_sources;
pub(in crate::api) mod question;
mod rerank;
mod retrieval;
mod reusable_answer;
mod shadows;
mod source_rows;
mod turn_conflicts;
mod turn_sources;
