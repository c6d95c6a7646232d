//! Intent of a turn (C1) and how far it leans on earlier turns (H2): deterministic, without a model.
//!
//! Cues decide where the language has them: a comparison, a change of subject, a question about the sources. All else
//! is weighed: two logistic scores over a few figures of words and, where there are any, of embeddings say how likely a
//! new topic is, and how likely the sources at hand hold the answer. A turn is called what is likelier than not, so a
//! turn in doubt continues: a wrong `drill_down` carries sources that the threshold still has to pass, a wrong
//! `new_topic` loses them.

mod classify;
mod evidence;
mod figures;
mod judgement;
mod likelihood;
mod past_turn;
mod verdict;

pub use classify::{classify, classify_with, figures};
pub use figures::{AGAIN, AWAY, AtHand, Figures};
pub use judgement::{Dependency, Intent, Judged};
pub use likelihood::{FITTED, IntentModel, Likelihoods, Weights};
pub use past_turn::PastTurn;
pub use verdict::{Judge, Verdict};

#[cfg(test)]
mod tests;
