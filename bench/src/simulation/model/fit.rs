//! Fits the figures of a conversation to accuracies measured per turn, by least squares.
//!
//! One figure is found by a golden-section search. Two figures use nested searches: the inner one finds the best second
//! figure for each first. This assumes a single minimum, which these curves have.

use super::Drift;
use reground_grounding::attention_model::{AttentionModel, Growth};

/// An accuracy measured at a turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Number of the turn, from 1.
    pub turn: u32,
    /// The accuracy in [0, 1], or a ratio of two.
    pub value: f64,
}

/// The best fit and its residual.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit<T> {
    /// The fitted value.
    pub found: T,
    /// The root mean square of the residuals; 0 without measurements.
    pub residual: f64,
}

/// The width of the interval at which a search ends.
const PRECISION: f64 = 1e-9;
/// The largest h/R0: a turn of twenty contexts.
const WIDEST_GROWTH: f64 = 20.0;
/// The strongest drift: e^(−20) is close to 0.
const STRONGEST: f64 = 20.0;
/// The slowest saturating drift, in turns. A slower one is practically linear.
const SLOWEST: f64 = 100.0;

/// h/R0, fitted to accuracies under fresh sources and a growing history.
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

/// Linear β·d(t), fitted to the accuracies under the first turn's sources divided by those under fresh ones.
#[must_use]
pub fn linear_drift(ratios: &[Measured]) -> Fit<Drift> {
    let drift = |slope| Drift::Linear { slope };
    let (slope, error) = least(0.0, STRONGEST, |slope| drift_error(ratios, drift(slope)));
    fit(drift(slope), error, ratios)
}

/// Saturating β·d(t), fitted to the same ratios.
#[must_use]
pub fn saturating_drift(ratios: &[Measured]) -> Fit<Drift> {
    let drift = |ceiling, pace| Drift::Saturating { ceiling, pace };
    let ceiling_at = |pace| {
        least(0.0, STRONGEST, |ceiling| {
            drift_error(ratios, drift(ceiling, pace))
        })
    };
    // Paces differ by factors, so the search uses their logarithms.
    let (pace, error) = least(-3.0, SLOWEST.ln(), |pace: f64| ceiling_at(pace.exp()).1);
    let pace = pace.exp();
    fit(drift(ceiling_at(pace).0, pace), error, ratios)
}

fn drift_error(ratios: &[Measured], drift: Drift) -> f64 {
    square_error(ratios, |turns| drift.discount(f64::from(turns)))
}

/// The sum of squared differences from the predictions.
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

/// The minimum of a function with a single minimum between two bounds, and its value there, by golden-section search.
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
