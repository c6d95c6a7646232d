//! Returns the best documents of a query, one after the other.
//!
//! The statistics are fixed when the search begins, so a search can continue after the last document that it returned, also with another
//! snapshot. No document is returned twice or omitted.

use std::cmp::Reverse;

use crate::index::error::Result;
use crate::index::pages::store::Pages;
use crate::index::score::{Statistics, to_float};
use crate::index::search::document_scores::DocumentScores;
use crate::index::search::max_score::SegmentScan;
use crate::index::search::posting_list::{PostingList, Scoring};
use crate::index::search::reached::Reached;
use crate::index::search::requirement::{Requirement, SegmentRequirements};
use crate::index::search::snapshot::Snapshot;
use crate::index::search::top_k::{RankKey, TopK};
use crate::index::segment::dictionary::Entry;
use crate::index::segment::reader::SegmentReader;

/// Share of the pages of a full scan that are read before the first document is found: all lists are traversed, but most
/// blocks are skipped.
pub const STARTUP_COST_SHARE: f64 = 0.2;

/// Selectivity of a scan without a query.
pub const FULL_SELECTIVITY: f64 = 1.0;

/// Factor by which the number of documents grows from batch to batch. Each batch repeats the search.
const GROWTH: usize = 16;

/// Number of documents whose rows are read at a time: at first, and at most. The statement may end before it needs more.
const FIRST_READS: usize = 1024;
const MAX_READS: usize = 16_384;

/// Returns the number of documents in the first batch. Some rows can be invisible, or not meet another condition, so the batch has
/// some more than are expected to be fetched.
fn first_batch(expected: usize) -> usize {
    expected.saturating_add(expected / 8 + 8)
}

/// Scoring one given document costs as much as reading this many postings of each list.
const DOCUMENT_COST: u64 = 4;

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
    requirements: Vec<Requirement>,
    /// Mean document length for the scores.
    average: f64,
    /// Documents that were found, and whose rows were not read yet, worst first.
    batch: Vec<RankKey>,
    /// Documents that were not returned yet, better than those of the batch, worst first.
    located: Vec<(RankKey, SearchHit)>,
    /// The documents that were returned.
    reached: Reached,
    /// Number of documents in the next batch.
    size: usize,
    /// Number of documents whose rows are read next.
    reads: usize,
    /// Whether there are no more documents.
    exhausted: bool,
    /// Number of documents that were returned; `None` after the last one.
    fetched: Option<usize>,
}

impl Search {
    /// Begins a search. `statistics` are those of the snapshot, or the sum of several indexes. `expected` is the number of rows that
    /// the statement is expected to fetch; it changes only the time.
    ///
    /// # Errors
    /// A damaged page.
    pub fn begin(snapshot: Snapshot, statistics: &Statistics, expected: usize) -> Result<Self> {
        Ok(Self {
            scores: DocumentScores::new(&snapshot, statistics)?,
            requirements: Vec::new(),
            average: statistics.average_length(),
            batch: Vec::new(),
            located: Vec::new(),
            reached: Reached::default(),
            size: first_batch(expected),
            reads: expected.clamp(1, FIRST_READS),
            exhausted: snapshot.terms().is_empty(),
            fetched: Some(0),
            snapshot,
        })
    }

    /// Restricts the search to documents that fulfil each requirement. Their snapshots are of the meta page of the search.
    #[must_use]
    pub fn requiring(self, requirements: Vec<Requirement>) -> Self {
        Self {
            requirements,
            ..self
        }
    }

    /// Goes on in a later snapshot, with its requirements, after an error of [`Search::next`]: it has no rows left that were read. Both are
    /// of the same query.
    pub fn resume(&mut self, snapshot: Snapshot, requirements: Vec<Requirement>) {
        self.snapshot = snapshot;
        self.requirements = requirements;
        self.reached.renumber();
        if !self.batch.is_empty() {
            self.batch.clear();
            self.exhausted = false;
            self.size = (self.size / GROWTH).max(1);
        }
    }

    /// Returns the next best document.
    ///
    /// # Errors
    /// A damaged page. [`IndexError::Reused`](crate::index::IndexError::Reused) if maintenance has reused a page: the search goes on after
    /// [`Search::resume`].
    pub fn next<P: Pages>(&mut self, pages: &P) -> Result<Option<SearchHit>> {
        loop {
            if self.located.is_empty() {
                if self.batch.is_empty() && !self.exhausted {
                    self.fill(pages)?;
                }
                self.locate(pages)?;
            }
            let Some((key, hit)) = self.located.pop() else {
                self.fetched = None;
                return Ok(None);
            };
            if self.reached.advance(key, hit.row) {
                self.fetched = self.fetched.map(|fetched| fetched + 1);
                return Ok(Some(hit));
            }
        }
    }

    /// Returns how many documents were fetched from the search. `None` if it has run out of documents: then the number does not tell
    /// how many the statement wanted.
    #[must_use]
    pub fn fetched(&self) -> Option<usize> {
        self.fetched
    }

    /// Reads the rows of the best documents of the batch, in the order of the documents: rows on the same page are read together. Nothing
    /// has changed after an error.
    fn locate<P: Pages>(&mut self, pages: &P) -> Result<()> {
        let rest = self.batch.len().saturating_sub(self.reads);
        let mut best = self.batch[rest..].to_vec();
        best.sort_unstable_by_key(|&(_, Reverse(number))| number);
        let mut located = Vec::with_capacity(best.len());
        for documents in best.chunk_by(|&(_, Reverse(a)), &(_, Reverse(b))| a >> 32 == b >> 32) {
            self.locate_in_segment(pages, documents, &mut located)?;
        }
        located.sort_unstable_by_key(|&(key, _)| key);
        self.batch.truncate(rest);
        self.located = located;
        self.reads = (self.reads * 2).min(MAX_READS);
        Ok(())
    }

    /// Reads the rows of documents of one segment, or of the write buffer.
    fn locate_in_segment<P: Pages>(
        &self,
        pages: &P,
        documents: &[RankKey],
        located: &mut Vec<(RankKey, SearchHit)>,
    ) -> Result<()> {
        let ordinal = documents
            .first()
            .map_or(0, |&(_, Reverse(first))| first >> 32) as usize;
        let mut add = |key: RankKey, row, fingerprint| {
            let score = to_float(key.0);
            let hit = SearchHit {
                row,
                fingerprint,
                score,
            };
            located.push((key, hit));
        };
        let Some(at) = ordinal.checked_sub(1) else {
            for &key in documents {
                let buffered = &self.snapshot.buffered[document_of(key) as usize];
                add(key, buffered.row, buffered.fingerprint);
            }
            return Ok(());
        };
        let numbers: Vec<u32> = documents.iter().map(|&key| document_of(key)).collect();
        SegmentReader::new(pages, &self.snapshot.meta.segments[at]).each_row(
            &numbers,
            |at, row, fingerprint| {
                add(documents[at], row, fingerprint);
            },
        )
    }

    /// Finds the next batch. Nothing has changed after an error.
    fn fill<P: Pages>(&mut self, pages: &P) -> Result<()> {
        let mut top_k = TopK::new(self.size, self.reached.after());
        for (document, buffered) in self.snapshot.buffered.iter().enumerate() {
            let score = self.scores.of_buffered(buffered);
            let mut requirements = self.requirements.iter();
            if score > 0 && requirements.all(|required| required.is_met_by_buffered(buffered.row)) {
                top_k.offer((score, Reverse(document as u64)));
            }
        }
        for at in 0..self.snapshot.meta.segments.len() {
            self.search_segment(pages, at, &mut top_k)?;
        }
        self.exhausted = top_k.count() < self.size;
        self.batch = top_k.into_worst_first();
        self.size = self.size.saturating_mul(GROWTH);
        Ok(())
    }

    /// Offers the best documents of segment number `at`.
    fn search_segment<P: Pages>(&self, pages: &P, at: usize, top_k: &mut TopK) -> Result<()> {
        let (Some(segment), Some(entries)) = (
            self.snapshot.meta.segments.get(at),
            self.snapshot.entries.get(at),
        ) else {
            return Ok(());
        };
        let ordinal = at as u64 + 1;
        let reader = SegmentReader::new(pages, segment);
        let required = SegmentRequirements::open(&reader, at, &self.requirements)?;
        if required
            .rarest()
            .is_some_and(|rarest| self.is_rare(rarest, entries))
        {
            let documents = required.documents(&reader)?;
            let scored = self.scores.of_documents(&reader, entries, &documents)?;
            for (document, score) in documents.into_iter().zip(scored) {
                let hit = (score, Reverse(ordinal << 32 | u64::from(document)));
                if score > 0 && top_k.accepts(hit) && !reader.is_dead(document)? {
                    top_k.offer(hit);
                }
            }
            return Ok(());
        }
        let scoring = Scoring {
            reader: &reader,
            saturation: self.scores.saturation(),
            average: self.average,
        };
        let mut lists = Vec::new();
        for (entry, weight) in self.scores.entries(entries) {
            lists.push(PostingList::new(&scoring, entry.clone(), weight)?);
        }
        SegmentScan::new(scoring, ordinal, required).run(&mut lists, top_k)
    }

    /// Whether it is cheaper to score this many documents than to read the lists of the query.
    fn is_rare(&self, documents: u64, entries: &[Option<Entry>]) -> bool {
        let (mut lists, mut postings) = (0, 0);
        for (entry, _) in self.scores.entries(entries) {
            lists += 1;
            postings += u64::from(entry.documents);
        }
        documents.saturating_mul(lists * DOCUMENT_COST) < postings
    }
}

/// The number of a document in its segment, or in the write buffer.
fn document_of((_, Reverse(number)): RankKey) -> u32 {
    (number & u64::from(u32::MAX)) as u32
}
