//! The functions that judge and store answers.

mod answer_metrics;
mod caller_answer;
mod check_answer;
mod citation_rows;
mod end_turn;
mod evidence;
mod extract_citations;
mod feed_answer;
pub(in crate::api) mod hidden_citations;
mod import_citations;
pub(in crate::api) mod judging;
mod record_turns;
mod repair;
