//! The scores of an answer, and the advice that follows from them.

mod policy;
mod score;

pub use policy::{Action, Decision, PolicyRules, RefusalReason, decide};
pub use score::{Factors, LossStage, MessageScores, NO_CITATIONS_FOUND, StageFacts, score};
