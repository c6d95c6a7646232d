//! Allocates pages for a segment or a write buffer, from the free list or by appending to the file.
//!
//! Allocated pages are recorded on the meta page until the segment or the buffer is published, so that they are not lost when
//! the writer is interrupted. Only one writer works at a time, the one with the maintenance lock.

use crate::index::error::{IndexError, Result};
use crate::index::pages::free_list::{FREE, LEAST_TAKEN, free_runs, put_free_runs, take_free_run};
use crate::index::pages::meta::{MAX_EXTENTS, META, Meta, write_page};
use crate::index::pages::page::{BODY_BYTES, PageHeader, PageKind};
use crate::index::pages::store::{Extent, Store};

/// Maximum number of free runs in one segment. This limits the extents: appended pages are merged with an adjacent run, or
/// grow by half each time.
const MAX_REUSED_RUNS: usize = 8;
/// Maximum number of pages per append.
const MAX_APPEND: u32 = 4096;

/// The pages of one owner, in order.
pub struct PageAllocator<'s, S> {
    store: &'s S,
    owner: u32,
    /// Number of pages that will probably be needed.
    expected: u32,
    extents: Vec<Extent>,
    taken: u32,
    used: u32,
    body: Vec<u8>,
}

impl<'s, S: Store> PageAllocator<'s, S> {
    /// Creates an allocator without pages. `expected` is the number of pages that will probably be needed; 0 if unknown.
    pub fn new(store: &'s S, owner: u32, expected: u32) -> Self {
        Self {
            store,
            owner,
            expected,
            extents: Vec::new(),
            taken: 0,
            used: 0,
            body: vec![0; BODY_BYTES],
        }
    }

    /// Allocates the next page and returns its number.
    ///
    /// # Errors
    /// Errors of the store, and [`IndexError::Full`].
    pub fn allocate(&mut self) -> Result<u32> {
        if self.used == self.taken {
            let rest = self.expected.saturating_sub(self.taken);
            let wanted = rest.max(self.taken / 2).clamp(LEAST_TAKEN, MAX_APPEND);
            self.take(wanted)?;
        }
        self.used += 1;
        Ok(self.used - 1)
    }

    /// Writes an allocated page.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn write(&mut self, page_no: u32, kind: PageKind, bytes: &[u8]) -> Result<()> {
        let header = PageHeader {
            kind,
            owner: self.owner,
            page_no,
        };
        write_page(
            &mut self.body,
            header,
            bytes,
            "a page of a segment is too full",
        )?;
        let block = block(&self.extents, page_no).ok_or(IndexError::Full {
            problem: "a page is not allocated",
        })?;
        self.store.write(block, &self.body)
    }

    fn take(&mut self, wanted: u32) -> Result<()> {
        let reused = match self.extents.len() {
            0..MAX_REUSED_RUNS => reuse(self.store, wanted, false)?,
            _ => None,
        };
        let extent = match reused {
            Some(extent) => extent,
            None => append(self.store, wanted)?,
        };
        self.add(extent)
    }

    fn add(&mut self, extent: Extent) -> Result<()> {
        add_extent(&mut self.extents, extent)?;
        self.taken = self
            .taken
            .checked_add(extent.length)
            .ok_or(IndexError::Full {
                problem: "a segment has too many pages",
            })?;
        Ok(())
    }

    /// Returns the number of pages in use, their extents, and the unused extents.
    pub fn finish(self) -> (u32, Vec<Extent>, Vec<Extent>) {
        let (mut kept, mut left) = (Vec::new(), Vec::new());
        let mut wanted = self.used;
        for extent in self.extents {
            let length = wanted.min(extent.length);
            wanted -= length;
            if length > 0 {
                kept.push(Extent { length, ..extent });
            }
            if length < extent.length {
                left.push(Extent {
                    start: extent.start + length,
                    length: extent.length - length,
                });
            }
        }
        (self.used, kept, left)
    }
}

/// Allocates `length` adjacent pages for a write buffer. They are the last ones that the meta page records as allocated.
///
/// # Errors
/// Errors of the store.
pub fn allocate_contiguous<S: Store>(store: &S, length: u32) -> Result<Extent> {
    if let Some(extent) = reuse(store, length, true)? {
        return Ok(extent);
    }
    let mut extent = append(store, length)?;
    while extent.length < length {
        let more = append(store, length - extent.length)?;
        if extent.start + extent.length == more.start {
            extent.length += more.length;
        } else {
            extent = more;
        }
    }
    Ok(extent)
}

/// Takes pages from the free list and records them; see [`take_free_run`].
fn reuse<S: Store>(store: &S, wanted: u32, exact: bool) -> Result<Option<Extent>> {
    let mut found = None;
    store.change(&[META, FREE], |bodies| {
        let mut runs = free_runs(bodies[1])?;
        found = take_free_run(&mut runs, wanted, exact);
        let Some(extent) = found else {
            return Ok(false);
        };
        put_free_runs(bodies[1], runs)?;
        let mut meta = Meta::decode(bodies[0])?;
        add_extent(&mut meta.pending, extent)?;
        meta.encode(bodies[0])?;
        Ok(true)
    })?;
    Ok(found)
}

/// Appends at most `most` pages to the file and records them.
fn append<S: Store>(store: &S, most: u32) -> Result<Extent> {
    let extent = store.extend(most)?;
    store.change(&[META], |bodies| {
        let mut meta = Meta::decode(bodies[0])?;
        add_extent(&mut meta.pending, extent)?;
        meta.encode(bodies[0])?;
        Ok(true)
    })?;
    Ok(extent)
}

/// Returns the block of a page.
fn block(extents: &[Extent], page_no: u32) -> Option<u32> {
    let mut left = page_no;
    for extent in extents {
        if left < extent.length {
            return Some(extent.start + left);
        }
        left -= extent.length;
    }
    None
}

/// Appends an extent, merged with the last one if they are adjacent.
fn add_extent(extents: &mut Vec<Extent>, extent: Extent) -> Result<()> {
    if let Some(last) = extents.last_mut()
        && last.start + last.length == extent.start
    {
        last.length += extent.length;
        return Ok(());
    }
    if extents.len() == MAX_EXTENTS {
        return Err(IndexError::Full {
            problem: "a segment has too many extents",
        });
    }
    extents.push(extent);
    Ok(())
}
