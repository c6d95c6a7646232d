//! A conversation under each strategy of history, as the theory of diluted attention has it (D1–D6, D9).
//!
//! The accuracy of an answer is what [`AttentionModel`] predicts of its context's attribution share, times what drift has left of the
//! relevance of sources that were fetched at the first turn. A history grows by h tokens a turn; a compressed one stops
//! growing at its limit. Turn n has n − 1 turns behind it.
//!
//! The theory has two figures of a conversation that its source states but its measurements do not follow: h/R0, and β·d.
//! [`fit`] reads them off measurements.

pub mod fit;

use serde::{Deserialize, Serialize};

use reground_grounding::attention_model::AttentionModel;
use reground_grounding::settings::strategy::Strategy;

/// How far a conversation has drifted from its first turn after t turns more, as the product β·d(t): only the product shows
/// in measurements.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "form", rename_all = "snake_case")]
pub enum Drift {
    /// slope·t: each turn leads as far away as the one before.
    Linear {
        /// β·d of one turn.
        slope: f64,
    },
    /// ceiling·(1 − e^(−t/pace)): it leads away at first, and then stays as far as it is.
    Saturating {
        /// β·d in the end.
        ceiling: f64,
        /// Turns in which all but 1/e of the way is gone.
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

    /// What it leaves of relevance, e^(−β·d).
    #[must_use]
    pub fn discount(self, turns: f64) -> f64 {
        (-self.after(turns)).exp()
    }
}

/// A conversation as the theory sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conversation {
    /// The model of its domain.
    pub model: AttentionModel,
    /// h/R0: what a turn adds to the history, in contexts' worth of sources.
    pub growth: f64,
    /// L_max/R0: what a compressed history is kept to.
    pub history_limit: f64,
    /// How it leads away from its first turn.
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

    /// The accuracy of turn `number`, from 1; `None` without retrieval, of which the theory says nothing.
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
