//! The best documents of one segment.
//!
//! Block-max MaxScore (Turtle and Flood 1995; Ding and Suel 2011) in windows of documents. The bounds of the blocks say
//! what a document of each window can score at most; the most promising windows come first, so that what is good enough is
//! soon known, and of the others those that cannot hold such a document are passed over. Of a window's lists those that even
//! together cannot lift a document above the worst of the best so far add only to documents that the others hold, and only
//! while these still can be good enough.

use std::cmp::Reverse;

use reground_interrupt::check_interrupt;

use super::POSTING;
use super::best::Best;
use super::fault::Result;
use super::list::{List, Scoring, WINDOW};
use super::store::Pages;

/// Windows that come first: the most promising.
const FIRST: usize = 4;
/// A document is looked up in a list in the time that so many of its postings are read in.
const LOOKUP: usize = 8;
/// Words of a window's bits.
const WORDS: usize = WINDOW.div_ceil(64);

/// The search of one segment.
pub struct Scan<'a, P: Pages> {
    scoring: Scoring<'a, P>,
    /// Of the segment, among those that are searched.
    ordinal: u64,
    /// Sums of the window's documents; 0 between windows.
    sums: Vec<u64>,
    /// A bit for each that has one and can be good enough.
    marks: [u64; WORDS],
}

/// A list in a window.
struct Bounded<'l, P: Pages> {
    list: &'l mut List<P>,
    /// The most that it adds there.
    most: u64,
    /// The most that it and those after it add together.
    rest: u64,
}

impl<'a, P: Pages> Scan<'a, P> {
    /// Of a segment, whose documents get numbers from `ordinal`.
    pub fn new(scoring: Scoring<'a, P>, ordinal: u64) -> Self {
        Self {
            scoring,
            ordinal,
            sums: vec![0; WINDOW],
            marks: [0; WORDS],
        }
    }

    /// Offers every document of the lists that can be among the best.
    ///
    /// # Errors
    /// Damage.
    pub fn run(&mut self, lists: &mut [List<P>], best: &mut Best) -> Result<()> {
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
            list.restart(&self.scoring)?;
        }
        for (window, most) in bounds.into_iter().enumerate() {
            self.window(window, most, lists, best)?;
        }
        Ok(())
    }

    /// The most that a document of each window can score.
    fn bounds(&self, lists: &[List<P>]) -> Result<Vec<u64>> {
        let windows = (self.scoring.reader.segment.documents as usize).div_ceil(WINDOW);
        let mut totals = vec![0_u64; windows];
        let mut own = vec![0_u64; windows];
        for list in lists {
            own.fill(0);
            list.bounds(&self.scoring, &mut own)?;
            check_interrupt(windows);
            for (total, most) in totals.iter_mut().zip(&own) {
                *total = total.saturating_add(*most);
            }
        }
        Ok(totals)
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
            .min(self.scoring.reader.segment.documents);
        let mut lists = self.bounded(lists, start, end)?;
        let (scoring, ordinal) = (&self.scoring, self.ordinal);
        let (sums, marks) = (&mut self.sums, &mut self.marks);
        scoring.reader.norms(start, |norms| {
            for Bounded { list, rest, .. } in &mut lists {
                let (rest, enough) = (*rest, best.enough());
                if rest >= enough {
                    list.add(scoring, start..end, norms, |place, part| {
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
                    list.add(scoring, start..end, norms, |place, part| {
                        if sums[place] > 0 {
                            sums[place] += part;
                        }
                    })?;
                } else {
                    for place in places(marks) {
                        let norm = norms.get(place).copied().unwrap_or_default();
                        sums[place] += list.part(scoring, start + place as u32, norm)?;
                    }
                    check_interrupt(POSTING * held);
                }
            }
            let mut enough = best.enough();
            for place in places(marks) {
                if sums[place] < enough {
                    continue;
                }
                let document = start + place as u32;
                let hit = (sums[place], Reverse(ordinal << 32 | u64::from(document)));
                if best.wants(hit) && !scoring.reader.is_dead(document)? {
                    best.offer(hit);
                    enough = best.enough();
                }
            }
            marks.fill(0);
            sums.fill(0);
            Ok(())
        })?
    }

    /// The lists in a window, those that add most first.
    fn bounded<'l>(
        &self,
        lists: &'l mut [List<P>],
        start: u32,
        end: u32,
    ) -> Result<Vec<Bounded<'l, P>>> {
        check_interrupt(16 * lists.len());
        let mut bounded = Vec::with_capacity(lists.len());
        for list in lists {
            let most = list.enter(&self.scoring, start..end)?;
            bounded.push(Bounded {
                list,
                most,
                rest: 0,
            });
        }
        bounded.sort_by_key(|bounded| Reverse(bounded.most));
        let mut sum = 0_u64;
        for Bounded { most, rest, .. } in bounded.iter_mut().rev() {
            sum = sum.saturating_add(*most);
            *rest = sum;
        }
        Ok(bounded)
    }
}

/// The places that are marked.
fn places(marks: &[u64; WORDS]) -> impl Iterator<Item = usize> {
    marks.iter().enumerate().flat_map(|(word, &bits)| {
        let mut left = bits;
        std::iter::from_fn(move || {
            let place = (left != 0).then(|| word * 64 + left.trailing_zeros() as usize);
            left &= left.wrapping_sub(1);
            place
        })
    })
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
