//! The rankings that one search gives: of each branch, and of their fusions.

use std::collections::BTreeMap;

use reground_grounding::begin::fuse::{self, BranchScores, Ranking};
use reground_grounding::passage::{Branch, Hit, Metric, RankedList};
use reground_grounding::settings::{Fusion, Settings};

use super::Asked;
use crate::data::Domain;
use crate::eval::retrieval::Scores;

/// A passage that a branch found.
#[derive(Debug, Clone)]
pub struct Found {
    /// It and its twins.
    pub class: String,
    /// Rank in the lexical list, from 1.
    pub lexical_rank: Option<i32>,
    /// BM25 score, also where only the other branch found it.
    pub lexical_score: Option<f64>,
    /// Rank in the vector list, from 1.
    pub vector_rank: Option<i32>,
    /// Distance, also where only the other branch found it.
    pub vector_distance: Option<f64>,
}

/// An order of what was found.
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
    /// Those that are compared.
    pub const COMPARED: [Self; 4] = [Self::Bm25, Self::Vector, Self::Rrf, Self::Scores(0.7)];

    /// The name in reports and floors.
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
    pub fn of(self, asked: &Asked) -> Vec<String> {
        let lists = [
            list(asked, Branch::Lexical, |found| {
                (found.lexical_rank, found.lexical_score)
            }),
            list(asked, Branch::Vector, |found| {
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
        let scores = scores(asked);
        let ranking = Ranking {
            lists: &lists,
            scores: &scores,
            integrated: None,
            metric: Metric::Cosine,
        };
        let rows = fuse::rows(ranking, &settings);
        rows.into_iter().map(|row| row.key).collect()
    }

    /// The measures of this order; every turn that is asked is judged.
    pub fn scores(self, asked: &Asked) -> Scores {
        Scores::of(&self.of(asked), &asked.gold).unwrap_or_default()
    }
}

/// Measures of the later turns, mean of both corpora.
pub fn later(asked: &[Asked], order: Order) -> Scores {
    let of = |domain| {
        mean(asked, order, |turn| {
            turn.domain == domain && turn.number > 1
        })
    };
    Scores::mean(Domain::ALL.map(of).iter()).unwrap_or_default()
}

/// Means over some of the turns.
pub fn mean(asked: &[Asked], order: Order, keep: impl Fn(&Asked) -> bool) -> Scores {
    let turns = asked.iter().filter(|turn| keep(turn));
    let scores: Vec<Scores> = turns.map(|turn| order.scores(turn)).collect();
    Scores::mean(scores.iter()).unwrap_or_default()
}

/// A branch' list of classes, each at the place of its best passage.
fn list(
    asked: &Asked,
    branch: Branch,
    place: impl Fn(&Found) -> (Option<i32>, Option<f64>),
) -> RankedList {
    let mut best: BTreeMap<&str, (i32, f64)> = BTreeMap::new();
    for found in &asked.found {
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
            let key = class.to_owned();
            (rank, Hit { key, value })
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
    list.hits.iter().map(|hit| hit.key.clone()).collect()
}

/// What both branches say of each class, the best of its passages.
fn scores(asked: &Asked) -> BranchScores {
    let mut scores = BranchScores::default();
    for found in &asked.found {
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
