//! Reads a segment: its documents by number, and its dictionary.

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

/// A cached page with its place.
pub(super) type Held<P> = RefCell<Option<(u32, <P as Pages>::Page)>>;

/// A segment with its cached pages.
pub struct SegmentReader<'a, P: Pages> {
    pages: &'a P,
    /// Description of the segment on the meta page.
    pub segment: &'a Segment,
    norms: Held<P>,
    rows: Held<P>,
}

/// Number of pages for one record per document, with `a_page` records on a page.
fn pages_of(documents: u32, a_page: usize) -> u32 {
    (documents as usize).div_ceil(a_page) as u32
}

impl<'a, P: Pages> SegmentReader<'a, P> {
    /// Creates a reader of a segment that the meta page lists.
    pub fn new(pages: &'a P, segment: &'a Segment) -> Self {
        Self {
            pages,
            segment,
            norms: RefCell::new(None),
            rows: RefCell::new(None),
        }
    }

    /// Place of the first norms page.
    fn norms_place(&self) -> u32 {
        pages_of(self.segment.documents, DOCUMENTS_PER_PAGE)
    }

    /// Place of the first page with removal bits.
    pub fn dead_place(&self) -> u32 {
        self.norms_place() + pages_of(self.segment.documents, CONTENT_BYTES)
    }

    /// Number of pages with removal bits.
    pub fn dead_pages(&self) -> u32 {
        pages_of(self.segment.documents, CONTENT_BYTES * 8)
    }

    /// Returns the block of a place.
    ///
    /// # Errors
    /// A place outside the segment.
    pub fn block(&self, place: u32) -> Result<u32> {
        let block = self
            .segment
            .block(place)
            .filter(|_| place < self.segment.pages);
        block.ok_or(IndexError::Corrupt {
            block: place,
            problem: "a page number is outside its segment",
        })
    }

    /// Returns the expected header of the page at a place.
    pub fn header(&self, kind: PageKind, place: u32) -> PageHeader {
        PageHeader {
            kind,
            owner: self.segment.id,
            place,
        }
    }

    /// Calls `look` with the content of the page at a place. The page is read only if it is not cached.
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
            // Release the cached page first, so that at most one page per purpose is pinned.
            *held = None;
            *held = Some((place, self.pages.read(block)?));
        }
        let corrupt = |problem| IndexError::Corrupt {
            block: self.segment.block(place).unwrap_or_default(),
            problem,
        };
        let Some((_, page)) = &*held else {
            return Err(corrupt("it is not cached"));
        };
        // A page is validated when it is read. A cached page does not change.
        let bytes = match block {
            Some(block) => content(page, block, self.header(kind, place)),
            None => held_content(page).ok_or(corrupt("its header is missing")),
        };
        match bytes {
            Ok(bytes) => look(bytes).ok_or(corrupt("it is shorter than its content")),
            Err(error) => {
                *held = None;
                Err(error)
            }
        }
    }

    /// Returns the norm of a document.
    ///
    /// # Errors
    /// A damaged page.
    #[inline]
    pub fn norm(&self, document: u32) -> Result<u8> {
        let place = self.norms_place() + document / CONTENT_BYTES as u32;
        self.on(&self.norms, PageKind::Norms, place, |norms| {
            norms.get(document as usize % CONTENT_BYTES).copied()
        })
    }

    /// Calls `look` with the norms from document `first` to the end of the page.
    ///
    /// # Errors
    /// A damaged page.
    #[inline]
    pub fn norms<T>(&self, first: u32, look: impl FnOnce(&[u8]) -> T) -> Result<T> {
        let place = self.norms_place() + first / CONTENT_BYTES as u32;
        self.on(&self.norms, PageKind::Norms, place, |norms| {
            Some(look(norms.get(first as usize % CONTENT_BYTES..)?))
        })
    }

    /// Returns the row and the fingerprint of a document.
    ///
    /// # Errors
    /// A damaged page.
    pub fn row(&self, document: u32) -> Result<(u64, u64)> {
        let place = document / DOCUMENTS_PER_PAGE as u32;
        let at = document as usize % DOCUMENTS_PER_PAGE * DOCUMENT_BYTES;
        self.on(&self.rows, PageKind::Documents, place, |rows| {
            let row = u64::from(u32_at(rows, at)?) | u64::from(u16_at(rows, at + 4)?) << 32;
            Some((row, u64_at(rows, at + 6)?))
        })
    }

    /// Returns whether vacuum removed a document. A vacuum may be running.
    ///
    /// # Errors
    /// A damaged page.
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
                problem: "it is shorter than its content",
            })?;
            Ok(byte >> (bit % 8) & 1 == 1)
        })
    }

    /// Returns the dictionary entry of a term.
    ///
    /// # Errors
    /// A damaged page.
    pub fn find(&self, term: u64) -> Result<Option<Entry>> {
        let held = RefCell::new(None);
        let pages = self.segment.dictionary;
        // Find the last dictionary page whose first term is not greater than the wanted one.
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

    /// Returns the first term of a dictionary page, and its place.
    fn direction(&self, held: &Held<P>, page: u32) -> Result<(u64, u32)> {
        let place = self.segment.directory + page / DIRECTORY_ENTRIES_PER_PAGE as u32;
        let at = page as usize % DIRECTORY_ENTRIES_PER_PAGE * DIRECTORY_ENTRY_BYTES;
        self.on(held, PageKind::Directory, place, |entries| {
            Some((u64_at(entries, at)?, u32_at(entries, at + 8)?))
        })
    }

    /// Returns the terms of one dictionary page with their entries, by ascending hash.
    ///
    /// # Errors
    /// A damaged page.
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

/// Returns the content of a page that was validated when it was read.
fn held_content(body: &[u8]) -> Option<&[u8]> {
    let used = usize::from(u16_at(body, 12)?);
    body.get(
        crate::index::pages::page::HEADER_BYTES..crate::index::pages::page::HEADER_BYTES + used,
    )
}
