//! The size of an index whose rows are updated or deleted.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod empty_index;
mod random_documents;

use std::collections::VecDeque;

use empty_index::empty_index;
use random_documents::document;
use reground_bm25::index::check::check;
use reground_bm25::index::pages::memory::MemoryStore;
use reground_bm25::index::pages::meta::Meta;
use reground_bm25::index::pages::store::Store;
use reground_bm25::index::write::{maintain, vacuum};

/// Number of live documents, and of those that a transaction updates.
const ROWS: u64 = 10_000;
const UPDATED: u64 = 500;

/// Terms of the documents.
const VOCABULARY: u64 = 20_000;
const LONGEST: u64 = 80;

/// An index of `ROWS` documents, and the size of a fresh index with them.
fn loaded(state: &mut u64) -> (MemoryStore, usize) {
    let store = empty_index();
    for row in 0..ROWS {
        maintain::insert(&store, &document(row, VOCABULARY, LONGEST, state)).unwrap();
        store.expire_readers();
    }
    maintain::merge_all(&store).unwrap();
    let segments = Meta::read(&store).unwrap().segments;
    let pages: u32 = segments.iter().map(|segment| segment.pages).sum();
    (store, pages as usize + 2 + maintain::BUFFER_PAGES as usize)
}

/// Updates all documents ten times, with a VACUUM after each transaction. A reader of the time before the last `lag` of them remains. Returns the
/// size as a multiple of a fresh index. The file never becomes shorter, so this is also its largest size.
fn updated(lag: usize) -> f64 {
    let mut state = 1;
    let (store, fresh) = loaded(&mut state);
    let mut first = 0;
    let mut moments = VecDeque::from([store.now()]);
    for _ in 0..10 * ROWS / UPDATED {
        for row in first..first + UPDATED {
            maintain::insert(
                &store,
                &document(ROWS + row, VOCABULARY, LONGEST, &mut state),
            )
            .unwrap();
        }
        first += UPDATED;
        moments.push_back(store.now());
        if moments.len() > lag {
            store.expire_readers_until(moments.pop_front().unwrap());
        }
        vacuum::remove(&store, |row| row < first).unwrap();
        maintain::cleanup(&store).unwrap();
    }
    let found = check(&store, store.blocks(), |_, _| ()).unwrap();
    assert_eq!((found.faults, found.unused), (Vec::new(), 0));
    store.len() as f64 / fresh as f64
}

#[test]
fn an_updated_index_stays_small() {
    for (lag, most) in [(1, 4.5), (3, 5.0), (10, 7.0)] {
        let ratio = updated(lag);
        assert!(
            ratio < most,
            "{ratio:.2} of a fresh index with readers of {lag} transactions"
        );
    }
}

#[test]
fn the_pages_of_an_emptied_index_are_reused() {
    let mut state = 1;
    let (store, _) = loaded(&mut state);
    let before = store.len();
    for round in 1..4 {
        vacuum::remove(&store, |row| row < ROWS * round).unwrap();
        maintain::cleanup(&store).unwrap();
        store.expire_readers();
        for row in ROWS * round..ROWS * (round + 1) {
            maintain::insert(&store, &document(row, VOCABULARY, LONGEST, &mut state)).unwrap();
            store.expire_readers();
        }
        assert!(
            store.len() <= before + before / 8,
            "{} blocks after {before}",
            store.len()
        );
    }
}

#[test]
fn lost_pages_are_found() {
    let (store, _) = loaded(&mut 1);
    store.expire_readers();
    let lost = store.extend(10).unwrap();
    assert_eq!(check(&store, store.blocks(), |_, _| ()).unwrap().unused, 10);
    let found = maintain::cleanup(&store).unwrap();
    assert_eq!(check(&store, store.blocks(), |_, _| ()).unwrap().unused, 0);
    // A run that was dropped from a full list can still have readers.
    assert_eq!(found.free_pages - found.reusable_pages, lost.length);
    store.expire_readers();
    let later = maintain::cleanup(&store).unwrap();
    assert_eq!(later.reusable_pages, found.free_pages);
}
