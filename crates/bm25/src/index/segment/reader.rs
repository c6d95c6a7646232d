//! Reads a segment: its documents by number, its terms, and their postings block by block.

use std::cell::RefCell;

use crate::index::error::{IndexError, Result};
use crate::index::pages::meta::Segment;
use crate::index::pages::page::{
    CONTENT_BYTES, PageHeader, PageKind, content, u16_at, u32_at, u64_at,
};
use crate::index::pages::store::Pages;
use crate::index::segment::dictionary::{self, Entry};
use crate::index::segment::layout::{
    DIRECTORY_ENTRIES_PER_PAGE, DIRECTORY_ENTRY_BYTES, DOCUMENT_BYTES, DOCUMENTS_PER_PAGE,
};

/// A page that is held, and its place.
pub(super) type Held<P> = RefCell<Option<(u32, <P as Pages>::Page)>>;

/// A segment and the pages that are held of it.
pub struct SegmentReader<'a, P: Pages> {
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

impl<'a, P: Pages> SegmentReader<'a, P> {
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
        pages_of(self.segment.documents, DOCUMENTS_PER_PAGE)
    }

    /// Place of the first page of bits.
    pub fn dead_place(&self) -> u32 {
        self.norms_place() + pages_of(self.segment.documents, CONTENT_BYTES)
    }

    /// How many pages of bits there are.
    pub fn dead_pages(&self) -> u32 {
        pages_of(self.segment.documents, CONTENT_BYTES * 8)
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
        block.ok_or(IndexError::Corrupt {
            block: place,
            problem: "a segment names a page that it does not have",
        })
    }

    /// What the header of the page at a place must say.
    pub fn header(&self, kind: PageKind, place: u32) -> PageHeader {
        PageHeader {
            kind,
            owner: self.segment.id,
            place,
        }
    }

    /// Reads the page at a place, unless it is held already, and looks at its content.
    pub(super) fn on<T>(
        &self,
        held: &Held<P>,
        kind: PageKind,
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
        let corrupt = |problem| IndexError::Corrupt {
            block: self.segment.block(place).unwrap_or_default(),
            problem,
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
            Ok(bytes) => look(bytes).ok_or(corrupt("it ends before problem it should hold")),
            Err(error) => {
                *held = None;
                Err(error)
            }
        }
    }

    /// A document's length as a norm.
    ///
    /// # Errors
    /// Damage.
    #[inline]
    pub fn norm(&self, document: u32) -> Result<u8> {
        let place = self.norms_place() + document / CONTENT_BYTES as u32;
        self.on(&self.norms, PageKind::Norms, place, |norms| {
            norms.get(document as usize % CONTENT_BYTES).copied()
        })
    }

    /// Looks at the norms of documents from one on, as many as share its page.
    ///
    /// # Errors
    /// Damage.
    #[inline]
    pub fn norms<T>(&self, first: u32, look: impl FnOnce(&[u8]) -> T) -> Result<T> {
        let place = self.norms_place() + first / CONTENT_BYTES as u32;
        self.on(&self.norms, PageKind::Norms, place, |norms| {
            Some(look(norms.get(first as usize % CONTENT_BYTES..)?))
        })
    }

    /// A document's row and fingerprint.
    ///
    /// # Errors
    /// Damage.
    pub fn row(&self, document: u32) -> Result<(u64, u64)> {
        let place = document / DOCUMENTS_PER_PAGE as u32;
        let at = document as usize % DOCUMENTS_PER_PAGE * DOCUMENT_BYTES;
        self.on(&self.rows, PageKind::Documents, place, |rows| {
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
        let place = self.dead_place() + document / (CONTENT_BYTES * 8) as u32;
        let bit = document as usize % (CONTENT_BYTES * 8);
        let block = self.block(place)?;
        self.pages.look(block, |body| {
            let bits = content(body, block, self.header(PageKind::Dead, place))?;
            let byte = bits.get(bit / 8).ok_or(IndexError::Corrupt {
                block,
                problem: "it ends before problem it should hold",
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
            PageKind::Dictionary,
            place,
            |page| match dictionary::find(page, term)? {
                Ok(at) => Some(Some(Entry::decode(dictionary::entry(page, at)?)?)),
                Err(()) => Some(None),
            },
        )
    }

    /// The first term of a dictionary page, and its place.
    fn direction(&self, held: &Held<P>, page: u32) -> Result<(u64, u32)> {
        let place = self.segment.directory + page / DIRECTORY_ENTRIES_PER_PAGE as u32;
        let at = page as usize % DIRECTORY_ENTRIES_PER_PAGE * DIRECTORY_ENTRY_BYTES;
        self.on(held, PageKind::Directory, place, |entries| {
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
        self.on(&held, PageKind::Dictionary, place, |bytes| {
            let count = dictionary::count(bytes)?;
            (0..count)
                .map(|at| {
                    let hash = dictionary::hash(bytes, at)?;
                    Some((hash, Entry::decode(dictionary::entry(bytes, at)?)?))
                })
                .collect()
        })
    }
}

/// The content of a page that was checked when it was taken.
fn held_content(body: &[u8]) -> Option<&[u8]> {
    let used = usize::from(u16_at(body, 12)?);
    body.get(
        crate::index::pages::page::HEADER_BYTES..crate::index::pages::page::HEADER_BYTES + used,
    )
}
