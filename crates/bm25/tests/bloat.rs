//! The size of an index whose rows are updated or deleted.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::collections::VecDeque;

use reground_bm25::index::check::check;
use reground_bm25::index::pages::memory::MemoryStore;
use reground_bm25::index::pages::meta::{IndexSettings, Meta};
use reground_bm25::index::pages::store::Store;
use reground_bm25::index::terms::{Document, Weights};
use reground_bm25::index::write::{maintain, vacuum};

fn index() -> MemoryStore {
    let store = MemoryStore::default();
    let settings = IndexSettings {
        k1: 1.2,
        b: 0.75,
        text_config: "pg_catalog.english".into(),
        weights: Weights::default(),
        server: 18,
    };
    maintain::create(&store, [1, 2], settings).unwrap();
    store
}

fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A document of 40 words out of 20,000, small numbers more often.
fn document(row: u64, state: &mut u64) -> Document {
    let mut terms: Vec<u64> = (0..40)
        .map(|_| {
            let share = (next(state) >> 11) as f64 / (1_u64 << 53) as f64;
            (20_000_f64.powf(share)) as u64
        })
        .collect();
    terms.sort_unstable();
    let counted = terms
        .chunk_by(|a, b| a == b)
        .map(|run| (run[0].wrapping_mul(0x9e37_79b9_7f4a_7c15), run.len() as u32));
    let mut terms: Vec<(u64, u32)> = counted.collect();
    terms.sort_unstable();
    Document {
        row,
        fingerprint: next(state),
        terms,
    }
}

/// Number of live documents, and of those that a transaction updates.
const ROWS: u64 = 10_000;
const UPDATED: u64 = 500;

/// An index of `ROWS` documents, and the size of a fresh index with them.
fn loaded(state: &mut u64) -> (MemoryStore, usize) {
    let store = index();
    for row in 0..ROWS {
        maintain::insert(&store, &document(row, state)).unwrap();
        store.expire_readers();
    }
    maintain::merge_all(&store).unwrap();
    let segments = Meta::read(&store).unwrap().segments;
    let pages: u32 = segments.iter().map(|segment| segment.pages).sum();
    (store, pages as usize + 2 + maintain::BUFFER_PAGES as usize)
}

/// Updates all documents ten times, with a VACUUM after each transaction. A reader of the time before the last `lag` of them remains. Returns the
/// largest size as a multiple of a fresh index.
fn updated(lag: usize) -> f64 {
    let mut state = 1;
    let (store, fresh) = loaded(&mut state);
    let mut first = 0;
    let mut moments = VecDeque::from([store.now()]);
    for _ in 0..10 * ROWS / UPDATED {
        for row in first..first + UPDATED {
            maintain::insert(&store, &document(ROWS + row, &mut state)).unwrap();
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
    for (lag, most) in [(1, 4.5), (3, 5.5), (10, 9.0)] {
        let largest = updated(lag);
        assert!(
            largest < most,
            "{largest:.2} of a fresh index with readers of {lag} transactions"
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
            maintain::insert(&store, &document(row, &mut state)).unwrap();
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
