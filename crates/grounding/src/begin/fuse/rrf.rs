//! Reciprocal rank fusion (Cormack, Clarke and Büttcher 2009): Σ weight / (k + rank) over the lists that contain a
//! passage.
//!
//! The vector lists contain no passage without a vector. [`LEXICAL_SHARE`] · weight / (k + its best lexical rank) stands in
//! for its terms.

use std::collections::{BTreeMap, BTreeSet};

use super::list_ranks::ListRanks;
use super::missing_vector::LEXICAL_SHARE;
use super::ranking::SearchResults;
use crate::passage::Branch;

pub(super) fn rrf_scores<'a>(
    list_ranks: BTreeMap<&'a str, ListRanks>,
    results: &'a SearchResults,
    k: f64,
    name: impl Fn(&'a str) -> Option<&'a str>,
) -> Vec<(&'a str, ListRanks, f64)> {
    let without_vector = without_vector(results, name);
    let lists = results.lists.iter();
    let vector_weights: Vec<f64> = lists
        .filter(|list| list.branch == Branch::Vector)
        .map(|list| list.weight)
        .collect();
    let each = list_ranks.into_iter();
    each.map(|(key, ranks)| {
        let shares = ranks.ranks.iter();
        let mut shares: Vec<f64> = shares
            .map(|(weight, rank)| weight / (k + f64::from(*rank)))
            .collect();
        if let Some(rank) = ranks.lexical.rank.filter(|_| without_vector.contains(key)) {
            let stand_in = |weight| LEXICAL_SHARE * weight / (k + f64::from(rank));
            shares.extend(vector_weights.iter().map(stand_in));
        }
        // Summed from the smallest, so that the order of the lists has no effect on rounding.
        shares.sort_by(f64::total_cmp);
        let score = shares.iter().sum();
        (key, ranks, score)
    })
    .collect()
}

/// The passages that neither have a vector nor have a twin with one.
fn without_vector<'a>(
    results: &'a SearchResults,
    name: impl Fn(&'a str) -> Option<&'a str>,
) -> BTreeSet<&'a str> {
    let mut missing: BTreeSet<&str> = results
        .without_vector
        .iter()
        .filter_map(|key| name(key))
        .collect();
    if !missing.is_empty() {
        let hits = results.lists.iter().flat_map(|list| &list.hits);
        for hit in hits.filter(|hit| !results.without_vector.contains(&hit.chunk_id)) {
            if let Some(key) = name(&hit.chunk_id) {
                missing.remove(key);
            }
        }
    }
    missing
}
