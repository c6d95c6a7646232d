//! Finds pages that nothing refers to.

use crate::index::error::Result;
use crate::index::pages::free_list::{FREE, free_runs, put_free_runs};
use crate::index::pages::meta::{META, Meta};
use crate::index::pages::store::{Extent, Store};

/// Puts the blocks that nothing refers to on the free list. A crash while the file grew leaves them behind, and so does a full list.
pub(super) fn find_lost_pages<S: Store>(store: &S) -> Result<()> {
    let blocks = store.blocks();
    store.change(&[META, FREE], |bodies| {
        let mut runs = free_runs(bodies[1])?;
        let lost = unused(&Meta::decode(bodies[0])?, &runs, blocks);
        if lost.is_empty() {
            return Ok(false);
        }
        runs.extend(lost);
        put_free_runs(bodies[1], runs)?;
        Ok(true)
    })?;
    Ok(())
}

/// The blocks of the file that nothing refers to.
fn unused(meta: &Meta, runs: &[Extent], blocks: u32) -> Vec<Extent> {
    let head = Extent {
        start: META,
        length: FREE + 1,
    };
    let segments = meta.segments.iter().flat_map(|segment| &segment.extents);
    let mut used: Vec<Extent> = segments.chain(&meta.pending).copied().collect();
    used.extend(runs);
    used.extend([meta.write_buffer, meta.spilling].map(|buffer| buffer.extent()));
    used.push(head);
    used.sort_unstable();
    let mut unused = Vec::new();
    let mut at = 0;
    let end = Extent {
        start: blocks,
        length: 0,
    };
    for extent in used.into_iter().chain([end]) {
        // A damaged list can name blocks after the end.
        let start = extent.start.min(blocks);
        if start > at {
            unused.push(Extent {
                start: at,
                length: start - at,
            });
        }
        at = at.max(extent.start.saturating_add(extent.length));
    }
    unused
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_between_extents_and_before_the_end_are_unused() {
        let extent = |start, length| Extent { start, length };
        let meta = Meta {
            pending: vec![extent(10, 5), extent(90, 5)],
            ..Meta::default()
        };
        let runs = [extent(4, 2)];
        let gaps = [extent(2, 2), extent(6, 4), extent(15, 5)];
        assert_eq!(unused(&meta, &runs, 20), gaps);
        assert_eq!(unused(&meta, &runs, 10), gaps[..2]);
    }
}
