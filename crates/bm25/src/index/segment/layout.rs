//! Sizes of the records in a segment.

use crate::index::pages::page::CONTENT_BYTES;

/// Bytes of a document: row address and fingerprint.
pub const DOCUMENT_BYTES: usize = 6 + 8;
/// Number of documents on a page.
pub const DOCUMENTS_PER_PAGE: usize = CONTENT_BYTES / DOCUMENT_BYTES;
/// Bytes of a skip entry: last document, page, offset, impact.
pub const SKIP_BYTES: usize = 4 + 4 + 2 + 1;
/// Number of skip entries on a page.
pub const SKIPS_PER_PAGE: usize = CONTENT_BYTES / SKIP_BYTES;
/// Bytes of a directory entry: first term and page number of a dictionary page.
pub const DIRECTORY_ENTRY_BYTES: usize = 8 + 4;
/// Number of directory entries on a page.
pub const DIRECTORY_ENTRIES_PER_PAGE: usize = CONTENT_BYTES / DIRECTORY_ENTRY_BYTES;
/// Maximum number of documents in a segment. One bit of the document numbers stays free.
pub const MAX_DOCUMENTS: u32 = 1 << 31;
