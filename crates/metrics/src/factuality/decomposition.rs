//! Validation of a decomposer against statements that humans made of the same answers.

use reground_interrupt::checked;

use crate::Ratio;

/// Symmetric mean absolute percentage error of counts: the mean of |a − b| / ((a + b) / 2) over the pairs (Makridakis, "Accuracy
/// measures: theoretical and practical concerns", 1993). In [0, 2]; a pair of zeros has no error. The order in a pair makes no
/// difference. `None` without pairs.
///
/// Some publications leave out the division by 2, so their values are half of these. KnowMT-Bench does not say which it has.
pub fn smape(pairs: impl IntoIterator<Item = (u64, u64)>) -> Option<f64> {
    let errors = checked(pairs).map(|(a, b)| {
        let (a, b) = (a as f64, b as f64);
        if a + b > 0.0 {
            (a - b).abs() / ((a + b) / 2.0)
        } else {
            0.0
        }
    });
    Ratio::earned(errors).value()
}

/// Omission rate: the share of the human statements that the decomposer left out, over all answers together. Each item says whether
/// a human statement is covered.
pub fn omission_rate(covered: impl IntoIterator<Item = bool>) -> Ratio {
    Ratio::of(checked(covered).map(|is_covered| !is_covered))
}
