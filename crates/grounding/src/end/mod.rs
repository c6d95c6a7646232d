//! The end of a turn: the answer is parsed, judged, measured, and shown with its evidence.

pub mod answer_metrics;
pub mod answer_sentences;
pub mod evidence;
mod judge_answer;
pub mod parse_answer;
pub mod repair;

pub use judge_answer::{
    EndInput, EndRules, JudgedAnswer, JudgedCitation, OtherReading, Traced, chars,
    documents_to_look_up, judge_answer, known_markers, sources_of,
};
