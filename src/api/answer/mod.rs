//! The functions that judge and store answers.

pub(in crate::api) mod answer_metrics;
pub(in crate::api) mod check_answer;
pub(in crate::api) mod citation_rows;
pub(in crate::api) mod end_turn;
pub(in crate::api) mod extract_citations;
pub(in crate::api) mod feed_answer;
pub(in crate::api) mod import_citations;
pub(in crate::api) mod judge;
pub(in crate::api) mod judge_context;
pub(in crate::api) mod readers;
pub(in crate::api) mod record_turns;
