//! The figures of a conversation by least squares, from accuracies measured turn by turn.
//!
//! One figure is found by a golden section, two by one within the other: the inner finds the best second for each first. It
//! assumes a single valley, which these curves have.

use super::Drift;
use reground_grounding::attention_model::{AttentionModel, Growth};

/// An accuracy that was measured at a turn, from 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Number of the turn.
    pub turn: u32,
    /// The accuracy in [0, 1], or a ratio of two.
    pub value: f64,
}

/// What fits best, and how well.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit<T> {
    /// What was found.
    pub found: T,
    /// The root of the mean square of what it leaves unexplained; 0 for nothing measured.
    pub residual: f64,
}

/// The narrowest h/R0 that is told apart: an interval of this width ends the search.
const PRECISION: f64 = 1e-9;
/// The widest h/R0: a turn of twenty contexts.
const WIDEST_GROWTH: f64 = 20.0;
/// The strongest drift: e^(−20) is nothing.
const STRONGEST: f64 = 20.0;
/// The slowest drift that saturates, in turns; one slower than that is linear.
const SLOWEST: f64 = 100.0;

/// h/R0 of accuracies under fresh sources and a history that grows.
#[must_use]
pub fn growth(model: &AttentionModel, measured: &[Measured]) -> Fit<f64> {
    let error = |turn_tokens| {
        let growth = Growth {
            source_tokens: 1.0,
            turn_tokens,
        };
        square_error(measured, |turns| model.predicted_after(turns, growth))
    };
    let (found, error) = least(0.0, WIDEST_GROWTH, error);
    fit(found, error, measured)
}

/// β·d(t) that grows evenly, of the accuracies under the first turn's sources over those under fresh ones.
#[must_use]
pub fn linear_drift(ratios: &[Measured]) -> Fit<Drift> {
    let drift = |slope| Drift::Linear { slope };
    let (slope, error) = least(0.0, STRONGEST, |slope| drift_error(ratios, drift(slope)));
    fit(drift(slope), error, ratios)
}

/// β·d(t) that saturates, of the same.
#[must_use]
pub fn saturating_drift(ratios: &[Measured]) -> Fit<Drift> {
    let drift = |ceiling, pace| Drift::Saturating { ceiling, pace };
    let ceiling_at = |pace| {
        least(0.0, STRONGEST, |ceiling| {
            drift_error(ratios, drift(ceiling, pace))
        })
    };
    // Paces differ by factors, so the search goes along their logarithms.
    let (pace, error) = least(-3.0, SLOWEST.ln(), |pace: f64| ceiling_at(pace.exp()).1);
    let pace = pace.exp();
    fit(drift(ceiling_at(pace).0, pace), error, ratios)
}

fn drift_error(ratios: &[Measured], drift: Drift) -> f64 {
    square_error(ratios, |turns| drift.discount(f64::from(turns)))
}

/// The sum of squared differences from what is predicted after so many turns.
fn square_error(measured: &[Measured], predicted: impl Fn(u32) -> f64) -> f64 {
    let residuals = measured
        .iter()
        .map(|one| one.value - predicted(one.turn.saturating_sub(1)));
    residuals.map(|residual| residual * residual).sum()
}

fn fit<T>(found: T, error: f64, measured: &[Measured]) -> Fit<T> {
    Fit {
        found,
        residual: (error / measured.len().max(1) as f64).sqrt(),
    }
}

/// Where a function with a single valley is least between two bounds, and its value there, by golden section.
fn least(mut from: f64, mut to: f64, of: impl Fn(f64) -> f64) -> (f64, f64) {
    let golden = (5f64.sqrt() - 1.0) / 2.0;
    let (mut left, mut right) = (to - golden * (to - from), from + golden * (to - from));
    let (mut at_left, mut at_right) = (of(left), of(right));
    while to - from > PRECISION {
        if at_left <= at_right {
            (to, right, at_right) = (right, left, at_left);
            left = to - golden * (to - from);
            at_left = of(left);
        } else {
            (from, left, at_left) = (left, right, at_right);
            right = from + golden * (to - from);
            at_right = of(right);
        }
    }
    let middle = (from + to) / 2.0;
    (middle, of(middle))
}
