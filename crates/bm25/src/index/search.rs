//! The best documents of a query, best first, as many as are asked for.
//!
//! What a score rests on is fixed when the search begins, so it goes on from the last document that it gave: equal scores
//! come in one order, of which no document is given twice or left out.

use std::cmp::Reverse;

use super::best::{Best, Hit};
use super::fault::Result;
use super::list::{List, Scoring};
use super::maxscore::Scan;
use super::score::{Saturation, Statistics, number, part};
use super::segment::Reader;
use super::snapshot::Snapshot;
use super::store::Pages;
use crate::asked::counts;

/// Of the pages that a whole scan reads, the part that is read before its first document is known: all lists are gone
/// through, and most blocks passed over.
pub const BEFORE_FIRST: f64 = 0.2;

/// Of the rows, the part that a scan without a query would give.
pub const WITHOUT_QUERY: f64 = 1.0;

/// A document that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
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
    batch: Vec<Hit>,
    /// The last one that was given.
    last: Option<Hit>,
    /// How many are found at a time.
    size: usize,
    /// Whether there are no more.
    over: bool,
}

impl Search {
    /// A search whose scores rest on `statistics`: those of the snapshot, or of several indexes together. `first` is how many
    /// documents are found at first.
    ///
    /// # Errors
    /// Damage.
    pub fn begin(snapshot: Snapshot, statistics: &Statistics, first: usize) -> Result<Self> {
        let average = statistics.average();
        Ok(Self {
            saturation: Saturation::new(&snapshot.meta.parameters()?, average),
            weights: statistics.weights(snapshot.terms()),
            average,
            batch: Vec::new(),
            last: None,
            size: first.max(1),
            over: snapshot.terms().is_empty(),
            snapshot,
        })
    }

    /// The next best document.
    ///
    /// # Errors
    /// Damage.
    pub fn next<P: Pages>(&mut self, pages: &P) -> Result<Option<Found>> {
        if self.batch.is_empty() && !self.over {
            self.fill(pages)?;
        }
        let Some(hit) = self.batch.pop() else {
            return Ok(None);
        };
        self.last = Some(hit);
        let (score, Reverse(number_of)) = hit;
        let document = (number_of & u64::from(u32::MAX)) as u32;
        let (row, fingerprint) = match (number_of >> 32) as usize {
            0 => {
                let recent = &self.snapshot.recent[document as usize];
                (recent.row, recent.fingerprint)
            }
            ordinal => {
                let segment = &self.snapshot.meta.segments[ordinal - 1];
                Reader::new(pages, segment).row(document)?
            }
        };
        Ok(Some(Found {
            row,
            fingerprint,
            score: number(score),
        }))
    }

    /// Finds the next batch.
    fn fill<P: Pages>(&mut self, pages: &P) -> Result<()> {
        let mut best = Best::new(self.size, self.last);
        for (document, recent) in self.snapshot.recent.iter().enumerate() {
            let parts = self.weights.iter().zip(&recent.frequencies);
            let score = parts
                .filter(|&(&weight, &frequency)| counts(weight) && frequency > 0)
                .map(|(&weight, &frequency)| {
                    part(weight, self.saturation.of(frequency, recent.norm))
                })
                .sum();
            if score > 0 {
                best.offer((score, Reverse(document as u64)));
            }
        }
        let segments = self.snapshot.meta.segments.iter();
        for (ordinal, (segment, entries)) in (1..).zip(segments.zip(&self.snapshot.entries)) {
            let reader = Reader::new(pages, segment);
            let scoring = Scoring {
                reader: &reader,
                saturation: &self.saturation,
                average: self.average,
            };
            let mut lists = Vec::new();
            for (entry, &weight) in entries.iter().zip(&self.weights) {
                if let Some(entry) = entry
                    && counts(weight)
                {
                    lists.push(List::new(&scoring, entry.clone(), weight)?);
                }
            }
            Scan::new(scoring, ordinal).run(&mut lists, &mut best)?;
        }
        self.over = best.count() < self.size;
        self.batch = best.worst_first();
        self.size = self.size.saturating_mul(4);
        Ok(())
    }
}
