//! The write buffer: a run of pages to which new documents are appended, until it is converted to a segment.
//!
//! The layout of a page is `[closed u8][documents]`, that of a document `[bytes u16][removed u8][row 6][fingerprint u64][norm
//! u8][terms u16] [hashes u64 …][frequencies u16 …]`.

use crate::index::error::{IndexError, Result};
use crate::index::pages::meta::WriteBuffer;
use crate::index::pages::page::{
    CONTENT_BYTES, HEADER_BYTES, PageHeader, PageKind, content, u16_at, u32_at, u64_at,
};
use crate::index::pages::store::{Pages, Store};
use crate::index::terms::Document;

/// Bytes of a document before the hashes.
const FIXED_BYTES: usize = 2 + 1 + 6 + 8 + 1 + 2;
/// Bytes of a term.
const TERM_BYTES: usize = 8 + 2;
/// Maximum number of terms of a document that fits on a page.
const MAX_TERMS: usize = (CONTENT_BYTES - 1 - FIXED_BYTES) / TERM_BYTES;

/// Returns whether a document fits into a write buffer: on one page, with frequencies of two bytes.
pub fn fits(document: &Document) -> bool {
    let is_short = |&(_, frequency): &(u64, u32)| frequency <= u32::from(u16::MAX);
    document.terms.len() <= MAX_TERMS && document.terms.iter().all(is_short)
}

/// Outcome of an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppendOutcome {
    /// The document was appended.
    Done,
    /// The page has no space for it.
    Full,
    /// The buffer is being converted to a segment. The meta page lists the next buffer.
    Closed,
}

impl WriteBuffer {
    /// Returns the expected header of a page.
    pub fn header(&self, page: u32) -> PageHeader {
        PageHeader {
            kind: PageKind::WriteBuffer,
            owner: self.id,
            page_no: page,
        }
    }
}

/// Initialises the pages of a new buffer.
///
/// # Errors
/// Errors of the store.
pub fn prepare<S: Store>(store: &S, buffer: &WriteBuffer) -> Result<()> {
    let mut body = vec![0; crate::index::pages::page::BODY_BYTES];
    for page in 0..buffer.pages {
        crate::index::pages::meta::write_page(
            &mut body,
            buffer.header(page),
            &[0],
            "an empty page is too full",
        )?;
        store.write(buffer.start + page, &body)?;
    }
    Ok(())
}

/// Returns a document as bytes.
fn encode(document: &Document) -> Vec<u8> {
    let length = FIXED_BYTES + TERM_BYTES * document.terms.len();
    let short = |value: usize| u16::try_from(value).unwrap_or(u16::MAX).to_le_bytes();
    let mut bytes = Vec::with_capacity(length);
    bytes.extend(short(length));
    bytes.push(0);
    bytes.extend(&document.row.to_le_bytes()[..6]);
    bytes.extend(document.fingerprint.to_le_bytes());
    bytes.push(document.norm());
    bytes.extend(short(document.terms.len()));
    bytes.extend(
        document
            .terms
            .iter()
            .flat_map(|(hash, _)| hash.to_le_bytes()),
    );
    bytes.extend(
        document
            .terms
            .iter()
            .flat_map(|&(_, frequency)| short(frequency as usize)),
    );
    bytes
}

/// Appends a document to a page of the buffer.
///
/// # Errors
/// Errors of the store; [`IndexError::Reused`] if the buffer was converted to a segment and its pages were reused.
pub fn append<S: Store>(
    store: &S,
    buffer: &WriteBuffer,
    page: u32,
    document: &Document,
) -> Result<AppendOutcome> {
    let bytes = encode(document);
    let block = buffer.start + page;
    let mut outcome = AppendOutcome::Done;
    store.change(&[block], |bodies| {
        let held = content(bodies[0], block, buffer.header(page))?;
        let used = held.len();
        outcome = match held.first() {
            Some(0) if used + bytes.len() <= CONTENT_BYTES => AppendOutcome::Done,
            Some(0) => AppendOutcome::Full,
            _ => AppendOutcome::Closed,
        };
        if outcome != AppendOutcome::Done {
            return Ok(false);
        }
        bodies[0][HEADER_BYTES + used..HEADER_BYTES + used + bytes.len()].copy_from_slice(&bytes);
        buffer.header(page).write(bodies[0], used + bytes.len());
        Ok(true)
    })?;
    Ok(outcome)
}

/// A document on a page.
pub struct BufferedDocument<'a> {
    /// Whether vacuum removed it.
    pub removed: bool,
    /// Address of its row.
    pub row: u64,
    /// Fingerprint of its content.
    pub fingerprint: u64,
    /// Length as a norm.
    pub norm: u8,
    hashes: &'a [u8],
    frequencies: &'a [u8],
    /// Position of its `removed` byte on the page.
    at: usize,
}

impl BufferedDocument<'_> {
    /// Frequency of a term in the document.
    pub fn frequency(&self, term: u64) -> u32 {
        let count = self.hashes.len() / 8;
        let hash = |at: usize| u64_at(self.hashes, 8 * at).unwrap_or_default();
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = low + (high - low) / 2;
            if hash(middle) < term {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if low < count && hash(low) == term {
            u32::from(u16_at(self.frequencies, 2 * low).unwrap_or_default())
        } else {
            0
        }
    }

    /// Terms with their frequencies.
    pub fn terms(&self) -> impl Iterator<Item = (u64, u32)> {
        let pairs = self
            .hashes
            .chunks_exact(8)
            .zip(self.frequencies.chunks_exact(2));
        pairs.map(|(hash, frequency)| {
            (
                u64_at(hash, 0).unwrap_or_default(),
                u32::from(u16_at(frequency, 0).unwrap_or_default()),
            )
        })
    }
}

/// Parses the documents on a page; `None` for invalid bytes.
pub fn documents(content: &[u8]) -> Option<Vec<BufferedDocument<'_>>> {
    let mut found = Vec::new();
    let mut at = 1;
    while at < content.len() {
        let length = usize::from(u16_at(content, at)?);
        let bytes = content.get(at..at + length)?;
        let terms = usize::from(u16_at(bytes, FIXED_BYTES - 2)?);
        if length != FIXED_BYTES + TERM_BYTES * terms {
            return None;
        }
        let (hashes, frequencies) = bytes[FIXED_BYTES..].split_at(8 * terms);
        found.push(BufferedDocument {
            removed: *bytes.get(2)? != 0,
            row: u64::from(u32_at(bytes, 3)?) | u64::from(u16_at(bytes, 7)?) << 32,
            fingerprint: u64_at(bytes, 9)?,
            norm: *bytes.get(17)?,
            hashes,
            frequencies,
            at: at + 2,
        });
        at += length;
    }
    Some(found)
}

/// Calls `visit` with each document of a buffer, page by page.
///
/// # Errors
/// A damaged page.
pub fn for_each_document<P: Pages>(
    pages: &P,
    buffer: &WriteBuffer,
    mut visit: impl FnMut(&BufferedDocument<'_>),
) -> Result<()> {
    for page in 0..buffer.pages {
        let block = buffer.start + page;
        let empty = pages.look(block, |body| {
            let bytes = content(body, block, buffer.header(page))?;
            let found = documents(bytes).ok_or(truncated_documents(block))?;
            found.iter().for_each(&mut visit);
            Ok(found.is_empty())
        })?;
        // Pages are filled in order, so all pages after an empty one are empty.
        if empty {
            break;
        }
    }
    Ok(())
}

/// Closes all pages for appends.
///
/// # Errors
/// Errors of the store.
pub fn close<S: Store>(store: &S, buffer: &WriteBuffer) -> Result<()> {
    for page in 0..buffer.pages {
        let block = buffer.start + page;
        store.change(&[block], |bodies| {
            let open = content(bodies[0], block, buffer.header(page))?.first() == Some(&0);
            bodies[0][HEADER_BYTES] = 1;
            Ok(open)
        })?;
    }
    Ok(())
}

/// Marks the documents as removed for whose row `is_removed` returns true. Returns the numbers of removed and of remaining
/// documents.
///
/// # Errors
/// Errors of the store.
pub fn remove<S: Store>(
    store: &S,
    buffer: &WriteBuffer,
    mut is_removed: impl FnMut(u64) -> bool,
) -> Result<(u64, u64)> {
    let (mut removed, mut remaining) = (0, 0);
    for page in 0..buffer.pages {
        let block = buffer.start + page;
        // Call `is_removed` without the page lock, because it may take long.
        let mut rows = Vec::new();
        store.look(block, |body| {
            let bytes = content(body, block, buffer.header(page))?;
            let found = documents(bytes).ok_or(truncated_documents(block))?;
            rows.extend(
                found
                    .iter()
                    .filter(|one| !one.removed)
                    .map(|one| (one.at, one.row)),
            );
            Ok(())
        })?;
        let before = rows.len() as u64;
        rows.retain(|&(_, row)| is_removed(row));
        removed += rows.len() as u64;
        remaining += before - rows.len() as u64;
        if rows.is_empty() {
            continue;
        }
        store.change(&[block], |bodies| {
            content(bodies[0], block, buffer.header(page))?;
            for (at, _) in &rows {
                bodies[0][HEADER_BYTES + at] = 1;
            }
            Ok(true)
        })?;
    }
    Ok((removed, remaining))
}

fn truncated_documents(block: u32) -> IndexError {
    IndexError::Corrupt {
        block,
        problem: "its documents are truncated",
    }
}
