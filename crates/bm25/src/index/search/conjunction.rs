//! The documents that match each of several queries, found by intersecting their postings.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use reground_interrupt::check_interrupt;

use crate::index::error::Result;
use crate::index::interrupts::WORK_PER_POSTING;
use crate::index::pages::store::Pages;
use crate::index::score::{Statistics, to_float};
use crate::index::search::document_scores::DocumentScores;
use crate::index::search::ranked_search::SearchHit;
use crate::index::search::snapshot::Snapshot;
use crate::index::segment::postings::Postings;
use crate::index::segment::reader::SegmentReader;

/// A query with its statistics.
pub type Weighted<'a> = (&'a Snapshot, &'a Statistics);

/// Returns the documents that contain a term of each of the `required` queries, by descending score for the `ordering` query, then by
/// row. All snapshots are of the same meta page.
///
/// # Errors
/// A damaged page.
pub fn matches<P: Pages>(
    pages: &P,
    ordering: Weighted<'_>,
    required: &[Weighted<'_>],
) -> Result<Vec<SearchHit>> {
    let scores = DocumentScores::new(ordering.0, ordering.1)?;
    let required: Vec<(&Snapshot, DocumentScores)> = required
        .iter()
        .map(|&(snapshot, statistics)| Ok((snapshot, DocumentScores::new(snapshot, statistics)?)))
        .collect::<Result<_>>()?;
    let mut found = in_write_buffer(ordering.0, &scores, &required);
    for (at, segment) in ordering.0.meta.segments.iter().enumerate() {
        let reader = SegmentReader::new(pages, segment);
        let documents = in_segment(&reader, at, &required)?;
        let entries = ordering.0.entries.get(at).map(Vec::as_slice);
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

/// Score, row and fingerprint of the documents of the write buffer that match each query.
fn in_write_buffer(
    ordering: &Snapshot,
    scores: &DocumentScores,
    required: &[(&Snapshot, DocumentScores)],
) -> Vec<(u64, u64, u64)> {
    let Some(((first, of_first), others)) = required.split_first() else {
        return Vec::new();
    };
    let by_row = |(snapshot, scores): (&Snapshot, &DocumentScores)| -> BTreeMap<u64, u64> {
        let buffered = snapshot.buffered.iter();
        let scored = buffered.map(|buffered| (buffered.row, scores.of_buffered(buffered)));
        scored.filter(|&(_, score)| score > 0).collect()
    };
    let others: Vec<_> = others
        .iter()
        .map(|(snapshot, scores)| by_row((snapshot, scores)))
        .collect();
    let order = by_row((ordering, scores));
    let matching = first.buffered.iter().filter(|buffered| {
        of_first.of_buffered(buffered) > 0
            && others.iter().all(|rows| rows.contains_key(&buffered.row))
    });
    matching
        .map(|buffered| {
            let score = order.get(&buffered.row).copied().unwrap_or_default();
            (score, buffered.row, buffered.fingerprint)
        })
        .collect()
}

/// The documents of segment number `at` that match each query, ascending.
fn in_segment<P: Pages>(
    reader: &SegmentReader<'_, P>,
    at: usize,
    required: &[(&Snapshot, DocumentScores)],
) -> Result<Vec<u32>> {
    let mut lists = Vec::new();
    for (snapshot, scores) in required {
        let entries = snapshot.entries.get(at).map(Vec::as_slice);
        let entries = scores.entries(entries.unwrap_or_default());
        let postings = entries.map(|(entry, _)| Postings::new(reader, entry.clone()));
        lists.push(postings.collect::<Result<Vec<_>>>()?);
    }
    // The rarest query is read completely; the others are asked for its documents.
    let count = |list: &Vec<Postings<P>>| -> u64 {
        list.iter()
            .map(|postings| u64::from(postings.documents()))
            .sum()
    };
    lists.sort_by_key(count);
    let mut lists = lists.into_iter();
    let mut documents: Vec<u32> = Vec::new();
    for mut postings in lists.next().into_iter().flatten() {
        while let Some((found, _)) = postings.between(reader, 0, u32::MAX)? {
            check_interrupt(WORK_PER_POSTING * found.len());
            documents.extend(found);
        }
    }
    documents.sort_unstable();
    documents.dedup();
    for mut list in lists {
        check_interrupt(WORK_PER_POSTING * documents.len());
        let mut kept = Vec::with_capacity(documents.len());
        for document in documents {
            for postings in &mut list {
                if postings.frequency(reader, document)? > 0 {
                    kept.push(document);
                    break;
                }
            }
        }
        documents = kept;
    }
    Ok(documents)
}
