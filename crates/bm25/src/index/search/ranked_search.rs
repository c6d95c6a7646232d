//! The best documents of a query, best first, as many as are asked for.
//!
//! What a score rests on is fixed when the search begins, so it goes on from the last document that it gave: equal scores
//! come in one order, of which no document is given twice or left out.

use std::cmp::Reverse;

use crate::index::error::Result;
use crate::index::pages::store::Pages;
use crate::index::score::{Saturation, Statistics, contribution, to_float};
use crate::index::search::max_score::SegmentScan;
use crate::index::search::posting_list::{PostingList, Scoring};
use crate::index::search::snapshot::Snapshot;
use crate::index::search::top_k::{RankKey, TopK};
use crate::index::segment::reader::SegmentReader;
use crate::query_weight::contributes;

/// Of the pages that a whole scan reads, the part that is read before its first document is known: all lists are gone
/// through, and most blocks passed over.
pub const STARTUP_COST_SHARE: f64 = 0.2;

/// Of the rows, the part that a scan without a query would give.
pub const FULL_SELECTIVITY: f64 = 1.0;

/// A document that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchHit {
    /// Address of its row.
    pub row: u64,
    /// Of its text.
    pub fingerprint: u64,
    /// Its score.
    pub score: f64,
}

/// A search that has begun.
pub struct Search {
    snapshot: Snapshot,
    weights: Vec<f64>,
    saturation: Saturation,
    /// Mean length of a document that the scores rest on.
    average: f64,
    /// What was found and not yet given, worst first.
    batch: Vec<RankKey>,
    /// The last one that was given.
    last: Option<RankKey>,
    /// How many are found at a time.
    size: usize,
    /// Whether there are no more.
    exhausted: bool,
}

impl Search {
    /// A search whose scores rest on `statistics`: those of the snapshot, or of several indexes together. `first` is how many
    /// documents are found at first.
    ///
    /// # Errors
    /// Damage.
    pub fn begin(snapshot: Snapshot, statistics: &Statistics, first: usize) -> Result<Self> {
        let average = statistics.average_length();
        Ok(Self {
            saturation: Saturation::new(&snapshot.meta.parameters()?, average),
            weights: statistics.weights(snapshot.terms()),
            average,
            batch: Vec::new(),
            last: None,
            size: first.max(1),
            exhausted: snapshot.terms().is_empty(),
            snapshot,
        })
    }

    /// The next best document.
    ///
    /// # Errors
    /// Damage.
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
            let contributions = self.weights.iter().zip(&buffered.frequencies);
            let score = contributions
                .filter(|&(&weight, &frequency)| contributes(weight) && frequency > 0)
                .map(|(&weight, &frequency)| {
                    contribution(weight, self.saturation.of(frequency, buffered.norm))
                })
                .sum();
            if score > 0 {
                top_k.offer((score, Reverse(document as u64)));
            }
        }
        let segments = self.snapshot.meta.segments.iter();
        for (ordinal, (segment, entries)) in (1..).zip(segments.zip(&self.snapshot.entries)) {
            let reader = SegmentReader::new(pages, segment);
            let scoring = Scoring {
                reader: &reader,
                saturation: &self.saturation,
                average: self.average,
            };
            let mut lists = Vec::new();
            for (entry, &weight) in entries.iter().zip(&self.weights) {
                if let Some(entry) = entry
                    && contributes(weight)
                {
                    lists.push(PostingList::new(&scoring, entry.clone(), weight)?);
                }
            }
            SegmentScan::new(scoring, ordinal).run(&mut lists, &mut top_k)?;
        }
        self.exhausted = top_k.count() < self.size;
        self.batch = top_k.into_worst_first();
        self.size = self.size.saturating_mul(4);
        Ok(())
    }
}
