//! Measures of one query's ranking against graded judgements, as trec_eval 9 defines them.
//!
//! A ranking lists documents from best to worst. A document that occurs twice counts at its first rank only. A document is
//! relevant if its gain is above 0 and finite. Unjudged documents are not relevant. All measures are in [0, 1].

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use reground_interrupt::checked;

/// Sorts scored documents as trec_eval does: by falling score, ties by falling document id. The input order does not matter.
///
/// trec_eval stores scores in single precision, so scores that differ only beyond it are ties here, too. NaN sorts last.
pub fn run<K: Ord>(scored: Vec<(K, f64)>) -> Vec<K> {
    let mut scored: Vec<(K, f32)> = scored
        .into_iter()
        .map(|(document, score)| (document, score as f32))
        .collect();
    scored.sort_unstable_by(|a, b| by_falling_score(a.1, b.1).then_with(|| b.0.cmp(&a.0)));
    scored.into_iter().map(|(document, _)| document).collect()
}

fn by_falling_score(a: f32, b: f32) -> Ordering {
    // `partial_cmp` instead of `total_cmp`: 0 and −0 are a tie.
    b.partial_cmp(&a)
        .unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// Normalised discounted cumulative gain at `k` (trec_eval `ndcg_cut`): linear gain, discount log2(rank + 1), divided by the
/// same sum for the ideal ranking of all judged documents.
///
/// `None` if `k` is 0 or no document is relevant.
pub fn ndcg<K: Ord>(ranking: &[K], gains: &BTreeMap<K, f64>, k: usize) -> Option<f64> {
    let mut ideal: Vec<f64> = checked(gains.values())
        .copied()
        .filter(|gain| is_relevant(*gain))
        .collect();
    ideal.sort_unstable_by(|a, b| b.total_cmp(a));
    let found = relevant_places(ranking, gains, k);
    quotient(discounted(found), discounted((1..).zip(ideal).take(k)))
}

/// Share of the relevant documents that are among the first `k`.
///
/// `None` if no document is relevant.
pub fn recall<K: Ord>(ranking: &[K], gains: &BTreeMap<K, f64>, k: usize) -> Option<f64> {
    quotient(
        relevant_places(ranking, gains, k).count() as f64,
        relevant(gains) as f64,
    )
}

/// Share of relevant documents among the first `k` ranks. Ranks beyond the end of the ranking are not relevant.
///
/// `None` if `k` is 0.
pub fn precision<K: Ord>(ranking: &[K], gains: &BTreeMap<K, f64>, k: usize) -> Option<f64> {
    quotient(relevant_places(ranking, gains, k).count() as f64, k as f64)
}

/// Reciprocal of the rank of the first relevant document, 0 if the ranking contains none.
///
/// `None` if no document is relevant.
pub fn reciprocal_rank<K: Ord>(ranking: &[K], gains: &BTreeMap<K, f64>) -> Option<f64> {
    if relevant(gains) == 0 {
        return None;
    }
    let first = relevant_places(ranking, gains, ranking.len()).next();
    Some(first.map_or(0.0, |(rank, _)| 1.0 / rank as f64))
}

/// Mean, over all relevant documents, of the precision at their rank (trec_eval `map` for one query). A relevant document
/// that is not in the ranking counts as 0.
///
/// `None` if no document is relevant.
pub fn average_precision<K: Ord>(ranking: &[K], gains: &BTreeMap<K, f64>) -> Option<f64> {
    let found = (1_usize..).zip(relevant_places(ranking, gains, ranking.len()));
    let precisions: f64 = found
        .map(|(count, (rank, _))| count as f64 / rank as f64)
        .sum();
    quotient(precisions, relevant(gains) as f64)
}

fn is_relevant(gain: f64) -> bool {
    gain > 0.0 && gain.is_finite()
}

fn relevant<K>(gains: &BTreeMap<K, f64>) -> usize {
    checked(gains.values())
        .filter(|gain| is_relevant(**gain))
        .count()
}

/// Returns rank (from 1) and gain of each relevant document among the first `k`.
fn relevant_places<'a, K: Ord>(
    ranking: &'a [K],
    gains: &'a BTreeMap<K, f64>,
    k: usize,
) -> impl Iterator<Item = (usize, f64)> + 'a {
    let mut seen = BTreeSet::new();
    (1..)
        .zip(checked(ranking))
        .take(k)
        .filter_map(move |(rank, document)| {
            let gain = *gains.get(document)?;
            (is_relevant(gain) && seen.insert(document)).then_some((rank, gain))
        })
}

fn discounted(places: impl Iterator<Item = (usize, f64)>) -> f64 {
    places
        .map(|(rank, gain)| gain / (rank as f64 + 1.0).log2())
        .sum()
}

fn quotient(numerator: f64, denominator: f64) -> Option<f64> {
    // The sum of no floats is −0, and the sign would be printed.
    (denominator > 0.0).then(|| (numerator + 0.0) / denominator)
}
