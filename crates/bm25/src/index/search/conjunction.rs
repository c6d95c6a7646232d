//! The documents that fulfil each of several requirements, found by intersecting their postings.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::index::error::Result;
use crate::index::pages::meta::Meta;
use crate::index::pages::store::Pages;
use crate::index::score::{Statistics, to_float};
use crate::index::search::document_scores::DocumentScores;
use crate::index::search::ranked_search::SearchHit;
use crate::index::search::requirement::{Requirement, SegmentRequirements};
use crate::index::search::snapshot::{Snapshot, in_search_order};
use crate::index::segment::reader::SegmentReader;

/// Returns the documents that fulfil each requirement, by descending score for the query of `ordering`, then by row. Documents without
/// a word of that query, and all documents without such a query, have the score 0. There are none if documents are only excluded. The
/// snapshots are of the meta page.
///
/// # Errors
/// A damaged page.
pub fn matches<P: Pages>(
    pages: &P,
    meta: &Meta,
    ordering: Option<(&Snapshot, &Statistics)>,
    requirements: &[Requirement],
) -> Result<Vec<SearchHit>> {
    let scores = match ordering {
        Some((snapshot, statistics)) => {
            Some((snapshot, DocumentScores::new(snapshot, statistics)?))
        }
        None => None,
    };
    let scores = scores.as_ref();
    let mut found = in_write_buffer(scores, requirements);
    for (at, segment) in in_search_order(meta).into_iter().enumerate() {
        let reader = SegmentReader::new(pages, segment);
        let required = SegmentRequirements::open(&reader, at, requirements)?;
        let documents = required.documents(&reader)?;
        let scored = match scores {
            Some((snapshot, scores)) => {
                let entries = snapshot.entries.get(at).map(Vec::as_slice);
                scores.of_documents(&reader, entries.unwrap_or_default(), &documents)?
            }
            None => vec![0; documents.len()],
        };
        let (mut present, mut their_scores) = (Vec::new(), Vec::new());
        for (document, score) in documents.into_iter().zip(scored) {
            if !reader.is_dead(document)? {
                present.push(document);
                their_scores.push(score);
            }
        }
        reader.each_row(&present, |at, row, fingerprint| {
            found.push((their_scores[at], row, fingerprint));
        })?;
    }
    found.sort_unstable_by_key(|&(score, row, _)| (Reverse(score), row));
    let hits = found
        .into_iter()
        .map(|(score, row, fingerprint)| SearchHit {
            row,
            fingerprint,
            score: to_float(score),
        });
    Ok(hits.collect())
}

/// Score, row and fingerprint of the documents of the write buffer that fulfil each requirement.
fn in_write_buffer(
    scores: Option<&(&Snapshot, DocumentScores)>,
    requirements: &[Requirement],
) -> Vec<(u64, u64, u64)> {
    let Some(first) = requirements.iter().find_map(Requirement::buffered) else {
        return Vec::new();
    };
    let scored = scores.into_iter().flat_map(|(snapshot, scores)| {
        let buffered = snapshot.buffered.iter();
        buffered.map(|buffered| (buffered.row, scores.of_buffered(buffered)))
    });
    let scored: BTreeMap<u64, u64> = scored.collect();
    let are_met = |row| requirements.iter().all(|one| one.is_met_by_buffered(row));
    first
        .filter(|&(row, _)| are_met(row))
        .map(|(row, fingerprint)| {
            let score = scored.get(&row).copied().unwrap_or_default();
            (score, row, fingerprint)
        })
        .collect()
}
