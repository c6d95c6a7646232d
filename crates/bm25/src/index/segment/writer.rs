//! Writes a segment: first its documents by row, then its terms by ascending hash, each with its postings.

use reground_interrupt::check_interrupt;

use crate::score::Parameters;

use crate::index::error::{IndexError, Result};
use crate::index::interrupts::WORK_PER_POSTING;
use crate::index::pages::meta::Segment;
use crate::index::pages::page::{CONTENT_BYTES, PageKind};
use crate::index::pages::page_allocator::PageAllocator;
use crate::index::pages::store::{Extent, Store};
use crate::index::score::{Saturation, impact};
use crate::index::segment::dictionary::{
    DictionaryPageBuilder, Entry, MAX_INLINE_POSTINGS, PostingsLocation,
};
use crate::index::segment::layout::{
    DIRECTORY_ENTRIES_PER_PAGE, DIRECTORY_ENTRY_BYTES, DOCUMENT_BYTES, MAX_DOCUMENTS, SKIP_BYTES,
    SKIPS_PER_PAGE,
};
use crate::index::segment::norms;
use crate::index::segment::posting_block::{self, BLOCK_LEN};

/// A page under construction, with its page number.
#[derive(Default)]
struct OpenPage {
    page_no: u32,
    bytes: Vec<u8>,
}

/// A skip entry: it describes one block.
#[derive(Clone, Copy)]
struct SkipEntry {
    last: u32,
    page: u32,
    offset: u16,
    impact: u8,
}

/// A segment under construction.
pub struct SegmentWriter<'s, S> {
    allocator: PageAllocator<'s, S>,
    id: u32,
    parameters: Parameters,
    documents: Vec<u8>,
    norms: Vec<u8>,
    /// Row of the last document.
    row: u64,
    /// Sum of the lengths as encoded in norms. A merge has no exact lengths.
    length: u64,
    terms: Option<TermsState>,
}

/// State while the terms are written.
struct TermsState {
    saturation: Saturation,
    average: u32,
    count: u32,
    last: Option<u64>,
    postings: OpenPage,
    skips: OpenPage,
    dictionary: DictionaryPageBuilder,
    dictionary_page_no: u32,
    directory: Vec<(u64, u32)>,
}

/// The rows of a segment do not ascend.
pub const ROWS_OUT_OF_ORDER: &str = "its rows are out of order";

/// Mean document length in units of 1/256, at least 1.
fn scaled_average(length: u64, documents: usize) -> u32 {
    let mean = length as f64 / documents.max(1) as f64 * 256.0;
    (mean as u32).max(1)
}

impl<'s, S: Store> SegmentWriter<'s, S> {
    /// Creates a writer for an empty segment. `pages` is the number of pages that it will probably have; 0 if unknown.
    pub fn new(store: &'s S, id: u32, parameters: Parameters, pages: u32) -> Self {
        Self {
            allocator: PageAllocator::new(store, id, pages),
            id,
            parameters,
            documents: Vec::with_capacity(CONTENT_BYTES),
            norms: Vec::new(),
            row: 0,
            length: 0,
            terms: None,
        }
    }

    /// Adds a document and returns its number. Documents must come by ascending row.
    ///
    /// # Errors
    /// Errors of the store, [`IndexError::Full`], and [`IndexError::Corrupt`] if the row comes before the previous one.
    pub fn document(&mut self, row: u64, fingerprint: u64, norm: u8) -> Result<u32> {
        let number = u32::try_from(self.norms.len()).unwrap_or(u32::MAX);
        if number >= MAX_DOCUMENTS {
            return Err(IndexError::Full {
                problem: "a segment has too many documents",
            });
        }
        if row < self.row {
            return Err(IndexError::Corrupt {
                block: 0,
                problem: ROWS_OUT_OF_ORDER,
            });
        }
        self.row = row;
        if self.documents.len() + DOCUMENT_BYTES > CONTENT_BYTES {
            self.flush_documents()?;
        }
        self.documents.extend(&row.to_le_bytes()[..6]);
        self.documents.extend(fingerprint.to_le_bytes());
        self.norms.push(norm);
        self.length += u64::from(norms::length(norm));
        check_interrupt(DOCUMENT_BYTES);
        Ok(number)
    }

    /// Number of documents so far.
    pub fn documents(&self) -> usize {
        self.norms.len()
    }

    fn flush_documents(&mut self) -> Result<()> {
        if !self.documents.is_empty() {
            let page_no = self.allocator.allocate()?;
            self.allocator
                .write(page_no, PageKind::Documents, &self.documents)?;
            self.documents.clear();
        }
        Ok(())
    }

    /// Completes the documents: writes the norms and the removal bits.
    fn terms(&mut self) -> Result<&mut TermsState> {
        if self.terms.is_none() {
            self.flush_documents()?;
            for norms in self.norms.chunks(CONTENT_BYTES) {
                let page_no = self.allocator.allocate()?;
                self.allocator.write(page_no, PageKind::Norms, norms)?;
            }
            for documents in self.norms.chunks(CONTENT_BYTES * 8) {
                let page_no = self.allocator.allocate()?;
                let bits = vec![0; documents.len().div_ceil(8)];
                self.allocator.write(page_no, PageKind::Dead, &bits)?;
            }
            let average = scaled_average(self.length, self.norms.len());
            self.terms = Some(TermsState {
                saturation: Saturation::new(&self.parameters, f64::from(average) / 256.0),
                average,
                count: 0,
                last: None,
                postings: OpenPage::default(),
                skips: OpenPage::default(),
                dictionary: DictionaryPageBuilder::default(),
                dictionary_page_no: 0,
                directory: Vec::new(),
            });
        }
        self.terms.as_mut().ok_or(IndexError::Full {
            problem: "the segment has no terms",
        })
    }

    /// Adds a term with its postings, by ascending document. Terms must come by ascending hash. A term without postings is
    /// ignored.
    ///
    /// # Errors
    /// Errors of the store and of `postings`.
    pub fn term(
        &mut self,
        hash: u64,
        postings: impl IntoIterator<Item = Result<(u32, u32)>>,
    ) -> Result<()> {
        self.terms()?;
        let (allocator, norms) = (&mut self.allocator, &self.norms);
        let Some(terms) = &mut self.terms else {
            return Ok(());
        };
        let (mut documents, mut frequencies) = ([0; BLOCK_LEN], [0; BLOCK_LEN]);
        let (mut held, mut total) = (0, 0_u32);
        let mut before = None;
        let mut skips: Vec<SkipEntry> = Vec::new();
        let mut last_block = None;
        for posting in postings {
            let (document, frequency) = posting?;
            if held == BLOCK_LEN {
                let (impact, block) =
                    encode_block(&terms.saturation, norms, before, &documents, &frequencies);
                let last = documents[BLOCK_LEN - 1];
                let open = &mut terms.postings;
                skips.push(put_block(allocator, open, &block, last, impact)?);
                before = Some(last);
                held = 0;
            }
            documents[held] = document;
            frequencies[held] = frequency;
            held += 1;
            total += 1;
        }
        if held == 0 {
            return Ok(());
        }
        let (documents, frequencies) = (&documents[..held], &frequencies[..held]);
        let (impact, block) =
            encode_block(&terms.saturation, norms, before, documents, frequencies);
        if total as usize <= MAX_INLINE_POSTINGS {
            last_block = Some(block);
        } else {
            let last = documents[held - 1];
            let open = &mut terms.postings;
            skips.push(put_block(allocator, open, &block, last, impact)?);
        }
        let most = skips
            .iter()
            .map(|skip| skip.impact)
            .max()
            .unwrap_or(u8::MAX);
        let location = match (last_block, &skips[..]) {
            (Some(block), _) => PostingsLocation::Inline(block),
            (None, [only]) => PostingsLocation::Block {
                page: only.page,
                offset: only.offset,
            },
            (None, many) => put_skips(allocator, &mut terms.skips, many)?,
        };
        let entry = Entry {
            documents: total,
            impact: most,
            location,
        };
        terms.put(allocator, hash, &entry.encode())
    }

    /// Completes the segment. Returns its description and the allocated pages that it does not use.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn finish(mut self) -> Result<(Segment, Vec<Extent>)> {
        self.terms()?;
        let Some(mut terms) = self.terms else {
            return Err(IndexError::Full {
                problem: "the segment has no terms",
            });
        };
        let mut allocator = self.allocator;
        terms.flush_dictionary(&mut allocator)?;
        for (open, kind) in [
            (terms.postings, PageKind::Postings),
            (terms.skips, PageKind::Skips),
        ] {
            if !open.bytes.is_empty() {
                allocator.write(open.page_no, kind, &open.bytes)?;
            }
        }
        let mut directory = None;
        for entries in terms.directory.chunks(DIRECTORY_ENTRIES_PER_PAGE) {
            let page_no = allocator.allocate()?;
            directory.get_or_insert(page_no);
            let mut bytes = Vec::with_capacity(entries.len() * DIRECTORY_ENTRY_BYTES);
            for (hash, page_no) in entries {
                bytes.extend(hash.to_le_bytes());
                bytes.extend(page_no.to_le_bytes());
            }
            allocator.write(page_no, PageKind::Directory, &bytes)?;
        }
        let (pages, extents, left) = allocator.finish();
        let segment = Segment {
            id: self.id,
            documents: u32::try_from(self.norms.len()).unwrap_or(u32::MAX),
            dead: 0,
            length: self.length,
            average: terms.average,
            terms: terms.count,
            dictionary: u32::try_from(terms.directory.len()).unwrap_or(u32::MAX),
            directory: directory.unwrap_or_default(),
            pages,
            extents,
        };
        Ok((segment, left))
    }
}

impl TermsState {
    /// Adds an entry to the dictionary.
    fn put<S: Store>(
        &mut self,
        allocator: &mut PageAllocator<'_, S>,
        hash: u64,
        entry: &[u8],
    ) -> Result<()> {
        debug_assert!(self.last < Some(hash), "terms are out of order");
        self.last = Some(hash);
        if !self.dictionary.has_room(entry.len()) {
            self.flush_dictionary(allocator)?;
        }
        if self.dictionary.is_empty() {
            self.dictionary_page_no = allocator.allocate()?;
            self.directory.push((hash, self.dictionary_page_no));
        }
        self.dictionary.add(hash, entry);
        self.count += 1;
        Ok(())
    }

    fn flush_dictionary<S: Store>(&mut self, allocator: &mut PageAllocator<'_, S>) -> Result<()> {
        if !self.dictionary.is_empty() {
            let bytes = self.dictionary.take();
            allocator.write(self.dictionary_page_no, PageKind::Dictionary, &bytes)?;
        }
        Ok(())
    }
}

/// Encodes a block of postings. Returns its largest impact and its bytes.
fn encode_block(
    saturation: &Saturation,
    norms: &[u8],
    before: Option<u32>,
    documents: &[u32],
    frequencies: &[u32],
) -> (u8, Vec<u8>) {
    let mut most = 0.0_f64;
    for (&document, &frequency) in documents.iter().zip(frequencies) {
        let norm = norms.get(document as usize).copied().unwrap_or_default();
        most = most.max(saturation.of(frequency, norm));
    }
    let mut block = Vec::with_capacity(posting_block::MAX_BLOCK_BYTES);
    posting_block::encode(&mut block, before, documents, frequencies);
    check_interrupt(WORK_PER_POSTING * documents.len());
    (impact(most), block)
}

/// Writes a block to the current postings page, or to the next one if it does not fit.
fn put_block<S: Store>(
    allocator: &mut PageAllocator<'_, S>,
    open: &mut OpenPage,
    block: &[u8],
    last: u32,
    impact: u8,
) -> Result<SkipEntry> {
    let room = ensure_space(allocator, open, PageKind::Postings, block.len())?;
    open.bytes.extend(block);
    Ok(SkipEntry {
        last,
        page: open.page_no,
        offset: room,
        impact,
    })
}

/// Writes the skip entries of a list to the current skip page if all of them fit on one page; otherwise to pages of their own,
/// in sequence.
fn put_skips<S: Store>(
    allocator: &mut PageAllocator<'_, S>,
    open: &mut OpenPage,
    skips: &[SkipEntry],
) -> Result<PostingsLocation> {
    let bytes = |skips: &[SkipEntry]| {
        let mut bytes = Vec::with_capacity(skips.len() * SKIP_BYTES);
        for skip in skips {
            bytes.extend(skip.last.to_le_bytes());
            bytes.extend(skip.page.to_le_bytes());
            bytes.extend(skip.offset.to_le_bytes());
            bytes.push(skip.impact);
        }
        bytes
    };
    if skips.len() <= SKIPS_PER_PAGE {
        let at = ensure_space(allocator, open, PageKind::Skips, skips.len() * SKIP_BYTES)?;
        open.bytes.extend(bytes(skips));
        return Ok(PostingsLocation::Blocks {
            page: open.page_no,
            entry: at / SKIP_BYTES as u16,
        });
    }
    let mut first = None;
    for skips in skips.chunks(SKIPS_PER_PAGE) {
        let page_no = allocator.allocate()?;
        first.get_or_insert(page_no);
        allocator.write(page_no, PageKind::Skips, &bytes(skips))?;
    }
    Ok(PostingsLocation::Blocks {
        page: first.unwrap_or_default(),
        entry: 0,
    })
}

/// Makes space for `bytes` bytes on the current page, and returns the offset for them.
fn ensure_space<S: Store>(
    allocator: &mut PageAllocator<'_, S>,
    open: &mut OpenPage,
    kind: PageKind,
    bytes: usize,
) -> Result<u16> {
    if open.bytes.len() + bytes > CONTENT_BYTES {
        allocator.write(open.page_no, kind, &open.bytes)?;
        open.bytes.clear();
    }
    if open.bytes.is_empty() {
        open.page_no = allocator.allocate()?;
    }
    Ok(u16::try_from(open.bytes.len()).unwrap_or(u16::MAX))
}
