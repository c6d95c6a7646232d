#![forbid(unsafe_code)]
//! The stages of a turn, as pure functions: everything is read before, and written after.
//!
//! | question | module |
//! |---|---|
//! | what shapes a turn | [`settings`], [`setting_table`], [`hook`] |
//! | what flows through it | [`passage`], [`memory`], [`warnings`], [`error`] |
//! | what is the turn after | [`intent`], with [`cues`], [`words`] and [`entities`] |
//! | whether it retrieves, by its [`strategy`], or keeps what there is | [`keep`] |
//! | what is asked of the branches | [`plan`], with what a follow-up borrows from [`contextual`] |
//! | what is the same, what is near | [`identity`], [`vectors`], [`likeness`](mod@likeness) |
//! | **begin**: the stages in order | [`begin`] |
//! | … what repeats names its neighbours | [`graph`] |
//! | … results of earlier turns join | [`historical`] |
//! | … lists of several corpora become one set | [`across`] |
//! | … lists become candidates | [`fuse`], scored by [`relevance`] |
//! | … neighbours become one | [`collapse`] |
//! | … memory joins | [`carry`] |
//! | … a reranker speaks | [`rerank`] |
//! | … slots and budget | [`select`] |
//! | … markers and facts | [`mark`], [`facts`] |
//! | … the block for the prompt | [`prompt`], [`defuse`](mod@defuse) |
//! | what comes to a turn after it has begun | [`further`] |
//! | **end**: the answer is read and judged, memory moves | [`reading`], [`end`], [`decay`] |
//! | … or judged without a turn | [`check`] |
//! | … or brought in finished | [`imported`] |
//! | … and measured | [`measure`] |
//! | whether what a turn saw still stands | [`standing`](mod@standing) |
//! | what of the conversation goes into the next prompt | [`history`](mod@history) |
//! | what history takes from the turn's sources | [`dilution`] |
//! | … by the theory | [`theory`], turn by turn in [`simulation`] |
//!
//! Each stage is a function over `Vec<Candidate>` that a setting switches off or shapes. What does not pass a stage
//! leaves with the stage and the reason; nothing is lost.

pub mod across;
pub mod begin;
pub mod carry;
pub mod check;
pub mod collapse;
pub mod contextual;
pub mod cues;
pub mod decay;
pub mod defuse;
pub mod dilution;
pub mod end;
pub mod entities;
pub mod error;
pub mod facts;
pub mod filter;
pub mod fingerprint;
pub mod further;
pub mod fuse;
mod given;
pub mod graph;
pub mod historical;
pub mod history;
pub mod hook;
pub mod identity;
pub mod imported;
pub mod intent;
pub mod keep;
pub mod likeness;
pub mod mark;
pub mod measure;
pub mod memory;
pub mod passage;
pub mod plan;
pub mod probe;
pub mod prompt;
pub mod reading;
pub mod relevance;
pub mod rerank;
pub mod select;
pub mod setting_table;
pub mod settings;
pub mod shadow;
pub mod simulation;
pub mod standing;
pub mod strategy;
pub mod theory;
pub mod vectors;
pub mod warnings;
pub mod words;

#[cfg(test)]
mod synthetic;
