//! The intent of a turn, and how far it depends on earlier turns. Deterministic, without a language model.
//!
//! A cue decides if there is one: a comparison, a change of subject, a question about the sources. Otherwise two
//! logistic scores over a few features of words and, if available, of embeddings give the likelihood of a new topic and
//! that the sources at hand contain the answer. The more likely intent is chosen, so a doubtful turn continues the
//! subject: a wrong `drill_down` carries sources that still have to pass the threshold, a wrong `new_topic` loses them.

mod classify;
mod evidence;
mod figures;
mod judgement;
mod likelihood;
mod past_turn;
mod verdict;

pub use classify::{classify, classify_with, figures};
pub use figures::{AGAIN, AWAY, AvailableData, Figures};
pub use judgement::{Dependency, Intent, JudgedIntent};
pub use likelihood::{FITTED, IntentModel, Likelihoods, Weights};
pub use past_turn::PastTurn;
pub use verdict::{Judge, Verdict};

#[cfg(test)]
mod tests;
