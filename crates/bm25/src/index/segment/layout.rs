//! Sizes of the records of a segment.

use crate::index::pages::page::CONTENT_BYTES;

/// Bytes of a document: its row's address and its fingerprint.
pub const DOCUMENT_BYTES: usize = 6 + 8;
/// Documents on a page.
pub const DOCUMENTS_PER_PAGE: usize = CONTENT_BYTES / DOCUMENT_BYTES;
/// Bytes of the entry of a block: last document, page, offset, impact.
pub const SKIP_BYTES: usize = 4 + 4 + 2 + 1;
/// Entries on a page.
pub const SKIPS_PER_PAGE: usize = CONTENT_BYTES / SKIP_BYTES;
/// Bytes of the entry of a dictionary page: its first term, its place.
pub const DIRECTORY_ENTRY_BYTES: usize = 8 + 4;
/// Entries on a page.
pub const DIRECTORY_ENTRIES_PER_PAGE: usize = CONTENT_BYTES / DIRECTORY_ENTRY_BYTES;
/// Most documents of a segment: a bit of the numbers is kept free.
pub const MAX_DOCUMENTS: u32 = 1 << 31;
