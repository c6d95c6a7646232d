//! The second page of an index: its free pages.

use crate::index::error::Result;
use crate::index::pages::meta::{reused_is_corrupt, write_page};
use crate::index::pages::page::{CONTENT_BYTES, PageHeader, PageKind, content, u32_at, u64_at};
use crate::index::pages::store::{Extent, Store};

/// Block of the free list.
pub const FREE: u32 = 1;

/// Header of the free list.
const HEADER: PageHeader = PageHeader {
    kind: PageKind::Free,
    owner: 0,
    page_no: 1,
};

/// Fewest pages that are taken from a run for a segment, so that its pages do not lie scattered.
pub(super) const LEAST_TAKEN: u32 = 8;

/// A run of free pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreeRun {
    /// The pages.
    pub extent: Extent,
    /// Value of [`Store::now`] when the pages were freed; 0 if nobody ever read them.
    pub moment: u64,
}

impl FreeRun {
    /// Whether nobody reads the pages any more.
    pub fn is_reusable<S: Store>(&self, store: &S) -> bool {
        self.moment == 0 || store.is_past(self.moment)
    }

    fn end(&self) -> Option<u32> {
        self.extent.start.checked_add(self.extent.length)
    }
}

/// Bytes of a free run.
const RUN_BYTES: usize = 16;
/// Maximum number of free runs.
const MAX_FREE_RUNS: usize = CONTENT_BYTES / RUN_BYTES;

/// Parses the free list.
///
/// # Errors
/// [`IndexError::Corrupt`] if the page is not a free list.
pub fn free_runs(body: &[u8]) -> Result<Vec<FreeRun>> {
    let bytes = content(body, FREE, HEADER).map_err(reused_is_corrupt)?;
    let run = |run: &[u8]| {
        Some(FreeRun {
            extent: Extent {
                start: u32_at(run, 0)?,
                length: u32_at(run, 4)?,
            },
            moment: u64_at(run, 8)?,
        })
    };
    Ok(bytes.chunks_exact(RUN_BYTES).filter_map(run).collect())
}

/// Writes the free list. Adjacent runs are merged if nobody reads them any more, or if they were freed at the same moment: a run that was
/// merged with a later one would have to wait for its readers. If there are too many runs, all adjacent ones are merged, and then the
/// shortest are dropped. The next VACUUM finds their pages.
///
/// # Errors
/// Never in practice: the number of runs is limited to what fits.
pub fn put_free_runs<S: Store>(store: &S, body: &mut [u8], runs: Vec<FreeRun>) -> Result<()> {
    let mut merged = merged(runs, |a, b| {
        a.moment == b.moment || a.is_reusable(store) && b.is_reusable(store)
    });
    if merged.len() > MAX_FREE_RUNS {
        merged = self::merged(merged, |_, _| true);
        merged.sort_unstable_by_key(|run| std::cmp::Reverse(run.extent.length));
        merged.truncate(MAX_FREE_RUNS);
    }
    let mut bytes = Vec::with_capacity(merged.len() * RUN_BYTES);
    for run in merged {
        bytes.extend(run.extent.start.to_le_bytes());
        bytes.extend(run.extent.length.to_le_bytes());
        bytes.extend(run.moment.to_le_bytes());
    }
    write_page(body, HEADER, &bytes, "the free list has too many runs")
}

/// Merges adjacent runs, which get the later moment.
fn merged(mut runs: Vec<FreeRun>, joins: impl Fn(&FreeRun, &FreeRun) -> bool) -> Vec<FreeRun> {
    runs.sort_unstable_by_key(|run| run.extent);
    let mut merged: Vec<FreeRun> = Vec::with_capacity(runs.len());
    for run in runs {
        match merged.last_mut() {
            Some(last) if last.end() == Some(run.extent.start) && joins(last, &run) => {
                last.extent.length += run.extent.length;
                last.moment = last.moment.max(run.moment);
            }
            _ => merged.push(run),
        }
    }
    merged
}

/// Takes up to `wanted` pages that nobody reads any more: from the first run that is long enough, or else from the longest. If `exact`, takes
/// `wanted` pages or none.
pub(super) fn take_free_run<S: Store>(
    store: &S,
    runs: &mut Vec<FreeRun>,
    wanted: u32,
    exact: bool,
) -> Option<Extent> {
    let least = match exact {
        true => wanted,
        false => wanted.min(LEAST_TAKEN),
    };
    let usable = runs.iter().enumerate();
    let usable = usable.filter(|(_, run)| run.extent.length >= least && run.is_reusable(store));
    let (at, _) = usable.min_by_key(|(_, run)| match run.extent.length >= wanted {
        true => (0, run.extent.start),
        false => (u32::MAX - run.extent.length, 0),
    })?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::pages::memory::MemoryStore;
    use crate::index::pages::page::BODY_BYTES;
    use proptest::prelude::*;

    fn run(start: u32, length: u32, moment: u64) -> FreeRun {
        FreeRun {
            extent: Extent { start, length },
            moment,
        }
    }

    fn stored(store: &MemoryStore, runs: Vec<FreeRun>) -> Vec<FreeRun> {
        let mut body = vec![0; BODY_BYTES];
        put_free_runs(store, &mut body, runs).unwrap();
        free_runs(&body).unwrap()
    }

    proptest! {
        #[test]
        fn any_bytes_are_parsed_or_rejected(noise in prop::collection::vec(any::<u8>(), 0..CONTENT_BYTES)) {
            let mut body = vec![0; BODY_BYTES];
            write_page(&mut body, HEADER, &noise, "").unwrap();
            let _ = free_runs(&body);
        }
    }

    #[test]
    fn adjacent_runs_are_merged_if_both_can_be_reused() {
        let store = MemoryStore::default();
        let [first, second] = [store.now(), store.now()];
        let runs = vec![
            run(10, 2, second),
            run(4, 3, first),
            run(7, 3, 0),
            run(12, 3, second),
            run(20, 1, 0),
        ];
        let apart = [
            run(4, 3, first),
            run(7, 3, 0),
            run(10, 5, second),
            run(20, 1, 0),
        ];
        assert_eq!(stored(&store, runs.clone()), apart);
        store.expire_readers();
        assert_eq!(stored(&store, runs), [run(4, 11, second), run(20, 1, 0)]);
    }

    #[test]
    fn too_many_runs_are_merged_before_any_is_dropped() {
        let store = MemoryStore::default();
        let many = (0..2 * MAX_FREE_RUNS as u32).map(|n| run(10 + n, 1, u64::from(n) + 1));
        let kept = stored(&store, many.collect());
        assert_eq!(
            kept,
            [run(10, 2 * MAX_FREE_RUNS as u32, 2 * MAX_FREE_RUNS as u64)]
        );
    }

    #[test]
    fn pages_are_taken_from_the_first_run_that_is_long_enough() {
        let store = MemoryStore::default();
        let later = store.now();
        let runs = [
            run(5, 4, 0),
            run(10, 9, later),
            run(30, 12, 0),
            run(50, 40, 0),
            run(95, 9, 0),
        ];
        let take = |wanted, exact| {
            take_free_run(&store, &mut runs.to_vec(), wanted, exact).map(|e| (e.start, e.length))
        };
        assert_eq!(take(10, false), Some((30, 10)));
        assert_eq!(take(20, false), Some((50, 20)));
        assert_eq!(take(60, false), Some((50, 40)));
        assert_eq!(take(9, true), Some((30, 9)));
        assert_eq!(take(41, true), None);
    }
}
