//! The ranks and scores of each passage in the lists.

use std::collections::BTreeMap;

use super::ranking::FusedRow;
use crate::passage::{Branch, RankedList};

/// The ranks of one passage in the lists read so far.
#[derive(Default)]
pub(super) struct ListRanks {
    last_list: Option<usize>,
    /// Weight of the list and best rank in it, for every list that contains the passage.
    pub ranks: Vec<(f64, u32)>,
    pub lexical: BestRank,
    pub vector: BestRank,
    pub graph: BestRank,
    /// The scores of a result of an earlier turn under both queries.
    pub integrated: IntegratedScores,
    entities: Vec<String>,
}

/// Scores under this turn's query together with that of an earlier turn. They affect only the order.
#[derive(Default)]
pub(super) struct IntegratedScores {
    pub lexical: Option<f64>,
    pub distance: Option<f64>,
}

/// The best rank in the lists of a branch.
#[derive(Default)]
pub(super) struct BestRank {
    pub rank: Option<u32>,
    /// The value at that rank, or the branch's score for a passage outside its lists.
    pub value: Option<f64>,
}

/// The ranks of the passages, by the name that a hit counts for.
///
/// A rank is the position in the list from 1, with gaps and repetitions, as the branch returned it. So the rank in a
/// trace can be recomputed. Within a list the best rank of a name counts.
pub(super) fn list_ranks<'a>(
    lists: &'a [RankedList],
    name: impl Fn(&'a str) -> Option<&'a str>,
) -> BTreeMap<&'a str, ListRanks> {
    let mut list_ranks: BTreeMap<&str, ListRanks> = BTreeMap::new();
    for (index, list) in lists.iter().enumerate() {
        for (position, hit) in list.hits.iter().enumerate() {
            if let Some(key) = name(&hit.chunk_id) {
                let rank = u32::try_from(position + 1).unwrap_or(u32::MAX);
                let ranks = list_ranks.entry(key).or_default();
                ranks.enter(index, list, rank, hit.value);
            }
        }
    }
    list_ranks
}

impl ListRanks {
    fn enter(&mut self, index: usize, list: &RankedList, rank: u32, value: f64) {
        if self.last_list == Some(index) {
            return;
        }
        self.last_list = Some(index);
        self.ranks.push((list.weight, rank));
        self.entities.extend(list.entity.clone());
        let best = match list.branch {
            Branch::Lexical => &mut self.lexical,
            Branch::Vector => &mut self.vector,
            Branch::Graph => &mut self.graph,
            // This list has no order. Its passages get their scores from the branches.
            Branch::History => return,
        };
        if best.rank.is_none_or(|before| rank < before) {
            *best = BestRank {
                rank: Some(rank),
                value: Some(value),
            };
        }
    }

    pub fn into_row(mut self, chunk_id: &str, score: f64) -> FusedRow {
        self.entities.sort();
        self.entities.dedup();
        FusedRow {
            chunk_id: chunk_id.to_owned(),
            score,
            lexical_rank: self.lexical.rank,
            lexical_score: self.lexical.value,
            vector_rank: self.vector.rank,
            vector_distance: self.vector.value,
            graph_rank: self.graph.rank,
            recency: None,
            entities: self.entities,
        }
    }
}
