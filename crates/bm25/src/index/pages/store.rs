//! The interface to the pages: PostgreSQL's buffers in the server, a vector in tests.

use std::ops::Deref;

use crate::index::error::Result;

/// A run of adjacent blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Extent {
    /// First block.
    pub start: u32,
    /// Number of blocks.
    pub length: u32,
}

/// Read access to pages.
pub trait Pages {
    /// The body of a page, [`BODY_BYTES`](crate::index::pages::page::BODY_BYTES) long.
    type Page: Deref<Target = [u8]>;

    /// Returns a page of a segment, except [`PageKind::Dead`](crate::index::pages::page::PageKind). It does not change while the caller has
    /// it. If the page was reused before, its header names another owner.
    ///
    /// # Errors
    /// A block beyond the end of the file.
    fn read(&self, block: u32) -> Result<Self::Page>;

    /// Calls `look` with a page under a lock that prevents changes. Pages of segments may be read this way, too.
    ///
    /// # Errors
    /// A block beyond the end of the file, and errors of `look`.
    fn look<T>(&self, block: u32, look: impl FnOnce(&[u8]) -> Result<T>) -> Result<T>;
}

/// Write access to pages.
pub trait Store: Pages {
    /// Changes up to four pages atomically and crash-safely, under an exclusive lock. The blocks must be distinct and
    /// ascending. If `change` returns false or an error, nothing is changed. Returns whether the pages were changed.
    ///
    /// # Errors
    /// A block beyond the end of the file, and errors of `change`.
    fn change(
        &self,
        blocks: &[u32],
        change: impl FnOnce(&mut [&mut [u8]]) -> Result<bool>,
    ) -> Result<bool>;

    /// Replaces a whole page that no segment and no buffer owns. Waits until no reader has its former content.
    ///
    /// # Errors
    /// A block beyond the end of the file.
    fn write(&self, block: u32, body: &[u8]) -> Result<()>;

    /// Appends between one and `most` blocks to the file, for [`Store::write`].
    ///
    /// # Errors
    /// A full file.
    fn extend(&self, most: u32) -> Result<Extent>;

    /// Returns the number of blocks of the file.
    fn blocks(&self) -> u32;

    /// Runs `work` under the maintenance lock. Searches and appends to the write buffer continue.
    ///
    /// # Errors
    /// Errors of `work`.
    fn maintain<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T>;
}
