//! What accuracy the theory of diluted attention predicts for a conversation, and what it asks for (D1–D5).
//!
//! A prompt has a budget of attention. Of R tokens of sources and H tokens of history, the sources have the share
//! α = R/(R + H), and citations are right with the probability acc(0)·α^δ. Where R stays and each turn adds h tokens of
//! history, turn after turn takes from it: (1 + h·t/R)^(−δ).
//!
//! The published proof has the sign of its inequality the wrong way round: (1 + x·t) ≤ (1 + x)^t for t ≥ 1, so
//! acc(0)·e^(−λt) lies *below* the model and not above it, and the model itself falls as a power of t, not exponentially.
//! Here [`predicted_accuracy`](AttentionModel::predicted_accuracy) is the model and [`accuracy_floor`](AttentionModel::accuracy_floor) the
//! envelope under it. Printed values of λ and of the bound on history (180 for 178) are wrong as well; the formulae stand.
//!
//! Replacing the sources by fresh ones leaves R, H and so α as they are: only compression of the history raises α. The order
//! of a turn is therefore: compress, measure α, decide whether to refresh.

use serde::{Deserialize, Serialize};

use crate::error::GroundingError;
use crate::passage::vectors::cosine;

/// The sources' share of a context, α ∈ [0, 1], of their tokens and those of the history (D1). 1 for an empty context:
/// nothing has been taken from sources that nothing stands beside.
#[must_use]
pub fn attribution_share(source_tokens: u64, history_tokens: u64) -> f64 {
    if history_tokens == 0 {
        return 1.0;
    }
    let sources = source_tokens as f64;
    sources / (sources + history_tokens as f64)
}

/// Whether the policy `adaptive` retrieves anew (D5): the share, measured after compression, has fallen below the least.
#[must_use]
pub fn refresh_is_due(share: f64, least_share: f64) -> bool {
    share < least_share
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

/// How precise citations have to be: a preset of δ, or δ itself (D2).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum DomainSpecificity {
    /// The preset.
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

/// How a conversation grows where nothing is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Growth {
    /// Tokens of the sources in every context, R0.
    pub source_tokens: f64,
    /// Tokens of history that a turn adds, h.
    pub turn_tokens: f64,
}

impl Growth {
    /// h/R0; 0 where neither has any tokens.
    #[must_use]
    pub fn ratio(self) -> f64 {
        if self.turn_tokens > 0.0 {
            self.turn_tokens / self.source_tokens.max(0.0)
        } else {
            0.0
        }
    }
}

/// The model of a domain.
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

    /// The accuracy that the model predicts where the sources have this share of the context: acc(0)·α^δ (D2).
    #[must_use]
    pub fn predicted_accuracy(&self, share: f64) -> f64 {
        self.baseline * share.clamp(0.0, 1.0).powf(self.delta)
    }

    /// The same after `turns` turns of unhindered growth: acc(0)·(1 + h·t/R0)^(−δ) (D2).
    #[must_use]
    pub fn predicted_after(&self, turns: u32, growth: Growth) -> f64 {
        self.baseline * (1.0 + growth.ratio() * f64::from(turns)).powf(-self.delta)
    }

    /// λ = δ·ln(1 + h/R0), per turn (D3).
    #[must_use]
    pub fn decay_rate(&self, growth: Growth) -> f64 {
        self.delta * growth.ratio().ln_1p()
    }

    /// The envelope acc(0)·e^(−λt) after `turns` turns (D3): equal to the model at 0 and 1, below it from there on.
    #[must_use]
    pub fn accuracy_floor(&self, turns: u32, growth: Growth) -> f64 {
        match turns {
            0 => self.baseline,
            _ => self.baseline * (-self.decay_rate(growth) * f64::from(turns)).exp(),
        }
    }

    /// The least share that keeps the target: (target/acc(0))^(1/δ), the default α_min (D5).
    ///
    /// # Errors
    /// [`GroundingError::TargetOutOfReach`] unless the target lies in (0, acc(0)).
    pub fn least_share(&self, target: f64) -> Result<f64, GroundingError> {
        let target = self.reachable(target)?;
        Ok((target / self.baseline).powf(self.delta.recip()))
    }

    /// The bound on the history that keeps the target, in tokens: R0·((target/acc(0))^(−1/δ) − 1) (D6).
    ///
    /// # Errors
    /// As [`least_share`](Self::least_share).
    pub fn history_bound(&self, source_tokens: u64, target: f64) -> Result<f64, GroundingError> {
        let target = self.reachable(target)?;
        let stretch = (self.baseline / target).powf(self.delta.recip()) - 1.0;
        // An exponent near 0 stretches without end; no sources keep no history all the same.
        Ok(match source_tokens {
            0 => 0.0,
            tokens => tokens as f64 * stretch,
        })
    }

    /// L_max: the most whole tokens of history with which the model predicts the target or better (D6).
    ///
    /// # Errors
    /// As [`least_share`](Self::least_share).
    pub fn most_history(&self, source_tokens: u64, target: f64) -> Result<u64, GroundingError> {
        let target = self.reachable(target)?;
        let keeps =
            |history| self.predicted_accuracy(attribution_share(source_tokens, history)) >= target;
        // Asked of the model itself, which falls with history: the bound is off by roundings, and by many tokens where it is large.
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

/// How far a conversation has drifted from its first query: d = 1 − cosine of the two embeddings, in [0, 1] (D4).
///
/// Opposite vectors would be at 2; they count as 1, since a text cannot be further off the subject than by having nothing to
/// do with it. `None` where there is no angle: embeddings of different lengths, or one without any.
#[must_use]
pub fn topic_drift(first: &[f32], current: &[f32]) -> Option<f64> {
    cosine(first, current).map(|cosine| (1.0 - cosine).min(1.0))
}

/// What relevance of the first turn's sources is left after that drift: the factor e^(−β·d), β ≥ 0 (D4). It compounds with
/// the dilution: the model's accuracy is multiplied by it.
#[must_use]
pub fn drift_discount(drift: f64, beta: f64) -> f64 {
    (-beta.max(0.0) * drift.clamp(0.0, 1.0)).exp()
}

#[cfg(test)]
#[path = "attention_model_tests.rs"]
mod tests;
