//! Fusion of the branches (C6), over identities instead of rows (C5).
//!
//! A [`Ranking`] is what the branches returned. [`fused_rows`] makes one order of it, by the scores or by the ranks, for keys
//! or for classes of twins; [`fuse`] makes candidates of that.

mod rrf;
mod scores;
mod standing;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::identity::{Known, PassageId, twin_classes};
use crate::passage::{Candidate, Dropped, Metric, Origin, Passage, RankedList, Reason, Stage};
use crate::relevance::Scale;
use crate::settings::{Fusion, Settings};
use standing::{Standing, standings};

/// What the branches returned for a query.
#[derive(Clone, Copy, Debug)]
pub struct Ranking<'a> {
    /// Their lists.
    pub lists: &'a [RankedList],
    /// What both branches say of the passages in them; not needed where ranks are fused.
    pub scores: &'a BranchScores,
    /// What they say of the results of earlier turns under this query together with the one that found them, where these are
    /// ranked too.
    pub integrated: Option<&'a BranchScores>,
    /// How the vector lists measure distance.
    pub metric: Metric,
}

/// What both branches say of passages under a turn's own query, whichever list brought them in. What a list of the own query
/// says need not be here again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BranchScores {
    /// BM25 scores, by key; a passage without one has no word of the query.
    pub lexical: BTreeMap<String, f64>,
    /// Vector distances, by key; a passage without one has no embedding.
    pub distances: BTreeMap<String, f64>,
}

/// A row of a fusion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FusedRow {
    /// Key of the passage, as the lists name it.
    pub key: String,
    /// By which it is ordered, higher first; how it comes about is the setting `fusion`.
    pub score: f64,
    /// Best rank over the lexical lists, from 1.
    pub lexical_rank: Option<u32>,
    /// Score at that rank; else that under the turn's own query, where it was looked up.
    pub lexical_score: Option<f64>,
    /// Best rank over the vector lists, from 1.
    pub vector_rank: Option<u32>,
    /// Distance at that rank; else that to the turn's own query, where it was looked up.
    pub vector_distance: Option<f64>,
    /// Rank among the neighbours of the knowledge graph, from 1.
    pub graph_rank: Option<u32>,
    /// Compared entities whose lists hold it, sorted.
    pub entities: Vec<String>,
}

/// Fusion for `search`: every key stands for itself. Order: score descending, then key ascending, which is total; the order
/// of the lists does not matter.
#[must_use]
pub fn rows(ranking: Ranking<'_>, settings: &Settings) -> Vec<FusedRow> {
    fused_rows(ranking, settings, Some)
}

/// Fusion where `name` says which passage a hit counts for; hits that it does not know are skipped, keeping the ranks
/// of the others.
fn fused_rows<'a>(
    ranking: Ranking<'a>,
    settings: &Settings,
    name: impl Fn(&'a str) -> Option<&'a str>,
) -> Vec<FusedRow> {
    let standings = standings(ranking.lists, &name);
    let scored: Vec<(&str, Standing, f64)> = match settings.fusion {
        Fusion::Rrf => rrf::scored(standings, settings.rrf_k),
        Fusion::Scores | Fusion::Integrated => scores::scored(standings, ranking, settings, name),
    };
    let mut rows: Vec<FusedRow> = scored
        .into_iter()
        .map(|(key, standing, score)| standing.into_row(key, score))
        .collect();
    rows.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.key.cmp(&b.key)));
    rows
}

/// The fused candidates, and the twins that gave way to them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fused {
    /// One candidate for each identity, best first.
    pub candidates: Vec<Candidate>,
    /// Twins, with the key that stands for them.
    pub dropped: Vec<Dropped>,
}

/// Fuses the lists over identities: twins count as one *before* their ranks are added up, so a twin first in one list
/// and its twin first in another make one strong candidate instead of two weak ones.
///
/// Of a class the passage stands that the conversation knows already (its marker exists), else the one with the higher
/// fused score of its own, else the smaller key; `also_in` lists the others. Hits without a passage (gone since the
/// search) are skipped. Order as in [`rows`].
#[must_use]
pub fn fuse(
    ranking: Ranking<'_>,
    passages: &BTreeMap<String, Passage>,
    known: &Known,
    scale: &Scale,
    settings: &Settings,
) -> Fused {
    let own = fused_rows(ranking, settings, |key| {
        passages.get_key_value(key).map(|(k, _)| k.as_str())
    });
    let mut members: Vec<(&FusedRow, &Passage)> = own
        .iter()
        .filter_map(|row| Some((row, passages.get(&row.key)?)))
        .collect();
    members.sort_by_key(|(_, passage)| !known.contains(&PassageId::of(passage)));

    let ordered: Vec<&Passage> = members.iter().map(|(_, passage)| *passage).collect();
    let classes = if settings.collapse_twins {
        twin_classes(&ordered, settings.twin_overlap)
    } else {
        (0..ordered.len()).collect()
    };
    // By handle, and the leader's handle with it.
    let leaders: BTreeMap<&str, (&str, &Passage)> = members
        .iter()
        .zip(&classes)
        .filter_map(|((row, _), &leader)| {
            let (its, passage) = members.get(leader)?;
            Some((row.key.as_str(), (its.key.as_str(), *passage)))
        })
        .collect();
    let fused = fused_rows(ranking, settings, |key| {
        leaders.get(key).map(|(leader, _)| *leader)
    });

    let mut also_in: BTreeMap<&str, Vec<(String, String)>> = BTreeMap::new();
    let mut relevance: BTreeMap<&str, f64> = BTreeMap::new();
    let mut dropped = Vec::new();
    for (row, passage) in &members {
        let Some(&(leader, standing)) = leaders.get(row.key.as_str()) else {
            continue;
        };
        let own_relevance = if !searched(row) {
            let lexical = ranking.scores.lexical.get(&row.key).copied();
            let distance = ranking.scores.distances.get(&row.key).copied();
            scale.carried(lexical, distance)
        } else {
            scale.fresh(&row.key)
        };
        let best = relevance.entry(leader).or_default();
        *best = best.max(own_relevance);
        if leader != row.key {
            also_in
                .entry(leader)
                .or_default()
                .push((passage.doc_id.clone(), passage.key.clone()));
            dropped.push(Dropped {
                candidate: candidate((*row).clone(), (*passage).clone(), own_relevance),
                stage: Stage::Collapse,
                reason: Reason::Twin,
                into: Some(standing.key.clone()),
            });
        }
    }
    let candidates = fused
        .into_iter()
        .filter_map(|row| {
            let passage = passages.get(&row.key)?.clone();
            let twins = also_in.remove(row.key.as_str()).unwrap_or_default();
            let relevance = relevance.get(row.key.as_str()).copied().unwrap_or_default();
            Some(Candidate {
                also_in: twins,
                ..candidate(row, passage, relevance)
            })
        })
        .collect();
    Fused {
        candidates,
        dropped,
    }
}

/// Whether this turn's search found it.
fn searched(row: &FusedRow) -> bool {
    row.lexical_rank.is_some() || row.vector_rank.is_some()
}

fn candidate(row: FusedRow, passage: Passage, relevance: f64) -> Candidate {
    let origin = match row.graph_rank {
        _ if searched(&row) => Origin::Fresh,
        Some(_) => Origin::Graph,
        // Of the lists that bring passages in, that of earlier turns' results is the one without ranks.
        None => Origin::Carried,
    };
    Candidate {
        lexical_rank: row.lexical_rank,
        lexical_score: row.lexical_score,
        vector_rank: row.vector_rank,
        vector_distance: row.vector_distance,
        graph_rank: row.graph_rank,
        fused: row.score,
        relevance,
        entities: row.entities,
        ..Candidate::bare(passage, origin)
    }
}

#[cfg(test)]
#[path = "fuse_tests.rs"]
mod tests;
