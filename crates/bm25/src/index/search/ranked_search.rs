//! Returns the best documents of a query, one after the other.
//!
//! The snapshot and the statistics are fixed when the search begins, so a search can continue after the last document that it
//! returned. Equal scores have a fixed order; no document is returned twice or omitted.

use std::cmp::Reverse;

use crate::index::error::Result;
use crate::index::pages::store::Pages;
use crate::index::score::{Statistics, to_float};
use crate::index::search::document_scores::DocumentScores;
use crate::index::search::max_score::SegmentScan;
use crate::index::search::posting_list::{PostingList, Scoring};
use crate::index::search::snapshot::Snapshot;
use crate::index::search::top_k::{RankKey, TopK};
use crate::index::segment::reader::SegmentReader;

/// Share of the pages of a full scan that are read before the first document is found: all lists are traversed, but most
/// blocks are skipped.
pub const STARTUP_COST_SHARE: f64 = 0.2;

/// Selectivity of a scan without a query.
pub const FULL_SELECTIVITY: f64 = 1.0;

/// Factor by which the number of documents grows from batch to batch. A scan does not know its LIMIT, and each batch repeats the search.
const GROWTH: usize = 16;

/// A document that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchHit {
    /// Address of its row.
    pub row: u64,
    /// Fingerprint of its content.
    pub fingerprint: u64,
    /// BM25 score.
    pub score: f64,
}

/// A search in progress.
pub struct Search {
    snapshot: Snapshot,
    scores: DocumentScores,
    /// Mean document length for the scores.
    average: f64,
    /// Documents that were found but not returned yet, worst first.
    batch: Vec<RankKey>,
    /// The last document that was returned.
    last: Option<RankKey>,
    /// Number of documents in the next batch.
    size: usize,
    /// Whether there are no more documents.
    exhausted: bool,
}

impl Search {
    /// Begins a search. `statistics` are those of the snapshot, or the sum of several indexes. `first` is the number of
    /// documents in the first batch.
    ///
    /// # Errors
    /// A damaged page.
    pub fn begin(snapshot: Snapshot, statistics: &Statistics, first: usize) -> Result<Self> {
        Ok(Self {
            scores: DocumentScores::new(&snapshot, statistics)?,
            average: statistics.average_length(),
            batch: Vec::new(),
            last: None,
            size: first.max(1),
            exhausted: snapshot.terms().is_empty(),
            snapshot,
        })
    }

    /// Returns the next best document.
    ///
    /// # Errors
    /// A damaged page.
    pub fn next<P: Pages>(&mut self, pages: &P) -> Result<Option<SearchHit>> {
        if self.batch.is_empty() && !self.exhausted {
            self.fill(pages)?;
        }
        let Some(hit) = self.batch.pop() else {
            return Ok(None);
        };
        self.last = Some(hit);
        let (score, Reverse(document_number)) = hit;
        let document = (document_number & u64::from(u32::MAX)) as u32;
        let (row, fingerprint) = match (document_number >> 32) as usize {
            0 => {
                let buffered = &self.snapshot.buffered[document as usize];
                (buffered.row, buffered.fingerprint)
            }
            ordinal => {
                let segment = &self.snapshot.meta.segments[ordinal - 1];
                SegmentReader::new(pages, segment).row(document)?
            }
        };
        Ok(Some(SearchHit {
            row,
            fingerprint,
            score: to_float(score),
        }))
    }

    /// Finds the next batch.
    fn fill<P: Pages>(&mut self, pages: &P) -> Result<()> {
        let mut top_k = TopK::new(self.size, self.last);
        for (document, buffered) in self.snapshot.buffered.iter().enumerate() {
            let score = self.scores.of_buffered(buffered);
            if score > 0 {
                top_k.offer((score, Reverse(document as u64)));
            }
        }
        let segments = self.snapshot.meta.segments.iter();
        for (ordinal, (segment, entries)) in (1..).zip(segments.zip(&self.snapshot.entries)) {
            let reader = SegmentReader::new(pages, segment);
            let scoring = Scoring {
                reader: &reader,
                saturation: self.scores.saturation(),
                average: self.average,
            };
            let mut lists = Vec::new();
            for (entry, weight) in self.scores.entries(entries) {
                lists.push(PostingList::new(&scoring, entry.clone(), weight)?);
            }
            SegmentScan::new(scoring, ordinal).run(&mut lists, &mut top_k)?;
        }
        self.exhausted = top_k.count() < self.size;
        self.batch = top_k.into_worst_first();
        self.size = self.size.saturating_mul(GROWTH);
        Ok(())
    }
}
