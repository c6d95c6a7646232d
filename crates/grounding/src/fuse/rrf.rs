//! Reciprocal rank fusion (Cormack, Clarke and Büttcher 2009): Σ weight / (k + rank) over the lists that hold a passage.

use std::collections::BTreeMap;

use super::standing::Standing;

pub(super) fn scored(standings: BTreeMap<&str, Standing>, k: f64) -> Vec<(&str, Standing, f64)> {
    let each = standings.into_iter();
    each.map(|(key, standing)| {
        let shares = standing.ranks.iter();
        let mut shares: Vec<f64> = shares
            .map(|(weight, rank)| weight / (k + f64::from(*rank)))
            .collect();
        // Summed from the smallest, so that the order of the lists cannot show in the last digit.
        shares.sort_by(f64::total_cmp);
        let score = shares.iter().sum();
        (key, standing, score)
    })
    .collect()
}
