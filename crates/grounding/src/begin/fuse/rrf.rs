//! Reciprocal rank fusion (Cormack, Clarke and Büttcher 2009): Σ weight / (k + rank) over the lists that contain a
//! passage.

use std::collections::BTreeMap;

use super::list_ranks::ListRanks;

pub(super) fn rrf_scores(
    list_ranks: BTreeMap<&str, ListRanks>,
    k: f64,
) -> Vec<(&str, ListRanks, f64)> {
    let each = list_ranks.into_iter();
    each.map(|(key, ranks)| {
        let shares = ranks.ranks.iter();
        let mut shares: Vec<f64> = shares
            .map(|(weight, rank)| weight / (k + f64::from(*rank)))
            .collect();
        // Summed from the smallest, so that the order of the lists has no effect on rounding.
        shares.sort_by(f64::total_cmp);
        let score = shares.iter().sum();
        (key, ranks, score)
    })
    .collect()
}
