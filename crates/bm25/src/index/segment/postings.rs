//! Reads the postings of a term in ascending order, block by block.

use std::cell::RefCell;

use crate::index::error::{IndexError, Result};
use crate::index::pages::page::{PageKind, u16_at, u32_at};
use crate::index::pages::store::Pages;
use crate::index::segment::dictionary::{Entry, PostingsLocation};
use crate::index::segment::layout::{SKIP_BYTES, SKIPS_PER_PAGE};
use crate::index::segment::posting_block::{self, BLOCK_LEN, Block};
use crate::index::segment::reader::{Held, SegmentReader};

/// A forward cursor over the postings of a term.
pub struct Postings<P: Pages> {
    entry: Entry,
    /// Number of blocks.
    blocks: u32,
    /// Number of the current block.
    at: u32,
    /// Last document of the previous block.
    before: Option<u32>,
    /// Last document and impact of the current block.
    last: u32,
    impact: u8,
    /// Location of the current block: page number, offset.
    location: (u32, u16),
    /// Whether `block` holds the current block.
    decoded: bool,
    block: Box<Block>,
    /// Index of the next posting in the current block.
    next: usize,
    skips: Held<P>,
    page: Held<P>,
}

impl<P: Pages> Postings<P> {
    /// Opens the postings of a dictionary entry at the first block.
    ///
    /// # Errors
    /// A damaged page.
    pub fn new(reader: &SegmentReader<'_, P>, entry: Entry) -> Result<Self> {
        let documents = reader.segment.documents;
        if entry.documents > documents {
            return Err(IndexError::Corrupt {
                block: 0,
                problem: "a term has more documents than the segment",
            });
        }
        let mut postings = Self {
            blocks: entry.documents.div_ceil(BLOCK_LEN as u32),
            at: 0,
            before: None,
            last: documents.saturating_sub(1),
            impact: entry.impact,
            location: (0, 0),
            decoded: false,
            block: Box::default(),
            next: 0,
            skips: RefCell::new(None),
            page: RefCell::new(None),
            entry,
        };
        match postings.entry.location {
            PostingsLocation::Inline(_) => {
                let found = postings.entry.decode_inline(documents, &mut postings.block);
                found.ok_or(IndexError::Corrupt {
                    block: 0,
                    problem: "the postings of a rare term cannot be read",
                })?;
                postings.decoded = true;
            }
            PostingsLocation::Block { page, offset } => postings.location = (page, offset),
            PostingsLocation::Blocks { .. } => postings.load_skip_entry(reader)?,
        }
        Ok(postings)
    }

    /// Returns whether all blocks were read.
    fn is_exhausted(&self) -> bool {
        self.at >= self.blocks
    }

    fn load_skip_entry(&mut self, reader: &SegmentReader<'_, P>) -> Result<()> {
        let PostingsLocation::Blocks { .. } = self.entry.location else {
            return Ok(());
        };
        let (page_no, at) = self.skip_entry_location(self.at);
        let (last, page, offset, impact) =
            reader.with_page(&self.skips, PageKind::Skips, page_no, |skips| {
                Some((
                    u32_at(skips, at)?,
                    u32_at(skips, at + 4)?,
                    u16_at(skips, at + 8)?,
                    *skips.get(at + 10)?,
                ))
            })?;
        if self.before.is_some_and(|before| last <= before) || last >= reader.segment.documents {
            return Err(IndexError::Corrupt {
                block: reader.block(page_no)?,
                problem: "the blocks of a term are out of order",
            });
        }
        (self.last, self.impact, self.location) = (last, impact, (page, offset));
        Ok(())
    }

    /// Moves to the next block without decoding it.
    fn next_block(&mut self, reader: &SegmentReader<'_, P>) -> Result<()> {
        self.before = Some(self.last);
        self.at += 1;
        self.decoded = false;
        self.next = 0;
        if self.at < self.blocks {
            self.load_skip_entry(reader)?;
        }
        Ok(())
    }

    /// Skips blocks that end before a document.
    ///
    /// # Errors
    /// A damaged page.
    pub fn skip_to(&mut self, reader: &SegmentReader<'_, P>, document: u32) -> Result<()> {
        let is_before = |this: &Self| !this.is_exhausted() && this.last < document;
        if is_before(self) {
            self.next_block(reader)?;
        }
        if !is_before(self) {
            return Ok(());
        }
        let block = self.first_block_to(reader, document)?;
        self.before = Some(self.last_of(reader, block - 1)?);
        (self.at, self.next, self.decoded) = (block, 0, false);
        if self.is_exhausted() {
            return Ok(());
        }
        self.load_skip_entry(reader)
    }

    /// Returns the first block after the current one that does not end before a document; the number of blocks if there is none.
    fn first_block_to(&self, reader: &SegmentReader<'_, P>, document: u32) -> Result<u32> {
        let (mut low, mut step) = (self.at + 1, 1);
        let mut high = low;
        while high < self.blocks && self.last_of(reader, high)? < document {
            low = high + 1;
            high = low.saturating_add(step);
            step *= 2;
        }
        high = high.min(self.blocks);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.last_of(reader, middle)? < document {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    /// Returns the last document of one of several blocks.
    fn last_of(&self, reader: &SegmentReader<'_, P>, block: u32) -> Result<u32> {
        let (page_no, at) = self.skip_entry_location(block);
        reader.with_page(&self.skips, PageKind::Skips, page_no, |skips| {
            u32_at(skips, at)
        })
    }

    /// Moves back to the first block.
    ///
    /// # Errors
    /// A damaged page.
    pub fn restart(&mut self, reader: &SegmentReader<'_, P>) -> Result<()> {
        // Inline postings have no page to be decoded from again.
        let is_inline = matches!(self.entry.location, PostingsLocation::Inline(_));
        let decoded = is_inline || self.at == 0 && self.decoded;
        (self.at, self.next, self.before, self.decoded) = (0, 0, None, decoded);
        self.load_skip_entry(reader)
    }

    /// Location of the skip entry of a block: page number, offset.
    fn skip_entry_location(&self, block: u32) -> (u32, usize) {
        let PostingsLocation::Blocks { page, entry } = self.entry.location else {
            return (0, 0);
        };
        let at = usize::from(entry) + block as usize;
        (
            page.saturating_add((at / SKIPS_PER_PAGE) as u32),
            at % SKIPS_PER_PAGE * SKIP_BYTES,
        )
    }

    /// Calls `visit` with the last document and the impact of each block, in order, without decoding the blocks.
    ///
    /// # Errors
    /// A damaged page.
    pub fn each_block(
        &self,
        reader: &SegmentReader<'_, P>,
        mut visit: impl FnMut(u32, u8),
    ) -> Result<()> {
        let PostingsLocation::Blocks { .. } = self.entry.location else {
            visit(
                reader.segment.documents.saturating_sub(1),
                self.entry.impact,
            );
            return Ok(());
        };
        let mut block = 0;
        while block < self.blocks {
            let (page_no, at) = self.skip_entry_location(block);
            let count = ((SKIPS_PER_PAGE * SKIP_BYTES - at) / SKIP_BYTES)
                .min((self.blocks - block) as usize);
            reader.with_page(&self.skips, PageKind::Skips, page_no, |skips| {
                let entries = skips.get(at..at + count * SKIP_BYTES)?;
                for entry in entries.chunks_exact(SKIP_BYTES) {
                    visit(u32_at(entry, 0)?, *entry.get(10)?);
                }
                Some(())
            })?;
            block += count as u32;
        }
        Ok(())
    }

    /// Number of documents that contain the term.
    pub fn documents(&self) -> u32 {
        self.entry.documents
    }

    /// Returns the largest impact of the blocks from the current one on that may contain documents below `end`.
    ///
    /// # Errors
    /// A damaged page.
    pub fn impact_before(&self, reader: &SegmentReader<'_, P>, end: u32) -> Result<u8> {
        if self.is_exhausted()
            || self
                .before
                .is_some_and(|before| before.saturating_add(1) >= end)
        {
            return Ok(0);
        }
        let (mut most, mut last) = (self.impact, self.last);
        let mut block = self.at + 1;
        while last.saturating_add(1) < end && block < self.blocks {
            let (page_no, at) = self.skip_entry_location(block);
            let (next, impact) =
                reader.with_page(&self.skips, PageKind::Skips, page_no, |skips| {
                    Some((u32_at(skips, at)?, *skips.get(at + 10)?))
                })?;
            (last, most) = (next, most.max(impact));
            block += 1;
        }
        Ok(most)
    }

    /// Decodes the current block.
    fn decode(&mut self, reader: &SegmentReader<'_, P>) -> Result<()> {
        if self.decoded {
            return Ok(());
        }
        let (page_no, offset) = self.location;
        let length = (self.entry.documents as usize - self.at as usize * BLOCK_LEN).min(BLOCK_LEN);
        let (before, documents, block) = (self.before, reader.segment.documents, &mut self.block);
        reader.with_page(&self.page, PageKind::Postings, page_no, |bytes| {
            posting_block::decode(
                bytes.get(usize::from(offset)..)?,
                before,
                length,
                documents,
                block,
            )
        })?;
        let many = matches!(self.entry.location, PostingsLocation::Blocks { .. });
        if many && self.block.documents[length - 1] != self.last {
            return Err(IndexError::Corrupt {
                block: reader.block(page_no)?,
                problem: "the last document of a block differs from its entry",
            });
        }
        self.decoded = true;
        self.next = 0;
        Ok(())
    }

    /// Returns the next postings from `start` up to `end` (exclusive), at most those of one block, and moves past them; `None`
    /// if there are no more.
    ///
    /// # Errors
    /// A damaged page.
    pub fn between(
        &mut self,
        reader: &SegmentReader<'_, P>,
        start: u32,
        end: u32,
    ) -> Result<Option<(&[u32], &[u32])>> {
        loop {
            self.skip_to(reader, start)?;
            // The first document of a block is greater than the last one of the previous block.
            if self.is_exhausted()
                || self
                    .before
                    .is_some_and(|before| before.saturating_add(1) >= end)
            {
                return Ok(None);
            }
            self.decode(reader)?;
            let held = &self.block.documents[..self.block.length];
            let from = self.next + count_before(&held[self.next..], start);
            let to = from + count_before(&held[from..], end);
            self.next = to;
            if from < to {
                return Ok(Some((
                    &self.block.documents[from..to],
                    &self.block.frequencies[from..to],
                )));
            }
            if to < self.block.length {
                return Ok(None);
            }
            self.next_block(reader)?;
        }
    }

    /// Returns the frequency of the term in a document; 0 if it is absent. The documents of successive calls must ascend.
    ///
    /// # Errors
    /// A damaged page.
    pub fn frequency(&mut self, reader: &SegmentReader<'_, P>, document: u32) -> Result<u32> {
        self.skip_to(reader, document)?;
        if self.is_exhausted() || self.before.is_some_and(|before| before >= document) {
            return Ok(0);
        }
        self.decode(reader)?;
        let rest = &self.block.documents[self.next..self.block.length];
        self.next += rest.partition_point(|&found| found < document);
        let found = self.next < self.block.length && self.block.documents[self.next] == document;
        Ok(if found {
            self.block.frequencies[self.next]
        } else {
            0
        })
    }
}

/// Number of documents before `end`. Most blocks are on one side of it.
#[inline]
fn count_before(documents: &[u32], end: u32) -> usize {
    match documents {
        [first, ..] if *first >= end => 0,
        [.., last] if *last < end => documents.len(),
        _ => documents.partition_point(|&document| document < end),
    }
}
