//! Finds the best documents of one segment with block-max MaxScore (Turtle and Flood 1995; Ding and Suel 2011) over windows of
//! documents.
//!
//! The bounds of the blocks give the maximum score in each window. The most promising windows are scored first, which raises
//! the threshold early. Windows whose maximum is below the threshold are skipped. Within a window, the lists with the smallest
//! contributions cannot reach the threshold even together. They are not scanned fully: they only add to documents found in the
//! other lists, as long as these documents can still reach the threshold.

use std::cmp::Reverse;

use reground_interrupt::check_interrupt;

use crate::index::error::Result;
use crate::index::interrupts::WORK_PER_POSTING;
use crate::index::pages::store::Pages;
use crate::index::search::posting_list::{PostingList, Scoring, WINDOW};
use crate::index::search::requirement::SegmentRequirements;
use crate::index::search::top_k::TopK;

/// Number of promising windows that are scored first.
const PROMISING_WINDOWS: usize = 4;
/// Looking up one document in a list costs as much as reading this many postings.
const LOOKUP_COST: usize = 8;
/// Number of 64-bit words for the bits of a window.
const MARK_WORDS: usize = WINDOW.div_ceil(64);

/// The search of one segment.
pub struct SegmentScan<'a, P: Pages> {
    scoring: Scoring<'a, P>,
    /// Position of the segment in the search order.
    ordinal: u64,
    /// What the documents must have besides.
    required: SegmentRequirements<P>,
    /// Partial scores of the window's documents; all 0 between windows.
    sums: Vec<u64>,
    /// One bit for each document that has a partial score and can reach the threshold.
    marks: [u64; MARK_WORDS],
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
            marks: [0; MARK_WORDS],
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
        if bound == 0 || bound < top_k.threshold() {
            return Ok(());
        }
        let start = (window * WINDOW) as u32;
        let end = start
            .saturating_add(WINDOW as u32)
            .min(self.scoring.reader.segment.documents);
        let mut lists = self.bounded(lists, start, end)?;
        let (scoring, ordinal) = (&self.scoring, self.ordinal);
        let (sums, marks, required) = (&mut self.sums, &mut self.marks, &mut self.required);
        scoring.reader.norms(start, |norms| {
            for BoundedList { list, rest, .. } in &mut lists {
                let (rest, threshold) = (*rest, top_k.threshold());
                if rest >= threshold {
                    list.add(scoring, start..end, norms, |position, contribution| {
                        sums[position] += contribution;
                        marks[position / 64] |= 1 << (position % 64);
                    })?;
                    continue;
                }
                // A document that occurs in none of the previous lists cannot reach the threshold. Only marked documents
                // count, and only those that this list and the later ones can lift to the threshold.
                let marked = retain_marks(marks, sums, |sum| sum.saturating_add(rest) >= threshold);
                if marked == 0 {
                    break;
                }
                if marked.saturating_mul(LOOKUP_COST) > list.density {
                    list.add(scoring, start..end, norms, |position, contribution| {
                        if sums[position] > 0 {
                            sums[position] += contribution;
                        }
                    })?;
                } else {
                    for position in marked_positions(marks) {
                        let norm = norms.get(position).copied().unwrap_or_default();
                        sums[position] +=
                            list.contribution(scoring, start + position as u32, norm)?;
                    }
                    check_interrupt(WORK_PER_POSTING * marked);
                }
            }
            let mut threshold = top_k.threshold();
            for position in marked_positions(marks) {
                if sums[position] < threshold {
                    continue;
                }
                let document = start + position as u32;
                let hit = (sums[position], Reverse(ordinal << 32 | u64::from(document)));
                if top_k.accepts(hit)
                    && required.are_met(scoring.reader, document)?
                    && !scoring.reader.is_dead(document)?
                {
                    top_k.offer(hit);
                    threshold = top_k.threshold();
                }
            }
            marks.fill(0);
            sums.fill(0);
            Ok(())
        })?
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

/// Returns the positions of the marked documents.
fn marked_positions(marks: &[u64; MARK_WORDS]) -> impl Iterator<Item = usize> {
    marks.iter().enumerate().flat_map(|(word, &bits)| {
        let mut left = bits;
        std::iter::from_fn(move || {
            let position = (left != 0).then(|| word * 64 + left.trailing_zeros() as usize);
            left &= left.wrapping_sub(1);
            position
        })
    })
}

/// Unmarks the documents whose sum `keep` rejects. Returns the number of documents that remain marked.
fn retain_marks(
    marks: &mut [u64; MARK_WORDS],
    sums: &mut [u64],
    keep: impl Fn(u64) -> bool,
) -> usize {
    let mut marked = 0;
    for (word, bits) in marks.iter_mut().enumerate() {
        let mut left = *bits;
        while left != 0 {
            let position = word * 64 + left.trailing_zeros() as usize;
            if keep(sums[position]) {
                marked += 1;
            } else {
                *bits &= !(left & left.wrapping_neg());
                sums[position] = 0;
            }
            left &= left - 1;
        }
    }
    marked
}
