//! The second page of an index: its free pages.

use crate::index::error::{IndexError, Result};
use crate::index::pages::meta::write_page;
use crate::index::pages::page::{CONTENT_BYTES, PageHeader, PageKind, content, u32_at};
use crate::index::pages::store::Extent;

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

/// Bytes of a run of free pages.
const RUN_BYTES: usize = 8;
/// Maximum number of runs.
const MAX_FREE_RUNS: usize = CONTENT_BYTES / RUN_BYTES;

/// Parses the free list.
///
/// # Errors
/// [`IndexError::Corrupt`] if the page is not a free list.
pub fn free_runs(body: &[u8]) -> Result<Vec<Extent>> {
    let bytes = content(body, FREE, HEADER).map_err(IndexError::without_reuse)?;
    let run = |run: &[u8]| {
        Some(Extent {
            start: u32_at(run, 0)?,
            length: u32_at(run, 4)?,
        })
    };
    Ok(bytes.chunks_exact(RUN_BYTES).filter_map(run).collect())
}

/// Writes the free list, with adjacent runs as one. If there are too many runs, the shortest are dropped. The next VACUUM finds their pages.
///
/// # Errors
/// Never in practice: the number of runs is limited to what fits.
pub fn put_free_runs(body: &mut [u8], mut runs: Vec<Extent>) -> Result<()> {
    runs.sort_unstable();
    let mut merged: Vec<Extent> = Vec::with_capacity(runs.len());
    for run in runs {
        match merged.last_mut() {
            Some(last) if last.start.checked_add(last.length) == Some(run.start) => {
                last.length += run.length;
            }
            _ => merged.push(run),
        }
    }
    if merged.len() > MAX_FREE_RUNS {
        merged.sort_unstable_by_key(|run| std::cmp::Reverse(run.length));
        merged.truncate(MAX_FREE_RUNS);
    }
    let mut bytes = Vec::with_capacity(merged.len() * RUN_BYTES);
    for run in merged {
        bytes.extend(run.start.to_le_bytes());
        bytes.extend(run.length.to_le_bytes());
    }
    write_page(body, HEADER, &bytes, "the free list has too many runs")
}

/// Takes up to `wanted` pages: from the first run that is long enough, or else from the longest. If `exact`, takes `wanted` pages or none.
pub(super) fn take_free_run(runs: &mut Vec<Extent>, wanted: u32, exact: bool) -> Option<Extent> {
    let least = match exact {
        true => wanted,
        false => wanted.min(LEAST_TAKEN),
    };
    let usable = runs.iter().enumerate();
    let usable = usable.filter(|(_, run)| run.length >= least);
    let (at, _) = usable.min_by_key(|(_, run)| match run.length >= wanted {
        true => (0, run.start),
        false => (u32::MAX - run.length, 0),
    })?;
    let run = &mut runs[at];
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
    use crate::index::pages::page::BODY_BYTES;
    use proptest::prelude::*;

    fn run(start: u32, length: u32) -> Extent {
        Extent { start, length }
    }

    fn stored(runs: Vec<Extent>) -> Vec<Extent> {
        let mut body = vec![0; BODY_BYTES];
        put_free_runs(&mut body, runs).unwrap();
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
    fn adjacent_runs_become_one() {
        let runs = vec![run(10, 2), run(4, 3), run(7, 3), run(20, 1)];
        assert_eq!(stored(runs), [run(4, 8), run(20, 1)]);
    }

    #[test]
    fn the_shortest_of_too_many_runs_are_dropped() {
        let many = MAX_FREE_RUNS as u32 + 5;
        let kept = stored((0..many).map(|n| run(10 * n, 1 + n % 9)).collect());
        assert_eq!(kept.len(), MAX_FREE_RUNS);
        let pages = |runs: &[Extent]| runs.iter().map(|run| run.length).sum::<u32>();
        let all: u32 = (0..many).map(|n| 1 + n % 9).sum();
        assert_eq!(pages(&kept), all - 5);
    }

    #[test]
    fn pages_are_taken_from_the_first_run_that_is_long_enough() {
        let runs = [run(5, 4), run(30, 12), run(50, 40), run(95, 9)];
        let take = |wanted, exact| {
            take_free_run(&mut runs.to_vec(), wanted, exact).map(|e| (e.start, e.length))
        };
        assert_eq!(take(10, false), Some((30, 10)));
        assert_eq!(take(20, false), Some((50, 20)));
        assert_eq!(take(60, false), Some((50, 40)));
        assert_eq!(take(9, true), Some((30, 9)));
        assert_eq!(take(41, true), None);
    }
}
