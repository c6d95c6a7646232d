//! Pages for a segment or a tail that is being made: taken from the free list, or appended to the file.
//!
//! What is taken is noted on the meta page until the segment or the tail is published, so that nothing is lost when its writer is. One
//! writer at a time: whoever holds the index for maintenance.

use crate::index::error::{IndexError, Result};
use crate::index::pages::meta::{
    FREE, FreeRun, MAX_EXTENTS, META, Meta, free_runs, put_free_runs, write_page,
};
use crate::index::pages::page::{BODY_BYTES, PageHeader, PageKind};
use crate::index::pages::store::{Extent, Store};

/// Free runs that one segment is made of at most; what is appended is merged with its neighbour or grows by half.
const MAX_REUSED_RUNS: usize = 8;
/// Pages that are appended at first.
const MIN_APPEND: u32 = 8;
/// Pages that are appended at a time at most.
const MAX_APPEND: u32 = 4096;

/// The pages of one owner, in order.
pub struct PageAllocator<'s, S> {
    store: &'s S,
    owner: u32,
    extents: Vec<Extent>,
    taken: u32,
    used: u32,
    body: Vec<u8>,
}

impl<'s, S: Store> PageAllocator<'s, S> {
    /// None yet.
    pub fn new(store: &'s S, owner: u32) -> Self {
        Self {
            store,
            owner,
            extents: Vec::new(),
            taken: 0,
            used: 0,
            body: vec![0; BODY_BYTES],
        }
    }

    /// The next place.
    ///
    /// # Errors
    /// Those of the store, and [`IndexError::Full`].
    pub fn allocate(&mut self) -> Result<u32> {
        if self.used == self.taken {
            let wanted = (self.taken / 2).clamp(MIN_APPEND, MAX_APPEND);
            self.take(wanted)?;
        }
        self.used += 1;
        Ok(self.used - 1)
    }

    /// Fills the page at a place that was given out.
    ///
    /// # Errors
    /// Those of the store.
    pub fn write(&mut self, place: u32, kind: PageKind, bytes: &[u8]) -> Result<()> {
        let header = PageHeader {
            kind,
            owner: self.owner,
            place,
        };
        write_page(
            &mut self.body,
            header,
            bytes,
            "a page of a segment is too full",
        )?;
        let block = block(&self.extents, place).ok_or(IndexError::Full {
            problem: "a page was written that was not taken",
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
        note(&mut self.extents, extent)?;
        self.taken = self
            .taken
            .checked_add(extent.length)
            .ok_or(IndexError::Full {
                problem: "a segment has more pages than can be counted",
            })?;
        Ok(())
    }

    /// How many pages are in use, the runs that hold them, and those that are left over.
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

/// Takes so many neighbouring pages for a tail: of what the meta page notes as taken, the last.
///
/// # Errors
/// Those of the store.
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

/// Takes pages off the free list, and notes them; see [`split`].
fn reuse<S: Store>(store: &S, wanted: u32, exact: bool) -> Result<Option<Extent>> {
    let mut found = None;
    store.change(&[META, FREE], |bodies| {
        let mut runs = free_runs(bodies[1])?;
        found = split(store, &mut runs, wanted, exact);
        let Some(extent) = found else {
            return Ok(false);
        };
        put_free_runs(bodies[1], runs)?;
        let mut meta = Meta::decode(bodies[0])?;
        note(&mut meta.pending, extent)?;
        meta.encode(bodies[0])?;
        Ok(true)
    })?;
    Ok(found)
}

/// Appends pages to the file, at most so many, and notes them.
fn append<S: Store>(store: &S, most: u32) -> Result<Extent> {
    let extent = store.extend(most)?;
    store.change(&[META], |bodies| {
        let mut meta = Meta::decode(bodies[0])?;
        note(&mut meta.pending, extent)?;
        meta.encode(bodies[0])?;
        Ok(true)
    })?;
    Ok(extent)
}

/// Block of a place.
fn block(extents: &[Extent], place: u32) -> Option<u32> {
    let mut left = place;
    for extent in extents {
        if left < extent.length {
            return Some(extent.start + left);
        }
        left -= extent.length;
    }
    None
}

/// Appends a run, as part of the one before it where they are neighbours.
fn note(extents: &mut Vec<Extent>, extent: Extent) -> Result<()> {
    if let Some(last) = extents.last_mut()
        && last.start + last.length == extent.start
    {
        last.length += extent.length;
        return Ok(());
    }
    if extents.len() == MAX_EXTENTS {
        return Err(IndexError::Full {
            problem: "a segment would be in too many pieces",
        });
    }
    extents.push(extent);
    Ok(())
}

/// Takes up to `wanted` pages that nobody reads any more off the longest free run; where they must be `exact`ly so many,
/// off the shortest that has them.
fn split<S: Store>(store: &S, runs: &mut Vec<FreeRun>, wanted: u32, exact: bool) -> Option<Extent> {
    let usable = runs.iter().enumerate().filter(|(_, run)| {
        let long = if exact {
            wanted
        } else {
            wanted.min(MIN_APPEND)
        };
        run.extent.length >= long && (run.moment == 0 || store.is_past(run.moment))
    });
    let (at, _) = if exact {
        usable.min_by_key(|(_, run)| run.extent.length)?
    } else {
        usable.max_by_key(|(_, run)| run.extent.length)?
    };
    if runs[at].moment != 0 {
        store.announce_reuse(runs[at].extent.start, runs[at].moment);
    }
    let run = &mut runs[at].extent;
    let found = Extent {
        start: run.start,
        length: run.length.min(wanted),
    };
    run.start += found.length;
    run.length -= found.length;
    if run.length == 0 {
        runs.swap_remove(at);
    }
    Some(found)
}
