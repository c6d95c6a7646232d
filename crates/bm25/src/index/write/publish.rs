//! Publishes a finished segment on the meta page.

use std::cmp::Reverse;

use crate::index::error::{IndexError, Result};
use crate::index::pages::free_list::{FREE, free_runs, put_free_runs};
use crate::index::pages::meta::{META, Meta, WriteBuffer};
use crate::index::pages::store::{Extent, Store};
use crate::index::segment::writer::SegmentWriter;

pub(super) const OUT_OF_NUMBERS: IndexError = IndexError::Full {
    problem: "all segment numbers are used",
};

/// Finishes a segment and publishes it in place of the segments `replaced`. Their pages and those of `retired` become
/// free.
pub(super) fn publish_segment<S: Store>(
    store: &S,
    writer: SegmentWriter<'_, S>,
    replaced: &[u32],
    retired: Option<Extent>,
) -> Result<()> {
    let empty = writer.documents() == 0;
    let (segment, left) = writer.finish()?;
    store.change(&[META, FREE], |bodies| {
        let mut meta = Meta::decode(bodies[0])?;
        let mut runs = free_runs(bodies[1])?;
        runs.extend(&left);
        runs.extend(retired);
        for old in meta
            .segments
            .iter()
            .filter(|old| replaced.contains(&old.id))
        {
            runs.extend(&old.extents);
        }
        meta.segments.retain(|old| !replaced.contains(&old.id));
        if empty {
            runs.extend(&segment.extents);
        } else {
            meta.segments.push(segment.clone());
        }
        meta.segments
            .sort_by_key(|segment| Reverse(segment.documents));
        meta.pending.clear();
        if retired.is_some() {
            meta.spilling = WriteBuffer::default();
        }
        meta.next_id = meta
            .next_id
            .max(segment.id.checked_add(1).ok_or(OUT_OF_NUMBERS)?);
        put_free_runs(bodies[1], runs)?;
        meta.encode(bodies[0])?;
        Ok(true)
    })?;
    Ok(())
}
