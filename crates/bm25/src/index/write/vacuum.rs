//! Removes documents whose rows were deleted. It sets one bit per document, which every later search checks.

use std::collections::BTreeSet;

use reground_interrupt::check_interrupt;

use crate::index::error::{IndexError, Result};
use crate::index::pages::meta::{META, Meta, Segment};
use crate::index::pages::page::{CONTENT_BYTES, HEADER_BYTES, PageKind, content};
use crate::index::pages::store::Store;
use crate::index::segment::reader::SegmentReader;
use crate::index::write::write_buffer;

/// Result of a removal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removal {
    /// Number of removed documents.
    pub removed: u64,
    /// Number of remaining documents.
    pub remaining: u64,
}

/// Calls `is_gone` with the row of every document, each at least once, and removes the documents for which it returns true.
///
/// The maintenance lock is held for one segment at a time, so an insert waits no longer than for one segment. Segments that
/// are created meanwhile have new numbers and are processed too.
///
/// # Errors
/// Errors of the store.
pub fn remove<S: Store>(store: &S, mut is_gone: impl FnMut(u64) -> bool) -> Result<Removal> {
    let mut done = BTreeSet::new();
    let mut total = Removal::default();
    loop {
        let more = store.maintain(|| {
            let meta = Meta::read(store)?;
            if let Some(segment) = meta
                .segments
                .iter()
                .find(|segment| !done.contains(&segment.id))
            {
                done.insert(segment.id);
                total.removed += remove_from(store, segment, &mut is_gone)?;
                return Ok(true);
            }
            // Under the maintenance lock, no document can move from the write buffer to an unprocessed segment.
            total.remaining = meta.documents() - meta.removed();
            for buffer in [meta.spilling, meta.write_buffer]
                .iter()
                .filter(|buffer| buffer.id != 0)
            {
                let (removed, remaining) = write_buffer::remove(store, buffer, &mut is_gone)?;
                total.removed += removed;
                total.remaining += remaining;
            }
            Ok(false)
        })?;
        if !more {
            return Ok(total);
        }
    }
}

/// Removes documents of one segment and returns their number.
fn remove_from<S: Store>(
    store: &S,
    segment: &Segment,
    is_gone: &mut impl FnMut(u64) -> bool,
) -> Result<u64> {
    const BITS: u32 = (CONTENT_BYTES * 8) as u32;
    let reader = SegmentReader::new(store, segment);
    let mut removed = 0;
    for page in 0..reader.dead_pages() {
        let mut gone = Vec::new();
        let first = page * BITS;
        for document in first..first.saturating_add(BITS).min(segment.documents) {
            let (row, _) = reader.row(document)?;
            check_interrupt(14);
            if is_gone(row) {
                gone.push((document - first) as usize);
            }
        }
        if gone.is_empty() {
            continue;
        }
        let page_no = reader.first_dead_page() + page;
        let block = reader.block(page_no)?;
        store.change(&[META, block], |bodies| {
            let bytes = content(bodies[1], block, reader.header(PageKind::Dead, page_no))?.len();
            let mut newly = 0;
            for &bit in &gone {
                let byte = Some(bit / 8).filter(|&byte| byte < bytes);
                let byte = byte.and_then(|byte| bodies[1].get_mut(HEADER_BYTES + byte));
                let byte = byte.ok_or(IndexError::Corrupt {
                    block,
                    problem: "it is shorter than its content",
                })?;
                newly += u32::from(*byte >> (bit % 8) & 1 == 0);
                *byte |= 1 << (bit % 8);
            }
            let mut meta = Meta::decode(bodies[0])?;
            let listed = meta
                .segments
                .iter_mut()
                .find(|listed| listed.id == segment.id);
            let Some(listed) = listed else {
                return Ok(false);
            };
            listed.dead += newly;
            removed += u64::from(newly);
            meta.encode(bodies[0])?;
            Ok(true)
        })?;
    }
    Ok(removed)
}
