//! A ratio that keeps its numerator and denominator.

use std::iter::Sum;
use std::ops::Add;

use serde::{Deserialize, Serialize};

/// A sum of credits and the number of items.
///
/// Both are kept, so that the ratios of several answers add up to the ratio of all of them (micro average), and so that a reader
/// can distinguish 1 of 1 from 1000 of 1000.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// Sum of the credits. At most the denominator when each item earns at most 1.
    pub numerator: f64,
    /// Number of items.
    pub denominator: u64,
}

impl Ratio {
    /// Counts the verdicts that are true.
    pub fn of(verdicts: impl IntoIterator<Item = bool>) -> Self {
        Self::earned(verdicts.into_iter().map(|is_so| f64::from(u8::from(is_so))))
    }

    /// Adds up the credits of the items.
    pub fn earned(each: impl IntoIterator<Item = f64>) -> Self {
        each.into_iter()
            .fold(Self::default(), |ratio, earned| Self {
                numerator: ratio.numerator + earned,
                denominator: ratio.denominator + 1,
            })
    }

    /// Returns numerator / denominator, or `None` when the denominator is 0.
    pub fn value(self) -> Option<f64> {
        (self.denominator > 0).then(|| self.numerator / self.denominator as f64)
    }
}

impl Add for Ratio {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            numerator: self.numerator + other.numerator,
            denominator: self.denominator + other.denominator,
        }
    }
}

impl Sum for Ratio {
    fn sum<I: Iterator<Item = Self>>(ratios: I) -> Self {
        ratios.fold(Self::default(), Add::add)
    }
}
