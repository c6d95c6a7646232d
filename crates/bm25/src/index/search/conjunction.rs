//! The documents that fulfil each of several requirements, found by intersecting their postings.

use std::cmp::Reverse;

use crate::index::error::Result;
use crate::index::pages::store::Pages;
use crate::index::score::{Statistics, to_float};
use crate::index::search::document_scores::DocumentScores;
use crate::index::search::ranked_search::SearchHit;
use crate::index::search::requirement::{Requirement, SegmentRequirements};
use crate::index::search::snapshot::Snapshot;
use crate::index::segment::reader::SegmentReader;

/// Returns the documents that fulfil each requirement, by descending score for the query of `ordering`, then by row. Documents without
/// a word of that query have the score 0. There are none if documents are only excluded. The snapshots of the requirements are of the
/// same meta page.
///
/// # Errors
/// A damaged page.
pub fn matches<P: Pages>(
    pages: &P,
    ordering: &Snapshot,
    statistics: &Statistics,
    requirements: &[Requirement],
) -> Result<Vec<SearchHit>> {
    let scores = DocumentScores::new(ordering, statistics)?;
    let mut found = in_write_buffer(ordering, &scores, requirements);
    for (at, segment) in ordering.meta.segments.iter().enumerate() {
        let reader = SegmentReader::new(pages, segment);
        let required = SegmentRequirements::open(&reader, at, requirements)?;
        let documents = required.documents(&reader)?;
        let entries = ordering.entries.get(at).map(Vec::as_slice);
        let scored = scores.of_documents(&reader, entries.unwrap_or_default(), &documents)?;
        for (document, score) in documents.into_iter().zip(scored) {
            if !reader.is_dead(document)? {
                let (row, fingerprint) = reader.row(document)?;
                found.push((score, row, fingerprint));
            }
        }
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
    ordering: &Snapshot,
    scores: &DocumentScores,
    requirements: &[Requirement],
) -> Vec<(u64, u64, u64)> {
    let Some(first) = requirements.iter().find_map(Requirement::buffered) else {
        return Vec::new();
    };
    let are_met = |row| requirements.iter().all(|one| one.is_met_by_buffered(row));
    first
        .filter(|&(row, _)| are_met(row))
        .map(|(row, fingerprint)| {
            let mut buffered = ordering.buffered.iter();
            let buffered = buffered.find(|buffered| buffered.row == row);
            let score = buffered.map_or(0, |buffered| scores.of_buffered(buffered));
            (score, row, fingerprint)
        })
        .collect()
}
