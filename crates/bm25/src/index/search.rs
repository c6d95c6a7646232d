//! The best documents of a query, best first, as many as are asked for.
//!
//! Block-max MaxScore (Turtle and Flood 1995; Ding and Suel 2011) in windows of documents: of a window's lists those that
//! even together cannot lift a document above the worst of the best so far are not read; documents that the others hold
//! are looked up in them only while they still can.
//!
//! What a score rests on (segments, statistics, the documents of the tail) is fixed when the search begins, so it goes on
//! from the last document that it gave: equal scores come in one order, of which no document is given twice or left out.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use reground_pulse::beat;

use crate::score::Parameters;

use super::dictionary::Entry;
use super::fault::{Fault, Result};
use super::meta::Meta;
use super::page::ROOM;
use super::score::{Saturation, Statistics, bound, from_impact, number, part, weight};
use super::segment::{Postings, Reader};
use super::store::Pages;
use super::tail;

/// Documents of a window: the norms of one are on one page.
const WINDOW: usize = ROOM / 2;
/// Words of its bits.
const WORDS: usize = WINDOW.div_ceil(64);

/// Of the pages that a whole scan reads, the part that is read before its first document is known: all lists are gone
/// through, and most blocks passed over.
pub const BEFORE_FIRST: f64 = 0.2;

/// A term of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    /// Its hash.
    pub hash: u64,
    /// How often the query has it.
    pub frequency: u32,
}

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

/// A document of the tail that has a term of the query.
#[derive(Clone, Debug)]
struct Recent {
    row: u64,
    fingerprint: u64,
    norm: u8,
    /// By term.
    frequencies: Vec<u32>,
}

/// Score and number of a document. The number is its place in the order of equals: the tail's first, then segment by
/// segment, in the order in which they are searched.
type Hit = (u64, Reverse<u64>);

/// A search that has begun.
pub struct Search {
    meta: Meta,
    terms: Vec<Term>,
    statistics: Statistics,
    weights: Vec<f64>,
    saturation: Saturation,
    recent: Vec<Recent>,
    /// By segment and term.
    entries: Vec<Vec<Option<Entry>>>,
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
    /// Fixes what scores rest on: these statistics, or those of the index as it is. `first` is how many documents are found
    /// at first.
    ///
    /// # Errors
    /// Damage.
    pub fn begin<P: Pages>(
        pages: &P,
        terms: &[Term],
        first: usize,
        fixed: Option<&Statistics>,
    ) -> Result<Self> {
        let mut meta = Meta::read(pages)?;
        meta.segments
            .sort_by_key(|segment| Reverse(segment.documents));
        let mut statistics = Statistics {
            documents: meta.documents(),
            length: meta.segments.iter().map(|segment| segment.length).sum(),
            frequencies: vec![0; terms.len()],
        };
        let mut entries = Vec::with_capacity(meta.segments.len());
        for segment in &meta.segments {
            let reader = Reader::new(pages, segment);
            let mut found = Vec::with_capacity(terms.len());
            for (term, frequency) in terms.iter().zip(&mut statistics.frequencies) {
                let entry = reader.find(term.hash)?;
                *frequency += entry.as_ref().map_or(0, |entry| u64::from(entry.documents));
                found.push(entry);
            }
            entries.push(found);
        }
        let mut recent = Vec::new();
        for tail in [&meta.spilling, &meta.tail] {
            tail::each(pages, tail, |document| {
                if document.removed {
                    return;
                }
                statistics.documents += 1;
                statistics.length += u64::from(super::norms::length(document.norm));
                let frequencies: Vec<u32> = terms
                    .iter()
                    .map(|term| document.frequency(term.hash))
                    .collect();
                if frequencies.iter().any(|&frequency| frequency > 0) {
                    for (total, &frequency) in statistics.frequencies.iter_mut().zip(&frequencies) {
                        *total += u64::from(frequency > 0);
                    }
                    recent.push(Recent {
                        row: document.row,
                        fingerprint: document.fingerprint,
                        norm: document.norm,
                        frequencies,
                    });
                }
            })?;
        }
        let statistics = fixed.cloned().unwrap_or(statistics);
        let parameters = parameters(&meta)?;
        let weights = weights(terms, &statistics);
        Ok(Self {
            saturation: Saturation::new(&parameters, statistics.average()),
            terms: terms.to_vec(),
            weights,
            statistics,
            recent,
            entries,
            batch: Vec::new(),
            last: None,
            size: first.max(1),
            over: terms.is_empty(),
            meta,
        })
    }

    /// What the scores rest on.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// The terms, in the order of the statistics.
    pub fn terms(&self) -> &[Term] {
        &self.terms
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
                let recent = &self.recent[document as usize];
                (recent.row, recent.fingerprint)
            }
            ordinal => Reader::new(pages, &self.meta.segments[ordinal - 1]).row(document)?,
        };
        Ok(Some(Found {
            row,
            fingerprint,
            score: number(score),
        }))
    }

    /// Finds the next batch.
    fn fill<P: Pages>(&mut self, pages: &P) -> Result<()> {
        let mut best = Best {
            hits: BinaryHeap::new(),
            size: self.size,
            after: self.last,
        };
        for (document, recent) in self.recent.iter().enumerate() {
            let parts = self.weights.iter().zip(&recent.frequencies);
            let score = parts
                .filter(|&(_, &frequency)| frequency > 0)
                .map(|(&weight, &frequency)| {
                    part(weight, self.saturation.of(frequency, recent.norm))
                })
                .sum();
            best.offer((score, Reverse(document as u64)));
        }
        for (ordinal, (segment, entries)) in
            self.meta.segments.iter().zip(&self.entries).enumerate()
        {
            let reader = Reader::new(pages, segment);
            let mut lists = Vec::new();
            for (entry, &weight) in entries.iter().zip(&self.weights) {
                if let Some(entry) = entry {
                    lists.push(List::new(reader.postings(entry.clone())?, weight));
                }
            }
            let average = segment.average_length();
            let mut scan = Scan {
                reader: &reader,
                saturation: &self.saturation,
                average_then: average,
                average_now: self.statistics.average(),
                ordinal: ordinal as u64 + 1,
                sums: vec![0; WINDOW],
                marks: [0; WORDS],
            };
            scan.segment(&mut lists, &mut best)?;
        }
        self.over = best.hits.len() < self.size;
        self.batch = best
            .hits
            .into_sorted_vec()
            .into_iter()
            .map(|Reverse(hit)| hit)
            .rev()
            .collect();
        self.size = self.size.saturating_mul(4);
        Ok(())
    }
}

/// The parameters of an index.
///
/// # Errors
/// Damage.
pub fn parameters(meta: &Meta) -> Result<Parameters> {
    Parameters::new(meta.k1, meta.b).map_err(|_| Fault::Corrupt {
        block: super::meta::META,
        what: "its k1 or b is impossible",
    })
}

/// The weights of a query's terms.
pub fn weights(terms: &[Term], statistics: &Statistics) -> Vec<f64> {
    let each = terms.iter().zip(&statistics.frequencies);
    each.map(|(term, &frequency)| weight(term.frequency, statistics.documents, frequency))
        .collect()
}

/// The best so far.
struct Best {
    /// The worst on top.
    hits: BinaryHeap<Reverse<Hit>>,
    size: usize,
    /// Those up to this one were given before.
    after: Option<Hit>,
}

impl Best {
    /// A score that is not enough: documents come in the order of their numbers, so one with the same is not better.
    fn enough(&self) -> u64 {
        match self.hits.peek() {
            Some(Reverse((score, _))) if self.hits.len() == self.size => *score,
            _ => 0,
        }
    }

    fn is_due(&self, hit: Hit) -> bool {
        self.after.is_none_or(|after| hit < after)
    }

    fn offer(&mut self, hit: Hit) {
        if !self.is_due(hit) {
            return;
        }
        if self.hits.len() < self.size {
            self.hits.push(Reverse(hit));
        } else if let Some(mut worst) = self.hits.peek_mut()
            && hit > worst.0
        {
            *worst = Reverse(hit);
        }
    }
}

/// A list of the query in a segment.
struct List<P: Pages> {
    postings: Postings<P>,
    weight: f64,
    /// The most that it adds in this window.
    most: u64,
}

impl<P: Pages> List<P> {
    fn new(postings: Postings<P>, weight: f64) -> Self {
        Self {
            postings,
            weight,
            most: 0,
        }
    }
}

/// The search of one segment.
struct Scan<'a, P: Pages> {
    reader: &'a Reader<'a, P>,
    saturation: &'a Saturation,
    average_then: f64,
    average_now: f64,
    ordinal: u64,
    /// Sums of the window's documents; 0 between windows.
    sums: Vec<u64>,
    /// A bit for each that has one.
    marks: [u64; WORDS],
}

impl<P: Pages> Scan<'_, P> {
    fn segment(&mut self, lists: &mut Vec<List<P>>, best: &mut Best) -> Result<()> {
        let documents = self.reader.segment.documents;
        let mut start = 0_u32;
        while start < documents {
            for list in lists.iter_mut() {
                list.postings.skip_to(self.reader, start)?;
            }
            lists.retain(|list| !list.postings.is_over());
            let Some(next) = lists.iter().map(|list| list.postings.next_possible()).min() else {
                break;
            };
            start = start.max(next) / WINDOW as u32 * WINDOW as u32;
            let end = start.saturating_add(WINDOW as u32).min(documents);
            for list in lists.iter_mut() {
                let impact = list.postings.most_before(self.reader, end)?;
                let most = from_impact(impact, self.average_then, self.average_now);
                list.most = bound(list.weight, most);
            }
            lists.sort_by_key(|list| list.most);
            self.window(lists, best, start, end)?;
            start = end;
        }
        Ok(())
    }

    /// Documents from `start` to `end`, with the lists by rising bound.
    fn window(
        &mut self,
        lists: &mut [List<P>],
        best: &mut Best,
        start: u32,
        end: u32,
    ) -> Result<()> {
        // The first so many lists together are not enough.
        let mut sums = Vec::with_capacity(lists.len() + 1);
        let mut sum = 0_u64;
        sums.push(0);
        for list in lists.iter() {
            sum = sum.saturating_add(list.most);
            sums.push(sum);
        }
        let enough = best.enough();
        let optional = sums
            .iter()
            .skip(1)
            .take_while(|&&sum| sum <= enough)
            .count();
        beat(64 * lists.len());
        if optional == lists.len() {
            return Ok(());
        }
        let (others, needed) = lists.split_at_mut(optional);
        let (reader, saturation, ordinal) = (self.reader, self.saturation, self.ordinal);
        let (totals, marks) = (&mut self.sums, &mut self.marks);
        reader.norms(start, |norms| {
            for list in needed.iter_mut() {
                while let Some((documents, frequencies)) =
                    list.postings.between(reader, start, end)?
                {
                    beat(documents.len());
                    for (&document, &frequency) in documents.iter().zip(frequencies) {
                        let at = (document - start) as usize;
                        let norm = norms.get(at).copied().unwrap_or_default();
                        totals[at] += part(list.weight, saturation.of(frequency, norm));
                        marks[at / 64] |= 1 << (at % 64);
                    }
                }
            }
            for (word, bits) in marks.iter_mut().enumerate() {
                let mut left = std::mem::take(bits);
                while left != 0 {
                    let at = word * 64 + left.trailing_zeros() as usize;
                    left &= left - 1;
                    let mut score = std::mem::take(&mut totals[at]);
                    let enough = best.enough();
                    if score.saturating_add(sums[optional]) <= enough {
                        continue;
                    }
                    let document = start + at as u32;
                    let norm = norms.get(at).copied().unwrap_or_default();
                    let mut possible = true;
                    for (list, &rest) in others.iter_mut().zip(&sums[1..]).rev() {
                        if score.saturating_add(rest) <= enough {
                            possible = false;
                            break;
                        }
                        let frequency = list.postings.frequency(reader, document)?;
                        beat(1);
                        if frequency > 0 {
                            score += part(list.weight, saturation.of(frequency, norm));
                        }
                    }
                    let hit = (score, Reverse(ordinal << 32 | u64::from(document)));
                    if possible
                        && score > enough
                        && best.is_due(hit)
                        && !reader.is_dead(document)?
                    {
                        best.offer(hit);
                    }
                }
            }
            Ok(())
        })?
    }
}
