//! Finds the best documents of one segment with block-max MaxScore (Turtle and Flood 1995; Ding and Suel 2011) over windows of
//! documents.
//!
//! The bounds of the blocks give the maximum score in each window. The most promising windows are scored first, which raises
//! the threshold early. Windows whose maximum is below the threshold are skipped. Within a window, the lists with the smallest
//! contributions cannot reach the threshold even together. They are not scanned fully: they only add to the candidates, which are
//! documents found in the other lists that can still reach the threshold. Candidates that do not meet a narrow requirement are
//! removed before.

use std::cmp::Reverse;
use std::ops::Range;

use reground_interrupt::check_interrupt;

use crate::index::error::Result;
use crate::index::interrupts::WORK_PER_POSTING;
use crate::index::pages::store::Pages;
use crate::index::search::posting_list::{LOOKUP_COST, PostingList, Scoring};
use crate::index::search::requirement::SegmentRequirements;
use crate::index::search::top_k::TopK;
use crate::index::search::window::{Positions, WINDOW};

/// Number of promising windows that are scored first.
const PROMISING_WINDOWS: usize = 4;

/// The search of one segment.
pub struct SegmentScan<'a, P: Pages> {
    scoring: Scoring<'a, P>,
    /// Position of the segment in the search order.
    ordinal: u64,
    /// What the documents must have besides.
    required: SegmentRequirements<P>,
    /// Partial scores of the window's documents, while several lists are added; all 0 otherwise.
    sums: Vec<u64>,
    /// The documents that have a partial score.
    marks: Positions,
    /// Documents that can reach the threshold, in order: position in the window and partial score.
    candidates: Vec<(usize, u64)>,
}

/// A list in a window.
struct BoundedList<'l, P: Pages> {
    list: &'l mut PostingList<P>,
    /// Maximum contribution of the list in the window.
    bound: u64,
    /// Maximum contribution of this list and all lists after it.
    rest: u64,
}

impl<'a, P: Pages> SegmentScan<'a, P> {
    /// Creates the scan of a segment for documents that meet the requirements. `ordinal` is its position in the search order.
    pub fn new(scoring: Scoring<'a, P>, ordinal: u64, required: SegmentRequirements<P>) -> Self {
        Self {
            scoring,
            ordinal,
            required,
            sums: vec![0; WINDOW],
            marks: Positions::new(),
            candidates: Vec::new(),
        }
    }

    /// Offers every document that can be among the best to `top_k`.
    ///
    /// # Errors
    /// A damaged page.
    pub fn run(&mut self, lists: &mut [PostingList<P>], top_k: &mut TopK) -> Result<()> {
        if lists.is_empty() {
            return Ok(());
        }
        let mut bounds = self.bounds(lists)?;
        let mut first: Vec<usize> = (0..bounds.len()).collect();
        if first.len() > PROMISING_WINDOWS {
            first.select_nth_unstable_by_key(PROMISING_WINDOWS, |&window| Reverse(bounds[window]));
            first.truncate(PROMISING_WINDOWS);
        }
        first.sort_unstable();
        for window in first {
            self.window(window, std::mem::take(&mut bounds[window]), lists, top_k)?;
        }
        for list in lists.iter_mut() {
            list.restart(&self.scoring)?;
        }
        self.required.restart(self.scoring.reader)?;
        for (window, bound) in bounds.into_iter().enumerate() {
            self.window(window, bound, lists, top_k)?;
        }
        Ok(())
    }

    /// Returns the maximum score of each window.
    fn bounds(&self, lists: &[PostingList<P>]) -> Result<Vec<u64>> {
        let windows = (self.scoring.reader.segment.documents as usize).div_ceil(WINDOW);
        let mut totals = vec![0_u64; windows];
        let mut own = vec![0_u64; windows];
        for list in lists {
            own.fill(0);
            list.bounds(&self.scoring, &mut own)?;
            check_interrupt(windows);
            for (total, bound) in totals.iter_mut().zip(&own) {
                *total = total.saturating_add(*bound);
            }
        }
        Ok(totals)
    }

    /// Scores a window, in which no document has a score above `bound`.
    fn window(
        &mut self,
        window: usize,
        bound: u64,
        lists: &mut [PostingList<P>],
        top_k: &mut TopK,
    ) -> Result<()> {
        let start = (window * WINDOW) as u32;
        let threshold = top_k.threshold(self.number(start));
        if bound == 0 || bound < threshold {
            return Ok(());
        }
        let end = start
            .saturating_add(WINDOW as u32)
            .min(self.scoring.reader.segment.documents);
        let mut lists = self.bounded(lists, start, end)?;
        // A document that occurs in none of the first lists cannot reach the threshold.
        let first = lists.partition_point(|bounded| bounded.rest >= threshold);
        let (first, others) = lists.split_at_mut(first);
        self.scoring.reader.norms(start, |norms| {
            let rest = others.first().map_or(0, |bounded| bounded.rest);
            let needed = threshold.saturating_sub(rest).max(1);
            match first {
                [only] => self.collect(only.list, start..end, norms, needed)?,
                _ => self.collect_sums(first, start..end, norms, needed)?,
            }
            self.required
                .retain_narrow(self.scoring.reader, start..end, &mut self.candidates)?;
            for BoundedList { list, rest, .. } in others {
                let needed = threshold.saturating_sub(*rest);
                self.candidates.retain(|&(_, sum)| sum >= needed);
                if self.candidates.is_empty() {
                    break;
                }
                self.add(list, start..end, norms)?;
            }
            self.offer(start, top_k)
        })?
    }

    /// Makes candidates of the documents of a list with a contribution of at least `needed`.
    fn collect(
        &mut self,
        list: &mut PostingList<P>,
        window: Range<u32>,
        norms: &[u8],
        needed: u64,
    ) -> Result<()> {
        let candidates = &mut self.candidates;
        candidates.clear();
        list.add(&self.scoring, window, norms, |position, contribution| {
            if contribution >= needed {
                candidates.push((position, contribution));
            }
        })
    }

    /// Makes candidates of the documents of several lists with a sum of at least `needed`.
    fn collect_sums(
        &mut self,
        lists: &mut [BoundedList<'_, P>],
        window: Range<u32>,
        norms: &[u8],
        needed: u64,
    ) -> Result<()> {
        let (sums, marks) = (&mut self.sums, &mut self.marks);
        for BoundedList { list, .. } in lists {
            list.add(
                &self.scoring,
                window.clone(),
                norms,
                |position, contribution| {
                    sums[position] += contribution;
                    marks.insert(position);
                },
            )?;
        }
        self.candidates.clear();
        for position in marks.iter() {
            let sum = std::mem::take(&mut sums[position]);
            if sum >= needed {
                self.candidates.push((position, sum));
            }
        }
        marks.clear();
        Ok(())
    }

    /// Adds the contributions of a list to the candidates.
    fn add(&mut self, list: &mut PostingList<P>, window: Range<u32>, norms: &[u8]) -> Result<()> {
        let scoring = &self.scoring;
        if self.candidates.len().saturating_mul(LOOKUP_COST) > list.density {
            let mut candidates = self.candidates.iter_mut().peekable();
            return list.add(scoring, window, norms, |position, contribution| {
                while candidates.next_if(|(at, _)| *at < position).is_some() {}
                if let Some((_, sum)) = candidates.next_if(|(at, _)| *at == position) {
                    *sum += contribution;
                }
            });
        }
        check_interrupt(WORK_PER_POSTING * self.candidates.len());
        for (position, sum) in &mut self.candidates {
            let norm = norms.get(*position).copied().unwrap_or_default();
            *sum += list.contribution(scoring, window.start + *position as u32, norm)?;
        }
        Ok(())
    }

    /// The number of a document among all segments.
    fn number(&self, document: u32) -> u64 {
        self.ordinal << 32 | u64::from(document)
    }

    /// Offers the candidates of the window that begins at document `start`. They meet the rarest requirement if it is narrow.
    fn offer(&mut self, start: u32, top_k: &mut TopK) -> Result<()> {
        let reader = self.scoring.reader;
        for &(position, sum) in &self.candidates {
            let document = start + position as u32;
            let hit = (sum, Reverse(self.number(document)));
            if top_k.accepts(hit)
                && self.required.others_are_met(reader, document)?
                && !reader.is_dead(document)?
            {
                top_k.offer(hit);
            }
        }
        Ok(())
    }

    /// Returns the lists for a window, by descending maximum contribution.
    fn bounded<'l>(
        &self,
        lists: &'l mut [PostingList<P>],
        start: u32,
        end: u32,
    ) -> Result<Vec<BoundedList<'l, P>>> {
        check_interrupt(16 * lists.len());
        let mut bounded = Vec::with_capacity(lists.len());
        for list in lists {
            let bound = list.enter(&self.scoring, start..end)?;
            bounded.push(BoundedList {
                list,
                bound,
                rest: 0,
            });
        }
        bounded.sort_by_key(|bounded| Reverse(bounded.bound));
        let mut sum = 0_u64;
        for BoundedList { bound, rest, .. } in bounded.iter_mut().rev() {
            sum = sum.saturating_add(*bound);
            *rest = sum;
        }
        Ok(bounded)
    }
}
