//! Reads a segment: its documents by number, its terms, and their postings block by block.

use std::cell::RefCell;

use super::blocks::{self, Block, FULL};
use super::dictionary::{self, Entry, Place};
use super::fault::{Fault, Result};
use super::meta::Segment;
use super::page::{Header, Kind, ROOM, content, u16_at, u32_at, u64_at};
use super::store::Pages;
use super::writer::{DIRECTION, DIRECTIONS, DOCUMENT, DOCUMENTS, SKIP, SKIPS};

/// A page that is held, and its place.
type Held<P> = RefCell<Option<(u32, <P as Pages>::Page)>>;

/// A segment and the pages that are held of it.
pub struct Reader<'a, P: Pages> {
    pages: &'a P,
    /// What the meta page says of it.
    pub segment: &'a Segment,
    norms: Held<P>,
    rows: Held<P>,
}

/// Documents, norms and bits come in pages one after the other.
fn pages_of(documents: u32, a_page: usize) -> u32 {
    (documents as usize).div_ceil(a_page) as u32
}

impl<'a, P: Pages> Reader<'a, P> {
    /// Of a segment that the meta page lists.
    pub fn new(pages: &'a P, segment: &'a Segment) -> Self {
        Self {
            pages,
            segment,
            norms: RefCell::new(None),
            rows: RefCell::new(None),
        }
    }

    /// Place of the first page of norms.
    fn norms_place(&self) -> u32 {
        pages_of(self.segment.documents, DOCUMENTS)
    }

    /// Place of the first page of bits.
    pub fn dead_place(&self) -> u32 {
        self.norms_place() + pages_of(self.segment.documents, ROOM)
    }

    /// How many pages of bits there are.
    pub fn dead_pages(&self) -> u32 {
        pages_of(self.segment.documents, ROOM * 8)
    }

    /// Block of a place.
    ///
    /// # Errors
    /// A place that the segment does not have.
    pub fn block(&self, place: u32) -> Result<u32> {
        let block = self
            .segment
            .block(place)
            .filter(|_| place < self.segment.pages);
        block.ok_or(Fault::Corrupt {
            block: place,
            what: "a segment names a page that it does not have",
        })
    }

    /// What the header of the page at a place must say.
    pub fn header(&self, kind: Kind, place: u32) -> Header {
        Header {
            kind,
            owner: self.segment.id,
            place,
        }
    }

    /// Reads the page at a place, unless it is held already, and looks at its content.
    fn on<T>(
        &self,
        held: &Held<P>,
        kind: Kind,
        place: u32,
        look: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Result<T> {
        let mut held = held.borrow_mut();
        let block = match &*held {
            Some((at, _)) if *at == place => None,
            _ => Some(self.block(place)?),
        };
        if let Some(block) = block {
            // Let go of first: at most one page is held for each purpose.
            *held = None;
            *held = Some((place, self.pages.read(block)?));
        }
        let corrupt = |what| Fault::Corrupt {
            block: self.segment.block(place).unwrap_or_default(),
            what,
        };
        let Some((_, page)) = &*held else {
            return Err(corrupt("it is not held"));
        };
        // Checked when it was taken; a page that is held does not become another.
        let bytes = match block {
            Some(block) => content(page, block, self.header(kind, place)),
            None => held_content(page).ok_or(corrupt("its header is gone")),
        };
        match bytes {
            Ok(bytes) => look(bytes).ok_or(corrupt("it ends before what it should hold")),
            Err(fault) => {
                *held = None;
                Err(fault)
            }
        }
    }

    /// A document's length as a norm.
    ///
    /// # Errors
    /// Damage.
    #[inline]
    pub fn norm(&self, document: u32) -> Result<u8> {
        let place = self.norms_place() + document / ROOM as u32;
        self.on(&self.norms, Kind::Norms, place, |norms| {
            norms.get(document as usize % ROOM).copied()
        })
    }

    /// Looks at the norms of documents from one on, as many as share its page.
    ///
    /// # Errors
    /// Damage.
    #[inline]
    pub fn norms<T>(&self, first: u32, look: impl FnOnce(&[u8]) -> T) -> Result<T> {
        let place = self.norms_place() + first / ROOM as u32;
        self.on(&self.norms, Kind::Norms, place, |norms| {
            Some(look(norms.get(first as usize % ROOM..)?))
        })
    }

    /// A document's row and fingerprint.
    ///
    /// # Errors
    /// Damage.
    pub fn row(&self, document: u32) -> Result<(u64, u64)> {
        let place = document / DOCUMENTS as u32;
        let at = document as usize % DOCUMENTS * DOCUMENT;
        self.on(&self.rows, Kind::Documents, place, |rows| {
            let row = u64::from(u32_at(rows, at)?) | u64::from(u16_at(rows, at + 4)?) << 32;
            Some((row, u64_at(rows, at + 6)?))
        })
    }

    /// Whether vacuum removed a document. Others may be removing it.
    ///
    /// # Errors
    /// Damage.
    pub fn is_dead(&self, document: u32) -> Result<bool> {
        if self.segment.dead == 0 {
            return Ok(false);
        }
        let place = self.dead_place() + document / (ROOM * 8) as u32;
        let bit = document as usize % (ROOM * 8);
        let block = self.block(place)?;
        self.pages.look(block, |body| {
            let bits = content(body, block, self.header(Kind::Dead, place))?;
            let byte = bits.get(bit / 8).ok_or(Fault::Corrupt {
                block,
                what: "it ends before what it should hold",
            })?;
            Ok(byte >> (bit % 8) & 1 == 1)
        })
    }

    /// The entry of a term.
    ///
    /// # Errors
    /// Damage.
    pub fn find(&self, term: u64) -> Result<Option<Entry>> {
        let held = RefCell::new(None);
        let pages = self.segment.dictionary;
        // The last dictionary page whose first term is not beyond the one that is looked for.
        let (mut low, mut high) = (0, pages);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.direction(&held, middle)?.0 <= term {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let Some(at) = low.checked_sub(1) else {
            return Ok(None);
        };
        let (_, place) = self.direction(&held, at)?;
        let held = RefCell::new(None);
        self.on(
            &held,
            Kind::Dictionary,
            place,
            |page| match dictionary::find(page, term)? {
                Ok(at) => Some(Some(Entry::decode(dictionary::entry(page, at)?)?)),
                Err(()) => Some(None),
            },
        )
    }

    /// The first term of a dictionary page, and its place.
    fn direction(&self, held: &Held<P>, page: u32) -> Result<(u64, u32)> {
        let place = self.segment.directory + page / DIRECTIONS as u32;
        let at = page as usize % DIRECTIONS * DIRECTION;
        self.on(held, Kind::Directory, place, |entries| {
            Some((u64_at(entries, at)?, u32_at(entries, at + 8)?))
        })
    }

    /// All terms by rising hash, with their entries, a dictionary page at a time.
    ///
    /// # Errors
    /// Damage.
    pub fn terms_of_page(&self, page: u32) -> Result<Vec<(u64, Entry)>> {
        let held = RefCell::new(None);
        let (_, place) = self.direction(&held, page)?;
        let held = RefCell::new(None);
        self.on(&held, Kind::Dictionary, place, |bytes| {
            let count = dictionary::count(bytes)?;
            (0..count)
                .map(|at| {
                    let hash = dictionary::hash(bytes, at)?;
                    Some((hash, Entry::decode(dictionary::entry(bytes, at)?)?))
                })
                .collect()
        })
    }

    /// The postings of an entry.
    ///
    /// # Errors
    /// Damage.
    pub fn postings(&self, entry: Entry) -> Result<Postings<P>> {
        Postings::new(self, entry)
    }
}

/// The content of a page that was checked when it was taken.
fn held_content(body: &[u8]) -> Option<&[u8]> {
    let used = usize::from(u16_at(body, 12)?);
    body.get(super::page::HEADER..super::page::HEADER + used)
}

/// A list of postings, read forward.
pub struct Postings<P: Pages> {
    entry: Entry,
    /// Blocks in all.
    blocks: u32,
    /// Number of the block that we are at.
    at: u32,
    /// The last document of the block before.
    before: Option<u32>,
    /// The last document and the impact of this one.
    last: u32,
    impact: u8,
    /// Where it is.
    place: (u32, u16),
    /// Whether `block` holds it.
    decoded: bool,
    block: Box<Block>,
    /// Next posting of it.
    next: usize,
    skips: Held<P>,
    page: Held<P>,
}

impl<P: Pages> Postings<P> {
    fn new(reader: &Reader<'_, P>, entry: Entry) -> Result<Self> {
        let documents = reader.segment.documents;
        if entry.documents > documents {
            return Err(Fault::Corrupt {
                block: 0,
                what: "a term is in more documents than there are",
            });
        }
        let mut postings = Self {
            blocks: entry.documents.div_ceil(FULL as u32),
            at: 0,
            before: None,
            last: documents.saturating_sub(1),
            impact: entry.impact,
            place: (0, 0),
            decoded: false,
            block: Box::default(),
            next: 0,
            skips: RefCell::new(None),
            page: RefCell::new(None),
            entry,
        };
        match postings.entry.place {
            Place::Inline(_) => {
                let found = postings.entry.inline(documents, &mut postings.block);
                found.ok_or(Fault::Corrupt {
                    block: 0,
                    what: "the postings of a rare term cannot be read",
                })?;
                postings.decoded = true;
            }
            Place::Block { page, offset } => postings.place = (page, offset),
            Place::Blocks { .. } => postings.load_skip(reader)?,
        }
        Ok(postings)
    }

    /// Whether there is no block any more.
    fn is_over(&self) -> bool {
        self.at >= self.blocks
    }

    fn load_skip(&mut self, reader: &Reader<'_, P>) -> Result<()> {
        let Place::Blocks { .. } = self.entry.place else {
            return Ok(());
        };
        let (place, at) = self.skip_at(self.at);
        let (last, page, offset, impact) = reader.on(&self.skips, Kind::Skips, place, |skips| {
            Some((
                u32_at(skips, at)?,
                u32_at(skips, at + 4)?,
                u16_at(skips, at + 8)?,
                *skips.get(at + 10)?,
            ))
        })?;
        if self.before.is_some_and(|before| last <= before) || last >= reader.segment.documents {
            return Err(Fault::Corrupt {
                block: reader.block(place)?,
                what: "the blocks of a term do not rise",
            });
        }
        (self.last, self.impact, self.place) = (last, impact, (page, offset));
        Ok(())
    }

    /// Goes to the next block without reading it.
    fn skip(&mut self, reader: &Reader<'_, P>) -> Result<()> {
        self.before = Some(self.last);
        self.at += 1;
        self.decoded = false;
        self.next = 0;
        if self.at < self.blocks {
            self.load_skip(reader)?;
        }
        Ok(())
    }

    /// Passes over blocks that end before a document.
    ///
    /// # Errors
    /// Damage.
    pub fn skip_to(&mut self, reader: &Reader<'_, P>, document: u32) -> Result<()> {
        while !self.is_over() && self.last < document {
            self.skip(reader)?;
        }
        Ok(())
    }

    /// Goes back to the first block.
    ///
    /// # Errors
    /// Damage.
    pub fn restart(&mut self, reader: &Reader<'_, P>) -> Result<()> {
        let first = self.at == 0 && self.decoded;
        (self.at, self.next, self.before, self.decoded) = (0, 0, None, first);
        self.load_skip(reader)
    }

    /// Where the entry of a block is: place of its page, offset.
    fn skip_at(&self, block: u32) -> (u32, usize) {
        let Place::Blocks { page, entry } = self.entry.place else {
            return (0, 0);
        };
        let at = usize::from(entry) + block as usize;
        (page.saturating_add((at / SKIPS) as u32), at % SKIPS * SKIP)
    }

    /// Last document and impact of each block, in order, without reading any.
    ///
    /// # Errors
    /// Damage.
    pub fn each_block(&self, reader: &Reader<'_, P>, mut visit: impl FnMut(u32, u8)) -> Result<()> {
        let Place::Blocks { .. } = self.entry.place else {
            visit(
                reader.segment.documents.saturating_sub(1),
                self.entry.impact,
            );
            return Ok(());
        };
        let mut block = 0;
        while block < self.blocks {
            let (place, at) = self.skip_at(block);
            let count = ((SKIPS * SKIP - at) / SKIP).min((self.blocks - block) as usize);
            reader.on(&self.skips, Kind::Skips, place, |skips| {
                let entries = skips.get(at..at + count * SKIP)?;
                for entry in entries.chunks_exact(SKIP) {
                    visit(u32_at(entry, 0)?, *entry.get(10)?);
                }
                Some(())
            })?;
            block += count as u32;
        }
        Ok(())
    }

    /// Documents that have the term.
    pub fn documents(&self) -> u32 {
        self.entry.documents
    }

    /// The largest impact of the blocks, from the one that we are at, that may hold documents below `end`.
    ///
    /// # Errors
    /// Damage.
    pub fn impact_before(&self, reader: &Reader<'_, P>, end: u32) -> Result<u8> {
        if self.is_over()
            || self
                .before
                .is_some_and(|before| before.saturating_add(1) >= end)
        {
            return Ok(0);
        }
        let (mut most, mut last) = (self.impact, self.last);
        let mut block = self.at + 1;
        while last.saturating_add(1) < end && block < self.blocks {
            let (place, at) = self.skip_at(block);
            let (next, impact) = reader.on(&self.skips, Kind::Skips, place, |skips| {
                Some((u32_at(skips, at)?, *skips.get(at + 10)?))
            })?;
            (last, most) = (next, most.max(impact));
            block += 1;
        }
        Ok(most)
    }

    /// Reads the block that we are at.
    fn decode(&mut self, reader: &Reader<'_, P>) -> Result<()> {
        if self.decoded {
            return Ok(());
        }
        let (place, offset) = self.place;
        let length = (self.entry.documents as usize - self.at as usize * FULL).min(FULL);
        let (before, documents, block) = (self.before, reader.segment.documents, &mut self.block);
        reader.on(&self.page, Kind::Postings, place, |bytes| {
            blocks::decode(
                bytes.get(usize::from(offset)..)?,
                before,
                length,
                documents,
                block,
            )
        })?;
        let many = matches!(self.entry.place, Place::Blocks { .. });
        if many && self.block.documents[length - 1] != self.last {
            return Err(Fault::Corrupt {
                block: reader.block(place)?,
                what: "a block does not end where its entry says",
            });
        }
        self.decoded = true;
        self.next = 0;
        Ok(())
    }

    /// Postings from `start` on that are below `end`, a block's at a time; none where there are no more. They are passed over.
    ///
    /// # Errors
    /// Damage.
    pub fn between(
        &mut self,
        reader: &Reader<'_, P>,
        start: u32,
        end: u32,
    ) -> Result<Option<(&[u32], &[u32])>> {
        loop {
            self.skip_to(reader, start)?;
            // A block's first document is beyond the last of the block before.
            if self.is_over()
                || self
                    .before
                    .is_some_and(|before| before.saturating_add(1) >= end)
            {
                return Ok(None);
            }
            self.decode(reader)?;
            let held = &self.block.documents[..self.block.length];
            let from = self.next + held[self.next..].partition_point(|&document| document < start);
            let to = from + held[from..].partition_point(|&document| document < end);
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
            self.skip(reader)?;
        }
    }

    /// How often a document has the term, 0 if it has not. Documents are asked for in rising order.
    ///
    /// # Errors
    /// Damage.
    pub fn frequency(&mut self, reader: &Reader<'_, P>, document: u32) -> Result<u32> {
        self.skip_to(reader, document)?;
        if self.is_over() || self.before.is_some_and(|before| before >= document) {
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
