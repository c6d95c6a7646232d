//! The verdict on each citation of an answer.

mod claim_parts;
mod evidence;
mod in_context;
mod judge;
mod judgement;
mod outside_context;
mod quote_check;
mod segments;
mod status;
mod whole_answer;

pub use evidence::Evidence;
pub use judge::{StatementSupport, judge, judge_statements};
pub use judgement::{AnswerSupport, BestOther, Detail, Judgement, Place};
pub use quote_check::check_quotes;
pub use status::{Diagnostic, FailureMode, Status};
