//! A posting list of a query in a segment: the contribution of each posting to a score, and upper bounds of it.

use std::ops::Range;

use reground_interrupt::check_interrupt;

use crate::index::error::Result;
use crate::index::interrupts::WORK_PER_POSTING;
use crate::index::pages::store::Pages;
use crate::index::score::{Saturation, contribution, saturation_from_impact, upper_bound};
use crate::index::search::window::WINDOW;
use crate::index::segment::dictionary::Entry;
use crate::index::segment::postings::Postings;
use crate::index::segment::reader::SegmentReader;

/// Looking up one document in a list costs as much as reading this many postings.
pub const LOOKUP_COST: usize = 8;
/// Number of frequencies with precomputed contributions.
const TABLE_FREQUENCIES: usize = 4;
/// Lists up to this length are loaded completely. This is fast, and makes their bounds exact.
const MAX_LOADED_POSTINGS: u32 = 8192;

/// A segment, with the parameters of the scores in it.
pub struct Scoring<'a, P: Pages> {
    /// Reader of the segment.
    pub reader: &'a SegmentReader<'a, P>,
    /// Saturation for the mean length of the search.
    pub saturation: &'a Saturation,
    /// Mean length of the search. The impacts were computed with another one.
    pub average: f64,
}

/// A posting list and the position in it.
pub struct PostingList<P: Pages> {
    weight: f64,
    postings: ListPostings<P>,
    /// Approximate number of postings per window.
    pub density: usize,
}

/// The postings of a list.
enum ListPostings<P: Pages> {
    /// Postings that are read block by block.
    Streamed(Box<StreamedPostings<P>>),
    /// All postings as documents and contributions, and the index of the next one.
    Loaded(Vec<(u32, u64)>, usize),
}

/// Postings that are read block by block.
struct StreamedPostings<P: Pages> {
    postings: Postings<P>,
    /// Upper bound of the contribution for each impact.
    bounds: [u64; 256],
    /// Contribution by norm and by frequency; the first column is frequency 1.
    contributions: [[u64; TABLE_FREQUENCIES]; 256],
}

impl<P: Pages> StreamedPostings<P> {
    fn new(postings: Postings<P>, scoring: &Scoring<'_, P>, weight: f64) -> Self {
        let then = scoring.reader.segment.average_length();
        let byte = |number: usize| u8::try_from(number).unwrap_or(u8::MAX);
        Self {
            postings,
            bounds: std::array::from_fn(|impact| {
                upper_bound(
                    weight,
                    saturation_from_impact(byte(impact), then, scoring.average),
                )
            }),
            contributions: std::array::from_fn(|norm| {
                std::array::from_fn(|less_one| {
                    let frequency = less_one as u32 + 1;
                    contribution(weight, scoring.saturation.of(frequency, byte(norm)))
                })
            }),
        }
    }
}

/// Returns the contribution of a posting.
#[inline]
fn tabled_contribution(
    contributions: &[[u64; TABLE_FREQUENCIES]; 256],
    weight: f64,
    saturation: &Saturation,
    frequency: u32,
    norm: u8,
) -> u64 {
    match contributions[usize::from(norm)].get((frequency as usize).wrapping_sub(1)) {
        Some(&contribution) => contribution,
        None => contribution(weight, saturation.of(frequency, norm)),
    }
}

impl<P: Pages> PostingList<P> {
    /// Opens the list of a term.
    ///
    /// # Errors
    /// A damaged page.
    pub fn new(scoring: &Scoring<'_, P>, entry: Entry, weight: f64) -> Result<Self> {
        let reader = scoring.reader;
        let mut postings = Postings::new(reader, entry)?;
        let documents = postings.documents();
        let all = reader.segment.documents.max(1);
        let density = (u64::from(documents) * WINDOW as u64 / u64::from(all)) as usize;
        let postings = if documents <= MAX_LOADED_POSTINGS {
            let mut read = Vec::with_capacity(documents as usize);
            while let Some((documents, frequencies)) = postings.between(reader, 0, u32::MAX)? {
                check_interrupt(WORK_PER_POSTING * documents.len());
                reader.each_norm(documents, |at, norm| {
                    let saturation = scoring.saturation.of(frequencies[at], norm);
                    read.push((documents[at], contribution(weight, saturation)));
                })?;
            }
            ListPostings::Loaded(read, 0)
        } else {
            ListPostings::Streamed(Box::new(StreamedPostings::new(postings, scoring, weight)))
        };
        Ok(Self {
            weight,
            postings,
            density,
        })
    }

    /// Raises the bound of each window that contains postings to the maximum contribution in it.
    ///
    /// # Errors
    /// A damaged page.
    pub fn bounds(&self, scoring: &Scoring<'_, P>, windows: &mut [u64]) -> Result<()> {
        match &self.postings {
            ListPostings::Loaded(read, _) => {
                for &(document, contribution) in read {
                    let max = &mut windows[document as usize / WINDOW];
                    *max = contribution.max(*max);
                }
            }
            ListPostings::Streamed(paged) => {
                let mut from = 0;
                paged.postings.each_block(scoring.reader, |last, impact| {
                    let bound = paged.bounds[usize::from(impact)];
                    let to = (last as usize / WINDOW).min(windows.len() - 1);
                    for max in windows.get_mut(from..=to).into_iter().flatten() {
                        *max = bound.max(*max);
                    }
                    from = (last as usize + 1) / WINDOW;
                })?;
            }
        }
        Ok(())
    }

    /// Moves back to the first posting.
    ///
    /// # Errors
    /// A damaged page.
    pub fn restart(&mut self, scoring: &Scoring<'_, P>) -> Result<()> {
        match &mut self.postings {
            ListPostings::Loaded(_, at) => *at = 0,
            ListPostings::Streamed(paged) => paged.postings.restart(scoring.reader)?,
        }
        Ok(())
    }

    /// Moves to a window and returns the maximum contribution in it.
    ///
    /// # Errors
    /// A damaged page.
    pub fn enter(&mut self, scoring: &Scoring<'_, P>, window: Range<u32>) -> Result<u64> {
        Ok(match &mut self.postings {
            ListPostings::Loaded(read, at) => {
                *at += read[*at..].partition_point(|&(document, _)| document < window.start);
                let within = read[*at..]
                    .iter()
                    .take_while(|&&(document, _)| document < window.end);
                within
                    .map(|&(_, contribution)| contribution)
                    .max()
                    .unwrap_or_default()
            }
            ListPostings::Streamed(paged) => {
                paged.postings.skip_to(scoring.reader, window.start)?;
                let impact = paged.postings.impact_before(scoring.reader, window.end)?;
                paged.bounds[usize::from(impact)]
            }
        })
    }

    /// Calls `visit` with each posting of a window: position in the window and contribution. `norms` are those of the window.
    ///
    /// # Errors
    /// A damaged page.
    #[inline]
    pub fn add(
        &mut self,
        scoring: &Scoring<'_, P>,
        window: Range<u32>,
        norms: &[u8],
        mut visit: impl FnMut(usize, u64),
    ) -> Result<()> {
        match &mut self.postings {
            ListPostings::Loaded(read, at) => {
                while let Some(&(document, contribution)) = read.get(*at)
                    && document < window.end
                {
                    visit((document - window.start) as usize, contribution);
                    *at += 1;
                }
            }
            ListPostings::Streamed(paged) => {
                let StreamedPostings {
                    postings,
                    contributions,
                    ..
                } = &mut **paged;
                while let Some((found, frequencies)) =
                    postings.between(scoring.reader, window.start, window.end)?
                {
                    check_interrupt(WORK_PER_POSTING * found.len());
                    for (&document, &frequency) in found.iter().zip(frequencies) {
                        let position = (document - window.start) as usize;
                        let norm = norms.get(position).copied().unwrap_or_default();
                        let saturation = scoring.saturation;
                        visit(
                            position,
                            tabled_contribution(
                                contributions,
                                self.weight,
                                saturation,
                                frequency,
                                norm,
                            ),
                        );
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the contribution to a document. Documents must ascend within a window.
    ///
    /// # Errors
    /// A damaged page.
    pub fn contribution(
        &mut self,
        scoring: &Scoring<'_, P>,
        document: u32,
        norm: u8,
    ) -> Result<u64> {
        Ok(match &mut self.postings {
            ListPostings::Loaded(read, at) => {
                while read.get(*at).is_some_and(|&(found, _)| found < document) {
                    *at += 1;
                }
                let found = read.get(*at).filter(|&&(found, _)| found == document);
                found.map_or(0, |&(_, contribution)| contribution)
            }
            ListPostings::Streamed(paged) => {
                let StreamedPostings {
                    postings,
                    contributions,
                    ..
                } = &mut **paged;
                match postings.frequency(scoring.reader, document)? {
                    0 => 0,
                    frequency => tabled_contribution(
                        contributions,
                        self.weight,
                        scoring.saturation,
                        frequency,
                        norm,
                    ),
                }
            }
        })
    }
}
