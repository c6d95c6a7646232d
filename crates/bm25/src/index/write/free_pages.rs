//! What VACUUM does with free pages: it finds lost ones, and shortens the file.

use crate::index::error::Result;
use crate::index::pages::free_list::{FREE, FreeRun, LEAST_TAKEN, free_runs, put_free_runs};
use crate::index::pages::meta::{META, Meta};
use crate::index::pages::store::{Extent, Store};

/// The file is shortened by at least one in this many of its blocks, because other sessions have to wait meanwhile.
const TRUNCATED_FRACTION: u32 = 16;

/// A segment at the end of the file is moved if more than one in this many blocks before it are free.
const SPARSE_FRACTION: u32 = 8;

/// Puts the blocks that nothing refers to on the free list. A crash while the file grew leaves them behind, and so does a full list.
pub(super) fn find_lost<S: Store>(store: &S) -> Result<()> {
    let blocks = store.blocks();
    store.change(&[META, FREE], |bodies| {
        let mut runs = free_runs(bodies[1])?;
        let lost = unused(&Meta::decode(bodies[0])?, &runs, blocks);
        if lost.is_empty() {
            return Ok(false);
        }
        let moment = store.now();
        runs.extend(lost.into_iter().map(|extent| FreeRun { extent, moment }));
        put_free_runs(store, bodies[1], runs)?;
        Ok(true)
    })?;
    Ok(())
}

/// The blocks of the file that nothing refers to.
fn unused(meta: &Meta, runs: &[FreeRun], blocks: u32) -> Vec<Extent> {
    let head = Extent {
        start: META,
        length: FREE + 1,
    };
    let buffers = [meta.write_buffer, meta.spilling].map(|buffer| Extent {
        start: buffer.start,
        length: buffer.pages,
    });
    let segments = meta.segments.iter().flat_map(|segment| &segment.extents);
    let mut used: Vec<Extent> = segments.chain(&meta.pending).copied().collect();
    used.extend(runs.iter().map(|run| run.extent));
    used.extend(buffers);
    used.push(head);
    used.sort_unstable();
    let mut unused = Vec::new();
    let mut at = 0;
    let end = Extent {
        start: blocks,
        length: 0,
    };
    for extent in used.into_iter().chain([end]) {
        if extent.start > at {
            unused.push(Extent {
                start: at,
                length: extent.start - at,
            });
        }
        at = at.max(extent.start.saturating_add(extent.length));
    }
    unused
}

/// Whether more free pages wait for their readers than pages are used. More copies would make the file grow.
pub(super) fn waits<S: Store>(store: &S) -> Result<bool> {
    let runs = store.look(FREE, free_runs)?;
    let free: u32 = runs.iter().map(|run| run.extent.length).sum();
    let waiting = runs.iter().filter(|run| !run.is_reusable(store));
    let waiting: u32 = waiting.map(|run| run.extent.length).sum();
    let used = store.blocks().saturating_sub(free);
    Ok(waiting > used)
}

/// What lies at the end of the file.
pub(super) enum Last {
    Segment(u32),
    WriteBuffer,
}

/// Returns what lies at the end of the file if a copy would fit into the free pages before it, and these are more than one in
/// [`SPARSE_FRACTION`] of the file.
pub(super) fn last_in_sparse_file<S: Store>(store: &S) -> Result<Option<Last>> {
    let meta = Meta::read(store)?;
    let segments = meta.segments.iter().map(|segment| {
        let start = segment.extents.iter().map(|extent| extent.start).max();
        (start.unwrap_or(0), segment.pages, Last::Segment(segment.id))
    });
    let buffer = meta.write_buffer;
    let buffer = (buffer.start, buffer.pages, Last::WriteBuffer);
    let all = segments.chain([buffer]);
    let Some((start, pages, last)) = all.max_by_key(|(start, ..)| *start) else {
        return Ok(None);
    };
    let least = match last {
        Last::Segment(_) => LEAST_TAKEN,
        Last::WriteBuffer => pages,
    };
    let runs = store.look(FREE, free_runs)?;
    let before = runs.iter().filter(|run| {
        run.extent.start < start && run.extent.length >= least && run.is_reusable(store)
    });
    let free: u32 = before.map(|run| run.extent.length).sum();
    let is_sparse = free >= pages && free > store.blocks() / SPARSE_FRACTION;
    Ok(is_sparse.then_some(last))
}

/// Shortens the file if many of its last blocks are free and nobody reads them any more.
pub(super) fn truncate<S: Store>(store: &S) -> Result<()> {
    let blocks = store.blocks();
    let mut runs = store.look(FREE, free_runs)?;
    runs.sort_unstable_by_key(|run| run.extent);
    let mut kept = blocks;
    for run in runs.iter().rev() {
        if run.end() != Some(kept) || !run.is_reusable(store) {
            break;
        }
        kept = run.extent.start;
    }
    if kept == blocks || blocks - kept < blocks / TRUNCATED_FRACTION {
        return Ok(());
    }
    // The list comes first: after a crash in between, the blocks are lost, and found again.
    store.truncate(kept, || {
        store.change(&[FREE], |bodies| {
            let mut runs = free_runs(bodies[0])?;
            runs.retain(|run| run.extent.start < kept);
            put_free_runs(store, bodies[0], runs)?;
            Ok(true)
        })?;
        Ok(())
    })
}
