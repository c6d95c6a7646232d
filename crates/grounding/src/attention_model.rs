//! The attention model: the accuracy of citations as a function of the history's length.
//!
//! A prompt shares a fixed budget of attention. With R tokens of sources and H tokens of history, the sources have the
//! share α = R/(R + H), and citations are correct with the probability acc(0)·α^δ. If R is constant and each turn adds
//! h tokens of history, the accuracy after t turns is acc(0)·(1 + h·t/R)^(−δ).
//!
//! The published proof has the sign of its inequality reversed: (1 + x·t) ≤ (1 + x)^t for t ≥ 1, so acc(0)·e^(−λt) lies
//! *below* the model, and the model itself falls as a power of t, not exponentially. Here
//! [`predicted_accuracy`](AttentionModel::predicted_accuracy) is the model and
//! [`accuracy_floor`](AttentionModel::accuracy_floor) is its lower bound. The printed values of λ and of the bound on
//! history (180 instead of 178) are also wrong; the formulae are correct.
//!
//! Fresh sources do not change R, H or α; only compression of the history raises α. A turn therefore compresses,
//! measures α, and then decides whether to refresh.

use serde::{Deserialize, Serialize};

use crate::error::GroundingError;
use crate::passage::vectors::cosine;

/// The sources' share of a context, α ∈ [0, 1], from their tokens and those of the history. 1 for an empty history.
#[must_use]
pub fn attribution_share(source_tokens: u64, history_tokens: u64) -> f64 {
    if history_tokens == 0 {
        return 1.0;
    }
    let sources = source_tokens as f64;
    sources / (sources + history_tokens as f64)
}

/// Whether the policy `adaptive` retrieves again: the share, measured after compression, is below the minimum.
#[must_use]
pub fn refresh_is_due(share: f64, min_share: f64) -> bool {
    share < min_share
}

/// How precise the citations of a domain have to be: presets of δ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Specificity {
    /// Chapter and verse, clause, line.
    Verse,
    /// Sections, pages.
    Section,
    /// Whole documents.
    Document,
}

impl Specificity {
    /// The exponent δ.
    #[must_use]
    pub fn delta(self) -> f64 {
        match self {
            Self::Verse => 0.8,
            Self::Section => 0.5,
            Self::Document => 0.2,
        }
    }
}

/// How precise citations have to be: a preset of δ, or δ itself.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum DomainSpecificity {
    /// A preset.
    Named(Specificity),
    /// The exponent.
    Delta(f64),
}

impl DomainSpecificity {
    /// The exponent δ.
    #[must_use]
    pub fn delta(self) -> f64 {
        match self {
            Self::Named(specificity) => specificity.delta(),
            Self::Delta(delta) => delta,
        }
    }
}

impl Default for DomainSpecificity {
    fn default() -> Self {
        Self::Named(Specificity::Section)
    }
}

/// The growth of a conversation without compression.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Growth {
    /// Tokens of the sources in each context, R0.
    pub source_tokens: f64,
    /// Tokens of history that a turn adds, h.
    pub turn_tokens: f64,
}

impl Growth {
    /// h/R0; 0 if both are 0.
    #[must_use]
    pub fn ratio(self) -> f64 {
        if self.turn_tokens > 0.0 {
            self.turn_tokens / self.source_tokens.max(0.0)
        } else {
            0.0
        }
    }
}

/// The attention model of a domain.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AttentionModel {
    baseline: f64,
    delta: f64,
}

impl AttentionModel {
    /// The model with the accuracy of a single turn, acc(0) ∈ (0, 1], and the exponent δ ∈ (0, 1].
    ///
    /// # Errors
    /// [`GroundingError::OutOfRange`] for any other figure.
    pub fn new(baseline: f64, delta: f64) -> Result<Self, GroundingError> {
        Ok(Self {
            baseline: share_of_one("accuracy_baseline", baseline)?,
            delta: share_of_one("domain_specificity", delta)?,
        })
    }

    /// acc(0).
    #[must_use]
    pub fn baseline(&self) -> f64 {
        self.baseline
    }

    /// δ.
    #[must_use]
    pub fn delta(&self) -> f64 {
        self.delta
    }

    /// The predicted accuracy for this share of sources: acc(0)·α^δ.
    #[must_use]
    pub fn predicted_accuracy(&self, share: f64) -> f64 {
        self.baseline * share.clamp(0.0, 1.0).powf(self.delta)
    }

    /// The predicted accuracy after `turns` turns of uncompressed growth: acc(0)·(1 + h·t/R0)^(−δ).
    #[must_use]
    pub fn predicted_after(&self, turns: u32, growth: Growth) -> f64 {
        self.baseline * (1.0 + growth.ratio() * f64::from(turns)).powf(-self.delta)
    }

    /// λ = δ·ln(1 + h/R0), per turn.
    #[must_use]
    pub fn decay_rate(&self, growth: Growth) -> f64 {
        self.delta * growth.ratio().ln_1p()
    }

    /// The lower bound acc(0)·e^(−λt) after `turns` turns: equal to the model at 0 and 1, below it afterwards.
    #[must_use]
    pub fn accuracy_floor(&self, turns: u32, growth: Growth) -> f64 {
        match turns {
            0 => self.baseline,
            _ => self.baseline * (-self.decay_rate(growth) * f64::from(turns)).exp(),
        }
    }

    /// The minimum share that keeps the target: (target/acc(0))^(1/δ), the default α_min.
    ///
    /// # Errors
    /// [`GroundingError::TargetOutOfReach`] unless the target is in (0, acc(0)).
    pub fn min_share(&self, target: f64) -> Result<f64, GroundingError> {
        let target = self.reachable(target)?;
        Ok((target / self.baseline).powf(self.delta.recip()))
    }

    /// The bound on the history that keeps the target, in tokens: R0·((target/acc(0))^(−1/δ) − 1).
    ///
    /// # Errors
    /// As [`min_share`](Self::min_share).
    pub fn history_bound(&self, source_tokens: u64, target: f64) -> Result<f64, GroundingError> {
        let target = self.reachable(target)?;
        let stretch = (self.baseline / target).powf(self.delta.recip()) - 1.0;
        // For an exponent near 0 the factor is infinite. Without sources the bound is still 0.
        Ok(match source_tokens {
            0 => 0.0,
            tokens => tokens as f64 * stretch,
        })
    }

    /// L_max: the maximum number of history tokens for which the model predicts at least the target.
    ///
    /// # Errors
    /// As [`min_share`](Self::min_share).
    pub fn max_history(&self, source_tokens: u64, target: f64) -> Result<u64, GroundingError> {
        let target = self.reachable(target)?;
        let keeps =
            |history| self.predicted_accuracy(attribution_share(source_tokens, history)) >= target;
        // A bisection on the model, which falls with history. The formula for the bound has rounding errors of many
        // tokens where the bound is large.
        let (mut kept, mut lost) = (0, u64::MAX);
        if source_tokens == 0 {
            return Ok(kept);
        }
        if keeps(lost) {
            return Ok(lost);
        }
        while lost - kept > 1 {
            let middle = kept.midpoint(lost);
            if keeps(middle) {
                kept = middle;
            } else {
                lost = middle;
            }
        }
        Ok(kept)
    }

    fn reachable(&self, target: f64) -> Result<f64, GroundingError> {
        if 0.0 < target && target < self.baseline {
            return Ok(target);
        }
        Err(GroundingError::TargetOutOfReach {
            target: target.to_string(),
            baseline: self.baseline.to_string(),
        })
    }
}

fn share_of_one(quantity: &'static str, value: f64) -> Result<f64, GroundingError> {
    if 0.0 < value && value <= 1.0 {
        return Ok(value);
    }
    Err(GroundingError::OutOfRange {
        quantity,
        value: value.to_string(),
        expected: "a number above 0, at most 1",
    })
}

/// The drift of a conversation from an earlier query to a later one: d = 1 − cosine of the two embeddings, in [0, 1].
///
/// Negative cosines count as 0, because a text cannot be further from the subject than unrelated. `None` if there is no
/// angle: embeddings of different lengths, or of length 0.
#[must_use]
pub fn drift(earlier: &[f32], later: &[f32]) -> Option<f64> {
    cosine(earlier, later).map(|cosine| (1.0 - cosine).min(1.0))
}

/// β: how fast reused sources lose relevance as the topic drifts. Published measurements show only β·d, so the value is
/// a guess.
const DRIFT_WEIGHT: f64 = 0.08;

/// The remaining relevance of the sources of the earlier query after this drift: the factor e^(−β·d). The model's accuracy is
/// multiplied by it.
#[must_use]
pub fn drift_discount(drift: f64) -> f64 {
    (-DRIFT_WEIGHT * drift.clamp(0.0, 1.0)).exp()
}

#[cfg(test)]
#[path = "attention_model_tests.rs"]
mod tests;
