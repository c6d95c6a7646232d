//! The end of a turn: the answer is parsed, judged and measured.

pub mod answer_metrics;
mod judge_answer;
pub mod parse_answer;

pub use judge_answer::{
    EndInput, EndRules, JudgedAnswer, JudgedCitation, OtherReading, Traced, documents_to_look_up,
    judge_answer, known_markers, sources_of,
};
