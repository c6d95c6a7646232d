//! The best documents of a query, best first, as many as are asked for.
//!
//! Block-max MaxScore (Turtle and Flood 1995; Ding and Suel 2011) in windows of documents. The bounds of the blocks say
//! what a document of each window can score at most; the most promising windows come first, so that what is good enough is
//! soon known, and of the others those that cannot hold such a document are passed over. Of a window's lists those that even
//! together cannot lift a document above the worst of the best so far add only to documents that the others hold, and only
//! while these still can be good enough.
//!
//! What a score rests on (segments, statistics, the documents of the tail) is fixed when the search begins, so it goes on
//! from the last document that it gave: equal scores come in one order, of which no document is given twice or left out.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use reground_pulse::{STRETCH, beat};

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
/// Windows that come first: the most promising.
const FIRST: usize = 4;
/// A document is looked up in a list in the time that so many of its postings are read in.
const LOOKUP: usize = 8;
/// Work of a posting: interrupts are asked for every eight thousand of them.
pub(super) const POSTING: usize = STRETCH >> 13;
/// Frequencies whose parts are kept in a table.
const TABLED: usize = 4;
/// Documents up to which a list is read whole: it is soon done, and then its windows are known exactly.
const SHORT: u32 = 8192;
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
            let mut scan = Scan {
                reader: &reader,
                saturation: &self.saturation,
                growth: (segment.average_length(), self.statistics.average()),
                ordinal: ordinal as u64 + 1,
                sums: vec![0; WINDOW],
                marks: [0; WORDS],
            };
            let mut lists = Vec::new();
            for (entry, &weight) in entries.iter().zip(&self.weights) {
                if let Some(entry) = entry {
                    lists.push(scan.list(reader.postings(entry.clone())?, weight)?);
                }
            }
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
    /// A document with less is not good enough. One with as much may be, if its number is lower.
    fn enough(&self) -> u64 {
        match self.hits.peek() {
            Some(Reverse((score, _))) if self.hits.len() == self.size => *score,
            _ => 0,
        }
    }

    /// Whether it would be among them.
    fn wants(&self, hit: Hit) -> bool {
        self.after.is_none_or(|after| hit < after)
            && (self.hits.len() < self.size
                || self.hits.peek().is_some_and(|Reverse(worst)| hit > *worst))
    }

    fn offer(&mut self, hit: Hit) {
        if !self.wants(hit) {
            return;
        }
        if self.hits.len() < self.size {
            self.hits.push(Reverse(hit));
        } else if let Some(mut worst) = self.hits.peek_mut() {
            *worst = Reverse(hit);
        }
    }
}

/// A list of the query in a segment.
struct List<P: Pages> {
    weight: f64,
    postings: Held<P>,
    /// The most that it adds in this window.
    most: u64,
    /// How many of its postings are in a window, about.
    density: usize,
}

/// Its postings.
enum Held<P: Pages> {
    /// Where they are.
    Paged(Box<Paged<P>>),
    /// Read, with what each adds; and the first that was not passed.
    Read(Vec<(u32, u64)>, usize),
}

/// Postings that are read as they are needed.
struct Paged<P: Pages> {
    postings: Postings<P>,
    /// The bound that each impact stands for.
    bounds: [u64; 256],
    /// What a posting adds, by norm and frequency, from 1.
    parts: [[u64; TABLED]; 256],
}

impl<P: Pages> Paged<P> {
    #[inline]
    fn part(&self, weight: f64, saturation: &Saturation, frequency: u32, norm: u8) -> u64 {
        let tabled = self.parts[usize::from(norm)].get((frequency as usize).wrapping_sub(1));
        tabled
            .copied()
            .unwrap_or_else(|| part(weight, saturation.of(frequency, norm)))
    }
}

/// The search of one segment.
struct Scan<'a, P: Pages> {
    reader: &'a Reader<'a, P>,
    saturation: &'a Saturation,
    /// Mean lengths: the one that impacts were computed with, and today's.
    growth: (f64, f64),
    ordinal: u64,
    /// Sums of the window's documents; 0 between windows.
    sums: Vec<u64>,
    /// A bit for each that has one and can be good enough.
    marks: [u64; WORDS],
}

impl<P: Pages> Scan<'_, P> {
    fn list(&self, mut postings: Postings<P>, weight: f64) -> Result<List<P>> {
        let documents = postings.documents();
        let all = self.reader.segment.documents.max(1);
        let density = (u64::from(documents) * WINDOW as u64 / u64::from(all)) as usize;
        let postings = if documents <= SHORT {
            let mut read = Vec::with_capacity(documents as usize);
            while let Some((documents, frequencies)) = postings.between(self.reader, 0, u32::MAX)? {
                beat(POSTING * documents.len());
                for (&document, &frequency) in documents.iter().zip(frequencies) {
                    let norm = self.reader.norm(document)?;
                    read.push((document, part(weight, self.saturation.of(frequency, norm))));
                }
            }
            Held::Read(read, 0)
        } else {
            let (then, now) = self.growth;
            let byte = |number: usize| u8::try_from(number).unwrap_or(u8::MAX);
            Held::Paged(Box::new(Paged {
                postings,
                bounds: std::array::from_fn(|impact| {
                    bound(weight, from_impact(byte(impact), then, now))
                }),
                parts: std::array::from_fn(|norm| {
                    std::array::from_fn(|less_one| {
                        part(weight, self.saturation.of(less_one as u32 + 1, byte(norm)))
                    })
                }),
            }))
        };
        Ok(List {
            weight,
            postings,
            most: 0,
            density,
        })
    }

    /// The most that a document of each window can score.
    fn bounds(&self, lists: &[List<P>]) -> Result<Vec<u64>> {
        let windows = (self.reader.segment.documents as usize).div_ceil(WINDOW);
        let mut totals = vec![0_u64; windows];
        let mut own = vec![0_u64; windows];
        for list in lists {
            own.fill(0);
            match &list.postings {
                Held::Read(read, _) => {
                    for &(document, part) in read {
                        let most = &mut own[document as usize / WINDOW];
                        *most = part.max(*most);
                    }
                }
                Held::Paged(paged) => {
                    let mut from = 0;
                    paged.postings.each_block(self.reader, |last, impact| {
                        let bound = paged.bounds[usize::from(impact)];
                        let to = (last as usize / WINDOW).min(windows - 1);
                        for most in own.get_mut(from..=to).into_iter().flatten() {
                            *most = bound.max(*most);
                        }
                        from = (last as usize + 1) / WINDOW;
                    })?;
                }
            }
            beat(windows);
            for (total, most) in totals.iter_mut().zip(&own) {
                *total = total.saturating_add(*most);
            }
        }
        Ok(totals)
    }

    fn segment(&mut self, lists: &mut [List<P>], best: &mut Best) -> Result<()> {
        if lists.is_empty() {
            return Ok(());
        }
        let mut bounds = self.bounds(lists)?;
        let mut first: Vec<usize> = (0..bounds.len()).collect();
        if first.len() > FIRST {
            first.select_nth_unstable_by_key(FIRST, |&window| Reverse(bounds[window]));
            first.truncate(FIRST);
        }
        first.sort_unstable();
        for window in first {
            self.window(window, std::mem::take(&mut bounds[window]), lists, best)?;
        }
        for list in lists.iter_mut() {
            match &mut list.postings {
                Held::Read(_, at) => *at = 0,
                Held::Paged(paged) => paged.postings.restart(self.reader)?,
            }
        }
        for (window, most) in bounds.into_iter().enumerate() {
            self.window(window, most, lists, best)?;
        }
        Ok(())
    }

    /// Goes through a window, in which no document can score more than `most`.
    fn window(
        &mut self,
        window: usize,
        most: u64,
        lists: &mut [List<P>],
        best: &mut Best,
    ) -> Result<()> {
        if most == 0 || most < best.enough() {
            return Ok(());
        }
        let start = (window * WINDOW) as u32;
        let end = start
            .saturating_add(WINDOW as u32)
            .min(self.reader.segment.documents);
        for list in lists.iter_mut() {
            list.most = match &mut list.postings {
                Held::Read(read, at) => {
                    *at += read[*at..].partition_point(|&(document, _)| document < start);
                    let within = read[*at..]
                        .iter()
                        .take_while(|&&(document, _)| document < end);
                    within.map(|&(_, part)| part).max().unwrap_or_default()
                }
                Held::Paged(paged) => {
                    paged.postings.skip_to(self.reader, start)?;
                    paged.bounds[usize::from(paged.postings.impact_before(self.reader, end)?)]
                }
            };
        }
        lists.sort_by_key(|list| Reverse(list.most));
        // What this list and those after it can add.
        let mut rest: Vec<u64> = lists.iter().map(|list| list.most).collect();
        let mut sum = 0_u64;
        for most in rest.iter_mut().rev() {
            sum = sum.saturating_add(*most);
            *most = sum;
        }
        beat(16 * lists.len());
        let (reader, saturation, ordinal) = (self.reader, self.saturation, self.ordinal);
        let (sums, marks) = (&mut self.sums, &mut self.marks);
        reader.norms(start, |norms| {
            for (list, &rest) in lists.iter_mut().zip(&rest) {
                let enough = best.enough();
                if rest >= enough {
                    list.add(reader, saturation, start..end, norms, |place, part| {
                        sums[place] += part;
                        marks[place / 64] |= 1 << (place % 64);
                    })?;
                    continue;
                }
                // A document that none of the lists before holds is not good enough: only those that are marked count, and
                // of them those that this list and the ones after it can still lift.
                let held = keep(marks, sums, |sum| sum.saturating_add(rest) >= enough);
                if held == 0 {
                    break;
                }
                if held.saturating_mul(LOOKUP) > list.density {
                    list.add(reader, saturation, start..end, norms, |place, part| {
                        if sums[place] > 0 {
                            sums[place] += part;
                        }
                    })?;
                } else {
                    for (word, &bits) in marks.iter().enumerate() {
                        let mut left = bits;
                        while left != 0 {
                            let place = word * 64 + left.trailing_zeros() as usize;
                            left &= left - 1;
                            let norm = norms.get(place).copied().unwrap_or_default();
                            sums[place] +=
                                list.part(reader, saturation, start + place as u32, norm)?;
                        }
                    }
                    beat(POSTING * held);
                }
            }
            let mut enough = best.enough();
            for (word, bits) in marks.iter_mut().enumerate() {
                let mut left = std::mem::take(bits);
                while left != 0 {
                    let place = word * 64 + left.trailing_zeros() as usize;
                    left &= left - 1;
                    if sums[place] < enough {
                        continue;
                    }
                    let document = start + place as u32;
                    let hit = (sums[place], Reverse(ordinal << 32 | u64::from(document)));
                    if best.wants(hit) && !reader.is_dead(document)? {
                        best.offer(hit);
                        enough = best.enough();
                    }
                }
            }
            sums.fill(0);
            Ok(())
        })?
    }
}

/// Takes the mark off documents whose sum does not do; how many are left.
fn keep(marks: &mut [u64; WORDS], sums: &mut [u64], does: impl Fn(u64) -> bool) -> usize {
    let mut held = 0;
    for (word, bits) in marks.iter_mut().enumerate() {
        let mut left = *bits;
        while left != 0 {
            let place = word * 64 + left.trailing_zeros() as usize;
            if does(sums[place]) {
                held += 1;
            } else {
                *bits &= !(left & left.wrapping_neg());
                sums[place] = 0;
            }
            left &= left - 1;
        }
    }
    held
}

impl<P: Pages> List<P> {
    /// Hands over each posting of a window: its place there, and what it adds.
    #[inline]
    fn add(
        &mut self,
        reader: &Reader<'_, P>,
        saturation: &Saturation,
        documents: Range<u32>,
        norms: &[u8],
        mut hand: impl FnMut(usize, u64),
    ) -> Result<()> {
        match &mut self.postings {
            Held::Read(read, at) => {
                while let Some(&(document, part)) = read.get(*at)
                    && document < documents.end
                {
                    hand((document - documents.start) as usize, part);
                    *at += 1;
                }
            }
            Held::Paged(paged) => {
                let Paged {
                    postings, parts, ..
                } = &mut **paged;
                while let Some((found, frequencies)) =
                    postings.between(reader, documents.start, documents.end)?
                {
                    beat(POSTING * found.len());
                    for (&document, &frequency) in found.iter().zip(frequencies) {
                        let place = (document - documents.start) as usize;
                        let norm = norms.get(place).copied().unwrap_or_default();
                        let tabled =
                            parts[usize::from(norm)].get((frequency as usize).wrapping_sub(1));
                        let part = match tabled {
                            Some(&part) => part,
                            None => part(self.weight, saturation.of(frequency, norm)),
                        };
                        hand(place, part);
                    }
                }
            }
        }
        Ok(())
    }

    /// What it adds to a document; they are asked for in rising order within a window.
    fn part(
        &mut self,
        reader: &Reader<'_, P>,
        saturation: &Saturation,
        document: u32,
        norm: u8,
    ) -> Result<u64> {
        match &mut self.postings {
            Held::Read(read, at) => {
                while read.get(*at).is_some_and(|&(found, _)| found < document) {
                    *at += 1;
                }
                let found = read.get(*at).filter(|&&(found, _)| found == document);
                Ok(found.map_or(0, |&(_, part)| part))
            }
            Held::Paged(paged) => Ok(match paged.postings.frequency(reader, document)? {
                0 => 0,
                frequency => paged.part(self.weight, saturation, frequency, norm),
            }),
        }
    }
}
