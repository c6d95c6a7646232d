//! Scores as integers. Their sum does not depend on the order of the terms, so every plan computes exactly the same score.

use crate::query::query_weight::{self, QueryWeight};
use crate::score::Parameters;

use crate::index::segment::norms;
use crate::index::terms::QueryTerm;

/// The integer for a score of 1. It is precise to 10⁻¹³, and a sum of a million does not overflow.
const SCALE: f64 = (1_u64 << 44) as f64;
/// Number of frequencies with precomputed saturation.
const TABLE_FREQUENCIES: usize = 8;

/// Converts an integer score to a float.
pub fn to_float(score: u64) -> f64 {
    score as f64 / SCALE
}

/// Converts a score to a distance, so that ascending order puts the best first; never −0.
pub fn distance(score: f64) -> f64 {
    if score > 0.0 { -score } else { 0.0 }
}

/// Converts a number of rows to the type of PostgreSQL's statistics.
pub fn row_count(count: u64) -> f64 {
    count as f64
}

/// Estimated share of matching documents for an unknown query.
pub const DEFAULT_SELECTIVITY: f64 = 0.05;

/// Score of a text that a query does not find.
pub const NO_SCORE: f64 = 0.0;

/// Returns whether a query finds a text with this score.
pub fn is_found(score: f64) -> bool {
    score > NO_SCORE
}

/// Collection statistics for the weights of a query's terms; fixed when a scan begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    /// Number of documents, including removed ones that are still in the index.
    pub documents: u64,
    /// Sum of the lengths of the documents.
    pub length: u64,
    /// Document frequency of each query term, in the order of the terms.
    pub frequencies: Vec<u64>,
}

impl Statistics {
    /// Mean length of a document; 1 for an empty index.
    pub fn average_length(&self) -> f64 {
        match self.documents {
            0 => 1.0,
            documents if self.length > 0 => self.length as f64 / documents as f64,
            _ => 1.0,
        }
    }

    /// Upper bound of the share of documents that contain a term of positive weight, computed as if no document contained two
    /// of them.
    pub fn selectivity(&self, weights: &[f64]) -> f64 {
        let each = self.frequencies.iter().zip(weights);
        let postings: u64 = each
            .filter(|&(_, &weight)| query_weight::contributes(weight))
            .fold(0, |sum: u64, (&df, _)| sum.saturating_add(df));
        match self.documents {
            0 => 0.0,
            documents => (postings as f64 / documents as f64).min(1.0),
        }
    }

    /// Adds the statistics of another index for the same terms.
    pub fn add(&mut self, other: &Self) {
        self.documents += other.documents;
        self.length += other.length;
        for (sum, more) in self.frequencies.iter_mut().zip(&other.frequencies) {
            *sum += more;
        }
    }

    /// Returns the weights of the query's terms; see [`query_weight::weights`].
    pub fn weights(&self, terms: &[QueryTerm]) -> Vec<f64> {
        let query_weights: Vec<QueryWeight> = terms.iter().map(|term| term.query_weight).collect();
        query_weight::weights(&query_weights, self.documents, &self.frequencies)
    }
}

/// The saturation `tf / (tf + k1 · (1 − b + b · dl / avgdl))` by norm, for one mean length.
#[derive(Clone)]
pub struct Saturation {
    /// `k1 · (1 − b + b · dl / avgdl)` by norm.
    denominator: [f64; 256],
    /// Saturation by norm and by frequency; the first column is frequency 1.
    table: Vec<[f64; TABLE_FREQUENCIES]>,
}

impl Saturation {
    /// Computes the tables for the parameters of an index and a mean length.
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

    /// Returns the saturation, from 0 to 1.
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

/// Returns what a term adds to a score: weight times saturation. Never 0, so that every match has a positive score.
#[inline]
pub fn contribution(weight: f64, saturation: f64) -> u64 {
    ((weight * saturation * SCALE + 0.5) as u64).max(1)
}

/// Returns an upper bound of [`contribution`] for a weight and any saturation up to `most`.
pub fn upper_bound(weight: f64, most: f64) -> u64 {
    (weight * most.min(1.0) * SCALE) as u64 + 2
}

/// Encodes the largest saturation of a block in one byte, rounded up.
pub fn impact(saturation: f64) -> u8 {
    (saturation * 255.0).ceil().clamp(1.0, 255.0) as u8
}

/// Returns an upper bound of the saturation behind an impact that was computed with another mean length. A larger mean length
/// reduces the penalty of long documents; the saturation grows at most by the ratio of the means.
pub fn saturation_from_impact(impact: u8, average_then: f64, average_now: f64) -> f64 {
    f64::from(impact) / 255.0 * (average_now / average_then).max(1.0)
}
