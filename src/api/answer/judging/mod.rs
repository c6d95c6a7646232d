//! Verdicts on an answer: the evidence, the readers of its sources, their conflicts, and the judgement.

pub(in crate::api) mod judge;
pub(in crate::api) mod judge_context;
pub(in crate::api) mod readers;
pub(in crate::api) mod source_conflicts;
