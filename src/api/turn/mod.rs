//! The functions of a turn up to its context.

pub(in crate::api) mod additional_retrieval;
pub(in crate::api) mod begin_turn;
pub(in crate::api) mod dry_run;
pub(in crate::api) mod hooks;
pub(in crate::api) mod question;
pub(in crate::api) mod rerank;
pub(in crate::api) mod retrieval;
pub(in crate::api) mod shadows;
pub(in crate::api) mod source_rows;
