//! Where the pages are: PostgreSQL's buffers in the server, a vector in tests.

use std::ops::Deref;

use crate::index::error::Result;

/// Neighbouring blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Extent {
    /// The first.
    pub start: u32,
    /// How many.
    pub length: u32,
}

/// Pages that can be read.
pub trait Pages {
    /// The body of a page, [`BODY`](crate::index::pages::page::BODY) bytes, for as long as it is held.
    type Page: Deref<Target = [u8]>;

    /// A page that nobody changes any more (those of published segments but for [`Kind::Dead`](crate::index::pages::page::Kind)).
    ///
    /// # Errors
    /// A block beyond the end.
    fn read(&self, block: u32) -> Result<Self::Page>;

    /// Looks at a page that others may change, while they cannot.
    ///
    /// # Errors
    /// A block beyond the end, and whatever `look` returns.
    fn look<T>(&self, block: u32, look: impl FnOnce(&[u8]) -> Result<T>) -> Result<T>;
}

/// Pages that can be written.
pub trait Store: Pages {
    /// Changes up to four pages together: after a crash all of it has happened or nothing. Others wait. Blocks are distinct
    /// and ascending. Where `change` returns an error or false, nothing is changed; whether it was is returned.
    ///
    /// # Errors
    /// A block beyond the end, and whatever `change` returns.
    fn change(
        &self,
        blocks: &[u32],
        change: impl FnOnce(&mut [&mut [u8]]) -> Result<bool>,
    ) -> Result<bool>;

    /// Replaces a whole page that nobody reads yet.
    ///
    /// # Errors
    /// A block beyond the end.
    fn write(&self, block: u32, body: &[u8]) -> Result<()>;

    /// Appends blocks to the file, at least one and at most so many; they can be given to [`Store::write`].
    ///
    /// # Errors
    /// A full file.
    fn extend(&self, most: u32) -> Result<Extent>;

    /// Keeps everybody else from maintaining the index while `work` does. Readers go on, and so do those who append to the
    /// tail.
    ///
    /// # Errors
    /// Whatever `work` returns.
    fn maintain<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T>;

    /// A moment, for pages that are given up now.
    fn now(&self) -> u64;

    /// Whether nobody can still be reading what was given up at that moment.
    fn is_past(&self, moment: u64) -> bool;

    /// Says, before it happens, that a block that was given up at that moment is used again: copies of the index elsewhere may
    /// still have readers.
    fn announce_reuse(&self, block: u32, moment: u64);
}
