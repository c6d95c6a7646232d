//! Factuality of long answers against must-have facts, from entailment verdicts (Chen et al., "KnowMT-Bench: Benchmarking
//! Knowledge-Intensive Long-Form Question Answering in Multi-Turn Dialogues", 2025, section 3.3).
//!
//! An answer is decomposed into statements. Each statement is judged against the reference answer, and each fact of the reference
//! against the answer. [`verdicts`] holds the judgements, [`measures`] the measures of an answer, [`summary`] those of a data set,
//! [`report`] and [`comparison`] compare them with the [`published`] tables. [`outcome`] is the state of a queued evaluation.
//! [`validation`] compares decomposer and judge with humans, by [`decomposition`] and [`agreement`](crate::agreement).

pub mod comparison;
pub mod decomposition;
pub mod measures;
pub mod outcome;
pub mod published;
pub mod report;
pub mod summary;
pub mod validation;
pub mod verdicts;
