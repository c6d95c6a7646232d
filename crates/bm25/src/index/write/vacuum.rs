//! Removes documents whose rows are gone: a bit each, read by every search from then on.

use std::collections::BTreeSet;

use reground_interrupt::check_interrupt;

use crate::index::error::{IndexError, Result};
use crate::index::pages::meta::{META, Meta, Segment};
use crate::index::pages::page::{CONTENT_BYTES, HEADER_BYTES, PageKind, content};
use crate::index::pages::store::Store;
use crate::index::segment::reader::SegmentReader;
use crate::index::write::write_buffer;

/// What a vacuum did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// Documents that it removed.
    pub removed: u64,
    /// Documents that stay.
    pub stay: u64,
}

/// Asks of every document's row whether it is gone, each at least once, and removes those that are.
///
/// A segment at a time: who inserts waits no longer than for one. Segments that others make of the tail or of segments
/// meanwhile have new numbers, and are gone through too.
///
/// # Errors
/// Those of the store.
pub fn remove<S: Store>(store: &S, mut is_gone: impl FnMut(u64) -> bool) -> Result<Removed> {
    let mut done = BTreeSet::new();
    let mut total = Removed::default();
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
            // Nothing can leave the tail now without our seeing it.
            total.stay = meta.documents() - meta.removed();
            for buffer in [meta.spilling, meta.write_buffer]
                .iter()
                .filter(|buffer| buffer.id != 0)
            {
                let (removed, stay) = write_buffer::remove(store, buffer, &mut is_gone)?;
                total.removed += removed;
                total.stay += stay;
            }
            Ok(false)
        })?;
        if !more {
            return Ok(total);
        }
    }
}

/// Removes documents of one segment; how many.
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
        let place = reader.dead_place() + page;
        let block = reader.block(place)?;
        store.change(&[META, block], |bodies| {
            let bytes = content(bodies[1], block, reader.header(PageKind::Dead, place))?.len();
            let mut newly = 0;
            for &bit in &gone {
                let byte = Some(bit / 8).filter(|&byte| byte < bytes);
                let byte = byte.and_then(|byte| bodies[1].get_mut(HEADER_BYTES + byte));
                let byte = byte.ok_or(IndexError::Corrupt {
                    block,
                    problem: "it ends before problem it should hold",
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
