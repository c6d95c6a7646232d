//! The rankings of one search: each branch alone, and the fusions.

use std::collections::BTreeMap;

use reground_grounding::begin::fuse::{self, BranchScores, SearchResults};
use reground_grounding::passage::{Branch, Hit, Metric, RankedList};
use reground_grounding::settings::{Fusion, Settings};

use super::queried::{BranchHit, QueriedTurn};
use crate::data::Domain;
use crate::eval::retrieval::Scores;

/// An order of the found passages.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Order {
    /// The lexical branch alone.
    Bm25,
    /// The vector branch alone.
    Vector,
    /// Reciprocal rank fusion, k 60, equal weights.
    Rrf,
    /// Fusion of scores with this share of the vector branch.
    Scores(f64),
}

impl Order {
    /// The compared orders.
    pub const COMPARED: [Self; 4] = [Self::Bm25, Self::Vector, Self::Rrf, Self::Scores(0.7)];

    /// The name in reports and in the floors.
    pub fn name(self) -> String {
        match self {
            Self::Bm25 => "BM25".to_owned(),
            Self::Vector => "vector".to_owned(),
            Self::Rrf => "RRF".to_owned(),
            Self::Scores(0.7) => "scores".to_owned(),
            Self::Scores(share) => format!("scores, {share}"),
        }
    }

    /// The classes in this order.
    pub fn of(self, queried: &QueriedTurn) -> Vec<String> {
        let lists = [
            list(queried, Branch::Lexical, |found| {
                (found.lexical_rank, found.lexical_score)
            }),
            list(queried, Branch::Vector, |found| {
                (found.vector_rank, found.vector_distance)
            }),
        ];
        let settings = match self {
            Self::Bm25 => return classes(&lists[0]),
            Self::Vector => return classes(&lists[1]),
            Self::Rrf => Settings {
                fusion: Fusion::Rrf,
                ..Settings::default()
            },
            Self::Scores(vector_share) => Settings {
                fusion: Fusion::Scores,
                vector_share,
                ..Settings::default()
            },
        };
        let results = SearchResults {
            lists: lists.into(),
            scores: scores(queried),
            metric: Metric::Cosine,
            ..SearchResults::default()
        };
        let rows = fuse::rows(&results, &settings);
        rows.into_iter().map(|row| row.chunk_id).collect()
    }

    /// The scores of this order.
    pub fn scores(self, queried: &QueriedTurn) -> Scores {
        Scores::of(&self.of(queried), &queried.gold).unwrap_or_default()
    }
}

/// Measures of the later turns, mean of these corpora.
pub fn later(queried: &[QueriedTurn], domains: &[Domain], order: Order) -> Scores {
    let of = |&domain: &Domain| {
        mean(queried, order, |turn| {
            turn.domain == domain && turn.number > 1
        })
    };
    let means: Vec<Scores> = domains.iter().map(of).collect();
    Scores::mean(means.iter()).unwrap_or_default()
}

/// Means over the turns that `keep` selects.
pub fn mean(queried: &[QueriedTurn], order: Order, keep: impl Fn(&QueriedTurn) -> bool) -> Scores {
    let turns = queried.iter().filter(|turn| keep(turn));
    let scores: Vec<Scores> = turns.map(|turn| order.scores(turn)).collect();
    Scores::mean(scores.iter()).unwrap_or_default()
}

/// The list of a branch as classes, each at the place of its best passage.
fn list(
    queried: &QueriedTurn,
    branch: Branch,
    place: impl Fn(&BranchHit) -> (Option<i32>, Option<f64>),
) -> RankedList {
    let mut best: BTreeMap<&str, (i32, f64)> = BTreeMap::new();
    for found in &queried.found {
        if let (Some(rank), Some(value)) = place(found) {
            let standing = best.entry(&found.class).or_insert((rank, value));
            if rank < standing.0 {
                *standing = (rank, value);
            }
        }
    }
    let mut hits: Vec<(i32, Hit)> = best
        .into_iter()
        .map(|(class, (rank, value))| {
            let chunk_id = class.to_owned();
            (rank, Hit { chunk_id, value })
        })
        .collect();
    hits.sort_by_key(|hit| hit.0);
    RankedList {
        branch,
        weight: 1.0,
        entity: None,
        hits: hits.into_iter().map(|hit| hit.1).collect(),
    }
}

fn classes(list: &RankedList) -> Vec<String> {
    list.hits.iter().map(|hit| hit.chunk_id.clone()).collect()
}

/// The scores of both branches for each class, from its best passage.
fn scores(queried: &QueriedTurn) -> BranchScores {
    let mut scores = BranchScores::default();
    for found in &queried.found {
        if let Some(score) = found.lexical_score {
            let best = scores.lexical.entry(found.class.clone()).or_insert(score);
            *best = best.max(score);
        }
        if let Some(distance) = found.vector_distance {
            let best = scores.distances.entry(found.class.clone());
            let best = best.or_insert(distance);
            *best = best.min(distance);
        }
    }
    scores
}
