//! The scores of given rows, from the postings of a query's terms.

use std::collections::{BTreeMap, BTreeSet};

use crate::index::error::Result;
use crate::index::pages::store::Pages;
use crate::index::score::{Statistics, to_float};
use crate::index::search::document_scores::DocumentScores;
use crate::index::search::snapshot::Snapshot;
use crate::index::segment::reader::SegmentReader;

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
    let scores = DocumentScores::new(snapshot, statistics)?;
    let buffered = snapshot.buffered.iter();
    let mut found: Vec<(u64, u64)> = buffered
        .filter(|buffered| rows.contains(&buffered.row))
        .map(|buffered| (buffered.row, scores.of_buffered(buffered)))
        .collect();
    for (segment, entries) in snapshot.meta.segments.iter().zip(&snapshot.entries) {
        let reader = SegmentReader::new(pages, segment);
        let (known, documents): (Vec<u64>, Vec<u32>) = reader
            .documents_of(rows.iter().copied())?
            .into_iter()
            .unzip();
        let scored = scores.of_documents(&reader, entries, &documents)?;
        found.extend(known.into_iter().zip(scored));
    }
    let found = found.into_iter().filter(|&(_, score)| score > 0);
    Ok(found.map(|(row, score)| (row, to_float(score))).collect())
}
