//! A share that keeps what it was computed from.

use std::iter::Sum;
use std::ops::Add;

use serde::{Deserialize, Serialize};

/// A numerator over the number of things it is about.
///
/// Both are kept, so that ratios of many answers add up to the ratio of all of them (the micro average), and so that a
/// reader sees whether 1.0 is one of one or a thousand of a thousand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// What was earned; not above the denominator where each thing earns 1 at most.
    pub numerator: f64,
    /// How many things could earn.
    pub denominator: u64,
}

impl Ratio {
    /// How many of the verdicts are true.
    pub fn of(verdicts: impl IntoIterator<Item = bool>) -> Self {
        Self::earned(verdicts.into_iter().map(|is_so| f64::from(u8::from(is_so))))
    }

    /// The sum of what each thing earns, over how many things there are.
    pub fn earned(each: impl IntoIterator<Item = f64>) -> Self {
        each.into_iter()
            .fold(Self::default(), |ratio, earned| Self {
                numerator: ratio.numerator + earned,
                denominator: ratio.denominator + 1,
            })
    }

    /// Numerator by denominator; `None` where the denominator is 0.
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
