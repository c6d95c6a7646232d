//! The scores of given rows, from the postings of a query's terms.

use std::collections::{BTreeMap, BTreeSet};

use reground_interrupt::check_interrupt;

use crate::index::error::Result;
use crate::index::interrupts::WORK_PER_POSTING;
use crate::index::pages::store::Pages;
use crate::index::score::{Saturation, Statistics, contribution, to_float};
use crate::index::search::snapshot::Snapshot;
use crate::index::segment::postings::Postings;
use crate::index::segment::reader::SegmentReader;
use crate::query_weight::contributes;

/// Returns the scores of rows; they equal those of a search with the same statistics. Rows without a term of the query are left out.
///
/// # Errors
/// A damaged page.
pub fn row_scores<P: Pages>(
    pages: &P,
    snapshot: &Snapshot,
    statistics: &Statistics,
    rows: &BTreeSet<u64>,
) -> Result<BTreeMap<u64, f64>> {
    let saturation = Saturation::new(&snapshot.meta.parameters()?, statistics.average_length());
    let weights = statistics.weights(snapshot.terms());
    let mut scores: BTreeMap<u64, u64> = BTreeMap::new();
    let mut add = |row, weight, frequency, norm| {
        if frequency > 0 && contributes(weight) {
            *scores.entry(row).or_default() += contribution(weight, saturation.of(frequency, norm));
        }
    };
    for buffered in &snapshot.buffered {
        if rows.contains(&buffered.row) {
            for (&weight, &frequency) in weights.iter().zip(&buffered.frequencies) {
                add(buffered.row, weight, frequency, buffered.norm);
            }
        }
    }
    for (segment, entries) in snapshot.meta.segments.iter().zip(&snapshot.entries) {
        let reader = SegmentReader::new(pages, segment);
        let documents = reader.documents_of(rows.iter().copied())?;
        for (entry, &weight) in entries.iter().zip(&weights) {
            let Some(entry) = entry else {
                continue;
            };
            let mut postings = Postings::new(&reader, entry.clone())?;
            check_interrupt(WORK_PER_POSTING * documents.len());
            for &(row, document) in &documents {
                let frequency = postings.frequency(&reader, document)?;
                add(row, weight, frequency, reader.norm(document)?);
            }
        }
    }
    Ok(scores
        .into_iter()
        .map(|(row, score)| (row, to_float(score)))
        .collect())
}
