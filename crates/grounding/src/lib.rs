#![forbid(unsafe_code)]
//! The computation of a turn as pure functions. The caller reads all input before a function and writes all output after it.
//!
//! | folder, in the order of the flow | contents |
//! |---|---|
//! | [`settings`] | the settings of a turn, and how they are resolved from layers |
//! | [`query`] | the words and the intent of a query, and the retrieval plan |
//! | [`begin`] | the stages from ranked lists to the context, one file each |
//! | [`prompt`] | the block of the context for the prompt |
//! | [`caller`] | passages and finished turns that the application provides |
//! | [`end`] | the answer: parsed, judged, measured |
//! | [`memory`] | the sources, markers and facts that a conversation keeps between turns |
//! | [`history`] | the conversation history for the next prompt, within a token budget |
//! | [`attention_model`] | the model of how history lowers the accuracy of citations |
//! | [`inspect`] | probes, shadow turns, and the state of cited sources |
//! | [`passage`] | passages, ranked lists, candidates, identity and similarity; used by all of the above |
//! | [`error`] | the error type; it uses nothing above |
//!
//! Each stage of [`begin`] is a function over `Vec<Candidate>` that settings switch off or shape. A candidate that leaves is
//! recorded with the stage and the reason.

pub mod attention_model;
pub mod begin;
pub mod caller;
pub mod end;
pub mod error;
pub mod history;
pub mod inspect;
pub mod memory;
pub mod passage;
pub mod prompt;
pub mod query;
pub mod settings;

#[cfg(test)]
mod fixtures;
