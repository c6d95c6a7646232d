//! Score fusion: both branches score every candidate, and the scores of each branch are standardised by mean and
//! deviation over all candidates.
//!
//! Ranks lose the distance between two candidates, and give nothing to a passage that one branch did not return. Scores
//! of the union keep both. Standardising by z-score is Montague and Aslam's method (2001). Using the union, without
//! missing scores, makes it reliable for lists of forty (docs/evaluation.md).
//!
//! Candidates from the knowledge graph are scored by both branches too. Their rank among the neighbours raises the
//! score by deviations of that scale.

use std::collections::BTreeMap;

use super::list_ranks::ListRanks;
use super::missing_vector::LEXICAL_SHARE;
use super::ranking::SearchResults;
use crate::begin::relevance::value;
use crate::passage::Branch;
use crate::settings::Settings;

/// The score of a candidate at the mean.
const MEAN: f64 = 0.5;
/// Deviations between the scores 0 and 1. A score outside that range is more than three deviations from the mean.
const WIDTH: f64 = 6.0;
/// Deviations that a weight of 1 adds for the first neighbour: from the mean to about the level of the first candidate
/// of one branch that is average in the other.
const GRAPH_BONUS: f64 = 2.0;

/// Σ share · (1/2 + z/6) over the branches that have scores. `z` is (value − mean) / deviation over the candidates, or
/// 0 if all are equal. For a passage without a vector it is [`LEXICAL_SHARE`] of the lexical z. Twins get the best score of
/// any of them.
pub(super) fn standardised_scores<'a>(
    mut all_ranks: BTreeMap<&'a str, ListRanks>,
    results: &'a SearchResults,
    settings: &Settings,
    name: impl Fn(&'a str) -> Option<&'a str>,
) -> Vec<(&'a str, ListRanks, f64)> {
    set_own_scores(&mut all_ranks, results, name);
    let asked = |branch| results.lists.iter().any(|list| list.branch == branch);
    let lexical = BranchValues::of(&all_ranks, |ranks| {
        // A passage without a word of the query has the score 0.
        let own = ranks.lexical.value.unwrap_or_default();
        asked(Branch::Lexical).then(|| ranks.integrated.lexical.map_or(own, |then| then.max(own)))
    });
    let vector = BranchValues::of(&all_ranks, |ranks| {
        let distances = [ranks.vector.value, ranks.integrated.distance];
        let distance = distances.into_iter().flatten().reduce(f64::min)?;
        Some(value(Branch::Vector, results.metric, distance))
    });
    let weights = settings.branch_weights();
    let share = |branch: &BranchValues, weight| if branch.has_values { weight } else { 0.0 };
    let (of_lexical, of_vector) = (
        share(&lexical, weights.lexical),
        share(&vector, weights.vector),
    );
    let total = of_lexical + of_vector;
    let each = all_ranks.into_iter().enumerate();
    each.map(|(at, (key, ranks))| {
        let words = lexical.z(at).unwrap_or_default();
        let meaning = vector.z(at).unwrap_or(LEXICAL_SHARE * words);
        let sum = of_lexical * (MEAN + words / WIDTH) + of_vector * (MEAN + meaning / WIDTH);
        let score = if total > 0.0 { sum / total } else { 0.0 };
        let score = score + graph_bonus(&ranks, settings);
        (key, ranks, score)
    })
    .collect()
}

/// The share that the graph adds: graph_weight · 2 deviations · (k + 1) / (k + rank), which falls with the rank as in
/// rank fusion. 0 without an edge.
fn graph_bonus(ranks: &ListRanks, settings: &Settings) -> f64 {
    ranks.graph.rank.map_or(0.0, |rank| {
        let share = (settings.rrf_k + 1.0) / (settings.rrf_k + f64::from(rank));
        settings.graph_weight * GRAPH_BONUS / WIDTH * share
    })
}

/// Sets the scores of every passage under the turn's own query, whichever query found it. The lists of compared
/// entities have scores of other queries.
fn set_own_scores<'a>(
    all_ranks: &mut BTreeMap<&'a str, ListRanks>,
    results: &'a SearchResults,
    name: impl Fn(&'a str) -> Option<&'a str>,
) {
    let own = results.lists.iter().filter(|list| list.entity.is_none());
    let hits = own.flat_map(|list| {
        list.hits
            .iter()
            .map(|hit| (list.branch, &hit.chunk_id, hit.value))
    });
    let scores = results.scores.lexical.iter();
    let distances = results.scores.distances.iter();
    let all = hits
        .chain(scores.map(|(key, &score)| (Branch::Lexical, key, score)))
        .chain(distances.map(|(key, &distance)| (Branch::Vector, key, distance)));
    for ranks in all_ranks.values_mut() {
        ranks.lexical.value = None;
    }
    for (branch, key, found) in all {
        let Some(ranks) = name(key).and_then(|key| all_ranks.get_mut(key)) else {
            continue;
        };
        match branch {
            Branch::Lexical => improve(&mut ranks.lexical.value, found, f64::max),
            Branch::Vector => improve(&mut ranks.vector.value, found, f64::min),
            Branch::Graph | Branch::History => {}
        }
    }
    for (key, &score) in &results.integrated.lexical {
        if let Some(ranks) = name(key).and_then(|key| all_ranks.get_mut(key)) {
            improve(&mut ranks.integrated.lexical, score, f64::max);
        }
    }
    for (key, &distance) in &results.integrated.distances {
        if let Some(ranks) = name(key).and_then(|key| all_ranks.get_mut(key)) {
            improve(&mut ranks.integrated.distance, distance, f64::min);
        }
    }
}

/// Keeps the better of two values. A passage and its twins count as one.
fn improve(best: &mut Option<f64>, found: f64, better: fn(f64, f64) -> f64) {
    *best = Some(best.map_or(found, |before| better(before, found)));
}

/// The values of a branch for the candidates, in their order.
struct BranchValues {
    values: Vec<Option<f64>>,
    mean: f64,
    deviation: f64,
    /// Whether there are any.
    has_values: bool,
}

impl BranchValues {
    fn of(
        all_ranks: &BTreeMap<&str, ListRanks>,
        value: impl Fn(&ListRanks) -> Option<f64>,
    ) -> Self {
        let values: Vec<Option<f64>> = all_ranks
            .values()
            .map(|ranks| value(ranks).filter(|value| value.is_finite()))
            .collect();
        let known = || values.iter().flatten();
        let count = known().count().max(1) as f64;
        let mean = known().sum::<f64>() / count;
        let variance = known().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
        Self {
            has_values: known().next().is_some(),
            deviation: variance.sqrt(),
            mean,
            values,
        }
    }

    /// The standardised value of a candidate; `None` if it has no value.
    fn z(&self, at: usize) -> Option<f64> {
        let value = self.values.get(at).copied().flatten()?;
        Some(if self.deviation > 0.0 {
            (value - self.mean) / self.deviation
        } else {
            0.0
        })
    }
}
