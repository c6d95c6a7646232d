//! Merges segments. Segments are grouped into tiers by size, and a full tier becomes one segment.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use reground_interrupt::check_interrupt;

use crate::index::error::Result;
use crate::index::interrupts::WORK_PER_POSTING;
use crate::index::pages::meta::{Meta, Segment};
use crate::index::pages::store::{Pages, Store};
use crate::index::segment::dictionary::Entry;
use crate::index::segment::postings::Postings;
use crate::index::segment::reader::SegmentReader;
use crate::index::segment::writer::SegmentWriter;
use crate::index::write::ascending_merge::AscendingMerge;
use crate::index::write::publish::publish_segment;

/// Number of segments in a tier that triggers a merge.
const SEGMENTS_PER_TIER: usize = 8;
/// Growth of the segment size from tier to tier.
const TIER_GROWTH: u32 = 8;
/// Maximum number of documents in the smallest tier.
const SMALLEST_TIER: u32 = 1 << 10;
/// Maximum number of segments of all tiers together. The meta page must hold all of them.
pub(super) const MAX_SEGMENTS: usize = 40;

/// Returns the tier of a segment.
fn tier(segment: &Segment) -> u32 {
    let mut size = SMALLEST_TIER;
    let mut tier = 0;
    while size <= segment.documents {
        size = size.saturating_mul(TIER_GROWTH);
        tier += 1;
        if size == u32::MAX {
            break;
        }
    }
    tier
}

/// Merges tiers until none has too many segments.
pub(super) fn merge_tiers<S: Store>(store: &S) -> Result<()> {
    loop {
        let meta = Meta::read(store)?;
        let mut tiers: BTreeMap<u32, Vec<&Segment>> = BTreeMap::new();
        for segment in &meta.segments {
            tiers.entry(tier(segment)).or_default().push(segment);
        }
        let crowded = tiers
            .values()
            .find(|segments| segments.len() >= SEGMENTS_PER_TIER);
        let ids: Vec<u32> = match crowded {
            Some(segments) => segments.iter().map(|segment| segment.id).collect(),
            // The size of the meta page is limited.
            None if meta.segments.len() > MAX_SEGMENTS => {
                let smallest = meta.segments.iter().rev().take(SEGMENTS_PER_TIER);
                smallest.map(|segment| segment.id).collect()
            }
            None => return Ok(()),
        };
        merge_segments(store, &meta, &ids)?;
    }
}

/// A segment to merge, with its terms in order, one dictionary page at a time.
struct MergeSource<'a, P: Pages> {
    reader: SegmentReader<'a, P>,
    page: u32,
    terms: std::vec::IntoIter<(u64, Entry)>,
    next: Option<(u64, Entry)>,
    /// New number of each document so far; `u32::MAX` for removed documents.
    numbers: Vec<u32>,
}

impl<'a, P: Pages> MergeSource<'a, P> {
    fn new(pages: &'a P, segment: &'a Segment) -> Self {
        Self {
            reader: SegmentReader::new(pages, segment),
            page: 0,
            terms: Vec::new().into_iter(),
            next: None,
            numbers: Vec::with_capacity(segment.documents as usize),
        }
    }

    /// Number of the first document without a new number.
    fn document(&self) -> u32 {
        self.numbers.len() as u32
    }

    /// Skips removed documents, and returns the row of the next document.
    fn next_row(&mut self) -> Result<Option<u64>> {
        while self.document() < self.reader.segment.documents {
            if !self.reader.is_dead(self.document())? {
                return Ok(Some(self.reader.row(self.document())?.0));
            }
            self.numbers.push(u32::MAX);
        }
        Ok(None)
    }

    /// Moves to the next term.
    fn advance(&mut self) -> Result<()> {
        self.next = self.terms.next();
        while self.next.is_none() && self.page < self.reader.segment.dictionary {
            self.terms = self.reader.terms_of_page(self.page)?.into_iter();
            self.page += 1;
            self.next = self.terms.next();
        }
        Ok(())
    }
}

/// Replaces segments by one segment without their removed documents.
pub(super) fn merge_segments<S: Store>(store: &S, meta: &Meta, ids: &[u32]) -> Result<()> {
    let merged = || {
        let segments = meta.segments.iter();
        segments.filter(|segment| ids.contains(&segment.id))
    };
    let pages = merged().map(|segment| segment.pages).sum();
    let mut writer = SegmentWriter::new(store, meta.next_id, meta.parameters()?, pages);
    let mut sources: Vec<MergeSource<'_, S>> = merged()
        .map(|segment| MergeSource::new(store, segment))
        .collect();
    write_documents(&mut sources, &mut writer)?;
    for source in &mut sources {
        source.advance()?;
    }
    while let Some(hash) = sources
        .iter()
        .filter_map(|source| Some(source.next.as_ref()?.0))
        .min()
    {
        let mut lists = Vec::new();
        for (at, source) in sources.iter_mut().enumerate() {
            if let Some((_, entry)) = source.next.take_if(|(term, _)| *term == hash) {
                lists.push((at, Postings::new(&source.reader, entry)?));
                source.advance()?;
            }
        }
        let lists = lists.iter_mut();
        let mut streams: Vec<_> = lists
            .map(|(at, list)| renumbered_postings(&sources[*at], list))
            .collect();
        let count = streams.len();
        let next = |stream: usize| streams[stream].next().transpose();
        writer.term(hash, AscendingMerge::new(count, next)?)?;
    }
    publish_segment(store, writer, ids, None)
}

/// Writes the documents of all sources by row, and records their new numbers.
fn write_documents<S: Store>(
    sources: &mut [MergeSource<'_, S>],
    writer: &mut SegmentWriter<'_, S>,
) -> Result<()> {
    let mut queue = BinaryHeap::new();
    for (at, source) in sources.iter_mut().enumerate() {
        queue.extend(source.next_row()?.map(|row| Reverse((row, at))));
    }
    while let Some(Reverse((_, at))) = queue.pop() {
        let source = &mut sources[at];
        let (row, fingerprint) = source.reader.row(source.document())?;
        let norm = source.reader.norm(source.document())?;
        source
            .numbers
            .push(writer.document(row, fingerprint, norm)?);
        queue.extend(source.next_row()?.map(|row| Reverse((row, at))));
    }
    Ok(())
}

/// Returns the postings of a list with the new document numbers, without removed documents.
fn renumbered_postings<'a, P: Pages>(
    source: &'a MergeSource<'_, P>,
    list: &'a mut Postings<P>,
) -> impl Iterator<Item = Result<(u32, u32)>> + 'a {
    let mut held: std::vec::IntoIter<(u32, u32)> = Vec::new().into_iter();
    std::iter::from_fn(move || {
        loop {
            if let Some((document, frequency)) = held.next() {
                match source.numbers.get(document as usize) {
                    Some(&u32::MAX) | None => continue,
                    Some(&number) => return Some(Ok((number, frequency))),
                }
            }
            match list.between(&source.reader, 0, u32::MAX) {
                Ok(Some((documents, frequencies))) => {
                    check_interrupt(WORK_PER_POSTING * documents.len());
                    let pairs = documents.iter().copied().zip(frequencies.iter().copied());
                    held = pairs.collect::<Vec<_>>().into_iter();
                }
                Ok(None) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    })
}
