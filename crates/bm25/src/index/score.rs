//! Scores as whole numbers, so that their sum does not depend on the order in which terms are looked at: every plan gives
//! the same score to the last bit.

use crate::asked::{self, Asked};
use crate::score::Parameters;

use super::norms;
use super::terms::Term;

/// A score of 1 as a whole number: precise to 10⁻¹³, and a sum of a million still fits.
const ONE: f64 = (1_u64 << 44) as f64;
/// Frequencies whose saturation is kept in a table.
const TABLED: usize = 8;

/// A score as a number.
pub fn number(score: u64) -> f64 {
    score as f64 / ONE
}

/// A score as a distance, so that ascending order puts the best first; never −0.
pub fn distance(score: f64) -> f64 {
    if score > 0.0 { -score } else { 0.0 }
}

/// A number of rows as PostgreSQL's statistics hold it.
pub fn rows(count: u64) -> f64 {
    count as f64
}

/// The part of the documents that a query finds of which nothing is known.
pub const UNKNOWN_SELECTIVITY: f64 = 0.05;

/// What a query's terms are weighed with: fixed when a scan begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    /// Documents, removed ones that are still in the index included.
    pub documents: u64,
    /// Sum of their lengths.
    pub length: u64,
    /// Documents that contain each of the query's terms, in their order.
    pub frequencies: Vec<u64>,
}

impl Statistics {
    /// Mean length of a document; 1 where there is none.
    pub fn average(&self) -> f64 {
        match self.documents {
            0 => 1.0,
            documents if self.length > 0 => self.length as f64 / documents as f64,
            _ => 1.0,
        }
    }

    /// The part of the documents that have one of the terms that weigh something, at most: as if no document had two.
    pub fn selectivity(&self, weights: &[f64]) -> f64 {
        let each = self.frequencies.iter().zip(weights);
        let postings: u64 = each
            .filter(|&(_, &weight)| asked::counts(weight))
            .map(|(df, _)| df)
            .sum();
        match self.documents {
            0 => 0.0,
            documents => (postings as f64 / documents as f64).min(1.0),
        }
    }

    /// Adds those of another index for the same terms.
    pub fn add(&mut self, other: &Self) {
        self.documents += other.documents;
        self.length += other.length;
        for (sum, more) in self.frequencies.iter_mut().zip(&other.frequencies) {
            *sum += more;
        }
    }

    /// The weights of the query's terms, as [`asked::weights`] has them.
    pub fn weights(&self, terms: &[Term]) -> Vec<f64> {
        let asked: Vec<Asked> = terms.iter().map(|term| term.asked).collect();
        asked::weights(&asked, self.documents, &self.frequencies)
    }
}

/// `tf / (tf + k1 · (1 − b + b · dl / avgdl))` by norm, for one mean length.
#[derive(Clone)]
pub struct Saturation {
    /// `k1 · (1 − b + b · dl / avgdl)` by norm.
    denominator: [f64; 256],
    /// By norm and frequency, from 1.
    table: Vec<[f64; TABLED]>,
}

impl Saturation {
    /// For an index' parameters.
    pub fn new(parameters: &Parameters, average: f64) -> Self {
        let (k1, b) = (parameters.k1(), parameters.b());
        let denominator = std::array::from_fn(|norm| {
            let length = f64::from(norms::length(u8::try_from(norm).unwrap_or(u8::MAX)));
            k1 * (1.0 - b + b * length / average)
        });
        let row = |&more: &f64| {
            std::array::from_fn(|frequency| {
                let frequency = (frequency + 1) as f64;
                frequency / (frequency + more)
            })
        };
        Self {
            table: denominator.iter().map(row).collect(),
            denominator,
        }
    }

    /// From 0 to 1.
    #[inline]
    pub fn of(&self, frequency: u32, norm: u8) -> f64 {
        let norm = usize::from(norm);
        match self.table[norm].get((frequency as usize).wrapping_sub(1)) {
            Some(&saturation) => saturation,
            None => {
                let frequency = f64::from(frequency);
                frequency / (frequency + self.denominator[norm])
            }
        }
    }
}

/// What a term of some weight adds to a score: the weight times the saturation. Never 0, so that a match is one.
#[inline]
pub fn part(weight: f64, saturation: f64) -> u64 {
    ((weight * saturation * ONE + 0.5) as u64).max(1)
}

/// No less than [`part`] of a weight and any saturation up to `most`.
pub fn bound(weight: f64, most: f64) -> u64 {
    (weight * most.min(1.0) * ONE) as u64 + 2
}

/// The largest saturation of a block in a byte, rounded up.
pub fn impact(saturation: f64) -> u8 {
    (saturation * 255.0).ceil().clamp(1.0, 255.0) as u8
}

/// What an impact stands for when the mean length has become another: longer documents are then held less against, and a
/// saturation grows at most as the mean did.
pub fn from_impact(impact: u8, average_then: f64, average_now: f64) -> f64 {
    f64::from(impact) / 255.0 * (average_now / average_then).max(1.0)
}
