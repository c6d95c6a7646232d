//! Fusion of ranked lists into candidates, one for each group of twins.

use std::collections::BTreeMap;

use super::ranking::{FusedRow, SearchResults};
use super::rows::fused_rows;
use crate::begin::relevance::Scale;
use crate::passage::identity::{KnownPassages, PassageId, twin_classes};
use crate::passage::{Candidate, Dropped, Origin, Passage, Reason, Stage};
use crate::settings::Settings;

/// The fused candidates, and the twins that they replace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fused {
    /// One candidate for each class of twins, best first.
    pub candidates: Vec<Candidate>,
    /// Twins, with the key of their candidate.
    pub dropped: Vec<Dropped>,
}

/// Fuses the lists with twins counted as one *before* their ranks are added up, so that a passage first in one list and
/// its twin first in another make one strong candidate instead of two weak ones.
///
/// The representative of a class is a passage that the conversation already knows (its marker exists), else the one
/// with the higher fused score of its own, else the one with the smaller key. `also_in` lists the others. Hits without
/// a passage (deleted since the search) are skipped. The order is that of [`rows`](super::rows()).
#[must_use]
pub fn fuse(
    results: &SearchResults,
    known: &KnownPassages,
    scale: &Scale,
    settings: &Settings,
) -> Fused {
    let passages = &results.passages;
    let own = fused_rows(results, settings, |key| {
        passages.get_key_value(key).map(|(k, _)| k.as_str())
    });
    let mut members: Vec<(&FusedRow, &Passage)> = own
        .iter()
        .filter_map(|row| Some((row, passages.get(&row.chunk_id)?)))
        .collect();
    members.sort_by_key(|(_, passage)| !known.contains(&PassageId::of(passage)));

    let leaders = leaders(&members, settings);
    let fused = fused_rows(results, settings, |key| {
        leaders.get(key).map(|(leader, _)| *leader)
    });

    let mut also_in: BTreeMap<&str, Vec<(String, String)>> = BTreeMap::new();
    let mut relevance: BTreeMap<&str, f64> = BTreeMap::new();
    let mut dropped = Vec::new();
    for (row, passage) in &members {
        let Some(&(leader, leading)) = leaders.get(row.chunk_id.as_str()) else {
            continue;
        };
        let own_relevance = if !searched(row) {
            let lexical = results.scores.lexical.get(&row.chunk_id).copied();
            let distance = results.scores.distances.get(&row.chunk_id).copied();
            scale.carried(lexical, distance)
        } else {
            scale.fresh(&row.chunk_id)
        };
        let best = relevance.entry(leader).or_default();
        *best = best.max(own_relevance);
        if leader != row.chunk_id {
            also_in
                .entry(leader)
                .or_default()
                .push((passage.doc_id.clone(), passage.chunk_id.clone()));
            dropped.push(Dropped {
                candidate: candidate((*row).clone(), (*passage).clone(), own_relevance),
                stage: Stage::Collapse,
                reason: Reason::Twin,
                into: Some(leading.chunk_id.clone()),
            });
        }
    }
    let candidates = fused
        .into_iter()
        .filter_map(|row| {
            let passage = passages.get(&row.chunk_id)?.clone();
            let twins = also_in.remove(row.chunk_id.as_str()).unwrap_or_default();
            let relevance = relevance
                .get(row.chunk_id.as_str())
                .copied()
                .unwrap_or_default();
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

/// The handle and the passage of the leader of each member's twin class, by the member's handle.
fn leaders<'a>(
    members: &[(&'a FusedRow, &'a Passage)],
    settings: &Settings,
) -> BTreeMap<&'a str, (&'a str, &'a Passage)> {
    let passages: Vec<&Passage> = members.iter().map(|(_, passage)| *passage).collect();
    let classes = if settings.collapse_twins {
        twin_classes(&passages)
    } else {
        (0..passages.len()).collect()
    };
    let pairs = members.iter().zip(&classes);
    pairs
        .filter_map(|((row, _), &leader)| {
            let (leading, passage) = members.get(leader)?;
            Some((row.chunk_id.as_str(), (leading.chunk_id.as_str(), *passage)))
        })
        .collect()
}

/// Whether this turn's search found it.
fn searched(row: &FusedRow) -> bool {
    row.lexical_rank.is_some() || row.vector_rank.is_some()
}

fn candidate(row: FusedRow, passage: Passage, relevance: f64) -> Candidate {
    let origin = match row.graph_rank {
        _ if searched(&row) => Origin::Fresh,
        Some(_) => Origin::Graph,
        // A passage without any rank comes from the list of earlier turns' results.
        None => Origin::Carried,
    };
    Candidate {
        lexical_rank: row.lexical_rank,
        lexical_score: row.lexical_score,
        vector_rank: row.vector_rank,
        vector_distance: row.vector_distance,
        graph_rank: row.graph_rank,
        recency: row.recency,
        fused_score: row.score,
        relevance,
        entities: row.entities,
        ..Candidate::bare(passage, origin)
    }
}
