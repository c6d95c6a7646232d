//! Measures of one query's ranking against graded judgements, with the definitions of trec_eval 9.
//!
//! A ranking lists documents from best to worst; one that appears twice earns its gain at its first place
//! only. A document is relevant if its gain is above 0 and finite; unjudged documents, gains of 0 and below
//! count as not relevant. All measures lie in [0, 1].

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// Puts scored documents into the order in which trec_eval would judge them: by falling score, equal scores
/// by falling document identifier, whatever order the run gave.
///
/// trec_eval keeps scores in single precision, so scores that differ only beyond it are equal here too.
/// A score that is not a number comes last.
pub fn run<K: Ord>(scored: Vec<(K, f64)>) -> Vec<K> {
    let mut scored: Vec<(K, f32)> = scored
        .into_iter()
        .map(|(document, score)| (document, score as f32))
        .collect();
    scored.sort_unstable_by(|a, b| by_falling_score(a.1, b.1).then_with(|| b.0.cmp(&a.0)));
    scored.into_iter().map(|(document, _)| document).collect()
}

fn by_falling_score(a: f32, b: f32) -> Ordering {
    // `partial_cmp` rather than `total_cmp`: 0 and −0 are a tie.
    b.partial_cmp(&a)
        .unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// Normalised discounted cumulative gain at `k` (trec_eval `ndcg_cut`): linear gain, discount
/// log2(rank + 1), divided by the same sum over the best possible ranking of all judged documents.
///
/// `None` if `k` is 0 or no document is relevant.
pub fn ndcg<K: Ord>(ranking: &[K], gains: &BTreeMap<K, f64>, k: usize) -> Option<f64> {
    let mut ideal: Vec<f64> = gains
        .values()
        .copied()
        .filter(|gain| is_relevant(*gain))
        .collect();
    ideal.sort_unstable_by(|a, b| b.total_cmp(a));
    let found = relevant_places(ranking, gains, k);
    quotient(discounted(found), discounted((1..).zip(ideal).take(k)))
}

/// Share of all relevant documents that are among the first `k`.
///
/// `None` if no document is relevant.
pub fn recall<K: Ord>(ranking: &[K], gains: &BTreeMap<K, f64>, k: usize) -> Option<f64> {
    quotient(
        relevant_places(ranking, gains, k).count() as f64,
        relevant(gains) as f64,
    )
}

/// Share of the first `k` places that hold a relevant document; places beyond the end of the ranking hold
/// none.
///
/// `None` if `k` is 0.
pub fn precision<K: Ord>(ranking: &[K], gains: &BTreeMap<K, f64>, k: usize) -> Option<f64> {
    quotient(relevant_places(ranking, gains, k).count() as f64, k as f64)
}

/// One divided by the rank of the first relevant document, 0 if the ranking has none.
///
/// `None` if no document is relevant, so that there is no rank to find.
pub fn reciprocal_rank<K: Ord>(ranking: &[K], gains: &BTreeMap<K, f64>) -> Option<f64> {
    if relevant(gains) == 0 {
        return None;
    }
    let first = relevant_places(ranking, gains, ranking.len()).next();
    Some(first.map_or(0.0, |(rank, _)| 1.0 / rank as f64))
}

/// Mean over all relevant documents of the precision at each one's rank (trec_eval `map` for one query); a
/// document that the ranking lacks adds 0.
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
    gains.values().filter(|gain| is_relevant(**gain)).count()
}

/// Rank (from 1) and gain of each relevant document among the first `k`.
fn relevant_places<'a, K: Ord>(
    ranking: &'a [K],
    gains: &'a BTreeMap<K, f64>,
    k: usize,
) -> impl Iterator<Item = (usize, f64)> + 'a {
    let mut seen = BTreeSet::new();
    (1..)
        .zip(ranking)
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
    // The sum of no floats is −0, which would show.
    (denominator > 0.0).then(|| (numerator + 0.0) / denominator)
}
