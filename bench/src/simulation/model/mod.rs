//! A conversation under each strategy for history, computed with the attention model.
//!
//! The accuracy of an answer is the prediction of [`AttentionModel`] for its context's attribution share, times the
//! remaining relevance of sources that were fetched at the first turn. A history grows by h tokens per turn; a
//! compressed one stops growing at its limit. Turn n follows n − 1 turns.
//!
//! The publication states two figures, h/R0 and β·d, that its measurements do not match. [`fit`] derives them from
//! measurements.

pub mod fit;

use serde::{Deserialize, Serialize};

use reground_grounding::attention_model::AttentionModel;
use reground_grounding::settings::strategy::Strategy;

/// The drift of a conversation from its first turn after t more turns, as the product β·d(t). Measurements show only
/// the product.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "form", rename_all = "snake_case")]
pub enum Drift {
    /// slope·t: each turn drifts equally far.
    Linear {
        /// β·d of one turn.
        slope: f64,
    },
    /// ceiling·(1 − e^(−t/pace)): the drift slows down and approaches a limit.
    Saturating {
        /// Limit of β·d.
        ceiling: f64,
        /// Turns after which 1/e of the way is left.
        pace: f64,
    },
}

impl Drift {
    /// β·d(t).
    #[must_use]
    pub fn after(self, turns: f64) -> f64 {
        match self {
            Self::Linear { slope } => slope * turns,
            Self::Saturating { ceiling, pace } => ceiling * -(-turns / pace).exp_m1(),
        }
    }

    /// The remaining relevance, e^(−β·d).
    #[must_use]
    pub fn discount(self, turns: f64) -> f64 {
        (-self.after(turns)).exp()
    }
}

/// The figures of a conversation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conversation {
    /// The model of its domain.
    pub model: AttentionModel,
    /// h/R0: history tokens per turn, relative to the source tokens of a context.
    pub growth: f64,
    /// L_max/R0: the limit of a compressed history.
    pub history_limit: f64,
    /// The drift from the first turn.
    pub drift: Drift,
}

impl Conversation {
    /// The attribution share of turn `number`, from 1.
    #[must_use]
    pub fn share(&self, strategy: Strategy, number: u32) -> f64 {
        let behind = f64::from(number.saturating_sub(1));
        let grown = self.growth * behind;
        let history = if strategy.compresses() {
            grown.min(self.history_limit)
        } else {
            grown
        };
        1.0 / (1.0 + history)
    }

    /// The accuracy of turn `number`, from 1; `None` without retrieval, which the model does not cover.
    #[must_use]
    pub fn accuracy(&self, strategy: Strategy, number: u32) -> Option<f64> {
        if strategy == Strategy::None {
            return None;
        }
        let diluted = self.model.predicted_accuracy(self.share(strategy, number));
        let discount = if strategy.drifts() {
            self.drift.discount(f64::from(number.saturating_sub(1)))
        } else {
            1.0
        };
        Some(diluted * discount)
    }
}

#[cfg(test)]
mod tests;
