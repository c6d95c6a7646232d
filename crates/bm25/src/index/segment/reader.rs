//! Reads a segment: its documents by number, and its dictionary.

use std::cell::RefCell;

use reground_interrupt::check_interrupt;

use crate::index::error::{IndexError, Result};
use crate::index::interrupts::WORK_PER_ROW_PAGE;
use crate::index::pages::meta::Segment;
use crate::index::pages::page::{
    CONTENT_BYTES, PageHeader, PageKind, content, u16_at, u32_at, u64_at,
};
use crate::index::pages::store::Pages;
use crate::index::segment::dictionary::{self, Entry};
use crate::index::segment::layout::{
    DIRECTORY_ENTRIES_PER_PAGE, DIRECTORY_ENTRY_BYTES, DOCUMENT_BYTES, DOCUMENTS_PER_PAGE,
};

/// A cached page with its page number.
pub(super) type Held<P> = RefCell<Option<(u32, <P as Pages>::Page)>>;

/// A segment with its cached pages.
pub struct SegmentReader<'a, P: Pages> {
    pages: &'a P,
    /// Description of the segment on the meta page.
    pub segment: &'a Segment,
    norms: Held<P>,
    rows: Held<P>,
    directory: Held<P>,
    dictionary: Held<P>,
    /// Copy of the removal bits of a page, with its number.
    dead: RefCell<Option<(u32, Vec<u8>)>>,
}

/// Number of pages for one record per document, with `a_page` records on a page.
fn page_count(documents: u32, a_page: usize) -> u32 {
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
            directory: RefCell::new(None),
            dictionary: RefCell::new(None),
            dead: RefCell::new(None),
        }
    }

    /// Number of the first norms page.
    fn first_norms_page(&self) -> u32 {
        page_count(self.segment.documents, DOCUMENTS_PER_PAGE)
    }

    /// Number of the first page with removal bits.
    pub fn first_dead_page(&self) -> u32 {
        self.first_norms_page() + page_count(self.segment.documents, CONTENT_BYTES)
    }

    /// Number of pages with removal bits.
    pub fn dead_pages(&self) -> u32 {
        page_count(self.segment.documents, CONTENT_BYTES * 8)
    }

    /// Returns the block of a page.
    ///
    /// # Errors
    /// A page number outside the segment.
    pub fn block(&self, page_no: u32) -> Result<u32> {
        let block = self
            .segment
            .block(page_no)
            .filter(|_| page_no < self.segment.pages);
        block.ok_or(IndexError::Corrupt {
            block: page_no,
            problem: "a page number is outside its segment",
        })
    }

    /// Returns the expected header of a page.
    pub fn header(&self, kind: PageKind, page_no: u32) -> PageHeader {
        PageHeader {
            kind,
            owner: self.segment.id,
            page_no,
        }
    }

    /// Calls `look` with the content of a page. The page is read only if it is not cached.
    pub(super) fn with_page<T>(
        &self,
        held: &Held<P>,
        kind: PageKind,
        page_no: u32,
        look: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Result<T> {
        let mut held = held.borrow_mut();
        let block = match &*held {
            Some((at, _)) if *at == page_no => None,
            _ => Some(self.block(page_no)?),
        };
        if let Some(block) = block {
            // Release the cached page first, so that at most one page per purpose is pinned.
            *held = None;
            *held = Some((page_no, self.pages.read(block)?));
        }
        let corrupt = |problem| IndexError::Corrupt {
            block: self.segment.block(page_no).unwrap_or_default(),
            problem,
        };
        let Some((_, page)) = &*held else {
            return Err(corrupt("it is not cached"));
        };
        // A page is validated when it is read. A cached page does not change.
        let bytes = match block {
            Some(block) => content(page, block, self.header(kind, page_no)),
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
        let page_no = self.first_norms_page() + document / CONTENT_BYTES as u32;
        self.with_page(&self.norms, PageKind::Norms, page_no, |norms| {
            norms.get(document as usize % CONTENT_BYTES).copied()
        })
    }

    /// Calls `look` with the norms from document `first` to the end of the page.
    ///
    /// # Errors
    /// A damaged page.
    #[inline]
    pub fn norms<T>(&self, first: u32, look: impl FnOnce(&[u8]) -> T) -> Result<T> {
        let page_no = self.first_norms_page() + first / CONTENT_BYTES as u32;
        self.with_page(&self.norms, PageKind::Norms, page_no, |norms| {
            Some(look(norms.get(first as usize % CONTENT_BYTES..)?))
        })
    }

    /// Calls `visit` with the position and the norm of each of the documents, which ascend. Norms on the same page are read together.
    ///
    /// # Errors
    /// A damaged page.
    #[inline]
    pub fn each_norm(&self, documents: &[u32], mut visit: impl FnMut(usize, u8)) -> Result<()> {
        let mut at = 0;
        while let Some(&first) = documents.get(at) {
            let page_no = self.first_norms_page() + first / CONTENT_BYTES as u32;
            at += self.with_page(&self.norms, PageKind::Norms, page_no, |norms| {
                let norms = norms.get(first as usize % CONTENT_BYTES..)?;
                let mut count = 0;
                for &document in &documents[at..] {
                    let Some(&norm) = norms.get(document.wrapping_sub(first) as usize) else {
                        break;
                    };
                    visit(at + count, norm);
                    count += 1;
                }
                (count > 0).then_some(count)
            })?;
        }
        Ok(())
    }

    /// Returns the row and the fingerprint of a document.
    ///
    /// # Errors
    /// A damaged page.
    pub fn row(&self, document: u32) -> Result<(u64, u64)> {
        let page_no = document / DOCUMENTS_PER_PAGE as u32;
        self.with_page(&self.rows, PageKind::Documents, page_no, |rows| {
            record(rows, document)
        })
    }

    /// Calls `visit` with the position, the row and the fingerprint of each of the documents, which ascend. Those on the same page are read
    /// together. No page is kept, which saves calls and, on a standby, a copy of the page.
    ///
    /// # Errors
    /// A damaged page.
    pub fn each_row(
        &self,
        documents: &[u32],
        mut visit: impl FnMut(usize, u64, u64),
    ) -> Result<()> {
        let page_of = |document: u32| document / DOCUMENTS_PER_PAGE as u32;
        let mut at = 0;
        for together in documents.chunk_by(|&a, &b| page_of(a) == page_of(b)) {
            check_interrupt(WORK_PER_ROW_PAGE + together.len());
            let page_no = together.first().map_or(0, |&first| page_of(first));
            let block = self.block(page_no)?;
            self.pages.look(block, |page| {
                let rows = content(page, block, self.header(PageKind::Documents, page_no))?;
                for &document in together {
                    let (row, fingerprint) = record(rows, document).ok_or(IndexError::Corrupt {
                        block,
                        problem: "it is shorter than its content",
                    })?;
                    visit(at, row, fingerprint);
                    at += 1;
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Returns the documents of `rows`, which ascend. Removed documents, and rows that the segment does not contain, are left out.
    ///
    /// # Errors
    /// A damaged page.
    pub fn documents_of(&self, rows: impl IntoIterator<Item = u64>) -> Result<Vec<(u64, u32)>> {
        let mut found = Vec::new();
        let mut next = 0;
        for row in rows {
            next = self.first_from(row, next)?;
            // The address of a removed document may have been used again.
            let mut document = next;
            while document < self.segment.documents && self.row(document)?.0 == row {
                if !self.is_dead(document)? {
                    found.push((row, document));
                    break;
                }
                document += 1;
            }
        }
        Ok(found)
    }

    /// Returns the first document from `first` on whose row is not before `row`; the number of documents if there is none.
    fn first_from(&self, row: u64, first: u32) -> Result<u32> {
        let (mut low, mut high) = (first, self.segment.documents);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.row(middle)?.0 < row {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    /// Returns whether vacuum removed a document. The bits are copied once, though a vacuum may be running: it removes only rows that no
    /// running statement sees, and a statement does not see a row that is inserted later at the same address. A merge holds the
    /// maintenance lock, so no vacuum is running then.
    ///
    /// # Errors
    /// A damaged page.
    pub fn is_dead(&self, document: u32) -> Result<bool> {
        if self.segment.dead == 0 {
            return Ok(false);
        }
        let page_no = self.first_dead_page() + document / (CONTENT_BYTES * 8) as u32;
        let bit = document as usize % (CONTENT_BYTES * 8);
        let mut dead = self.dead.borrow_mut();
        let bits = match &mut *dead {
            Some((at, bits)) if *at == page_no => bits,
            other => &mut other.insert((page_no, self.dead_bits(page_no)?)).1,
        };
        let byte = bits.get(bit / 8).ok_or(IndexError::Corrupt {
            block: self.block(page_no)?,
            problem: "it is shorter than its content",
        })?;
        Ok(byte >> (bit % 8) & 1 == 1)
    }

    /// Copies the removal bits of a page.
    fn dead_bits(&self, page_no: u32) -> Result<Vec<u8>> {
        let block = self.block(page_no)?;
        self.pages.look(block, |body| {
            Ok(content(body, block, self.header(PageKind::Dead, page_no))?.to_vec())
        })
    }

    /// Returns the dictionary entry of a term. If terms are looked up in ascending order, the next one often finds its pages cached.
    ///
    /// # Errors
    /// A damaged page.
    pub fn find(&self, term: u64) -> Result<Option<Entry>> {
        let pages = self.segment.dictionary;
        // Find the last dictionary page whose first term is not greater than the wanted one.
        let (mut low, mut high) = (0, pages);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.directory_entry(middle)?.0 <= term {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let Some(at) = low.checked_sub(1) else {
            return Ok(None);
        };
        let (_, page_no) = self.directory_entry(at)?;
        self.with_page(&self.dictionary, PageKind::Dictionary, page_no, |page| {
            match dictionary::find(page, term)? {
                Ok(at) => Some(Some(Entry::decode(dictionary::entry(page, at)?)?)),
                Err(()) => Some(None),
            }
        })
    }

    /// Returns the first term of a dictionary page, and its page number.
    fn directory_entry(&self, page: u32) -> Result<(u64, u32)> {
        let page_no = self.segment.directory + page / DIRECTORY_ENTRIES_PER_PAGE as u32;
        let at = page as usize % DIRECTORY_ENTRIES_PER_PAGE * DIRECTORY_ENTRY_BYTES;
        self.with_page(&self.directory, PageKind::Directory, page_no, |entries| {
            Some((u64_at(entries, at)?, u32_at(entries, at + 8)?))
        })
    }

    /// Returns the terms of one dictionary page with their entries, by ascending hash.
    ///
    /// # Errors
    /// A damaged page.
    pub fn terms_of_page(&self, page: u32) -> Result<Vec<(u64, Entry)>> {
        let (_, page_no) = self.directory_entry(page)?;
        self.with_page(&self.dictionary, PageKind::Dictionary, page_no, |bytes| {
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

/// Returns the row and the fingerprint of a document from its page.
fn record(rows: &[u8], document: u32) -> Option<(u64, u64)> {
    let at = document as usize % DOCUMENTS_PER_PAGE * DOCUMENT_BYTES;
    let row = u64::from(u32_at(rows, at)?) | u64::from(u16_at(rows, at + 4)?) << 32;
    Some((row, u64_at(rows, at + 6)?))
}

/// Returns the content of a page that was validated when it was read.
fn held_content(body: &[u8]) -> Option<&[u8]> {
    let used = usize::from(u16_at(body, 12)?);
    body.get(
        crate::index::pages::page::HEADER_BYTES..crate::index::pages::page::HEADER_BYTES + used,
    )
}
