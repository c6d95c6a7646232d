//! The size of an index whose rows are updated or deleted.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod empty_index;
mod random_documents;

use empty_index::empty_index;
use random_documents::document;
use reground_bm25::index::check::check;
use reground_bm25::index::pages::memory::MemoryStore;
use reground_bm25::index::pages::store::Store;
use reground_bm25::index::write::bulk_load::BulkLoader;
use reground_bm25::index::write::load_merge::finish;
use reground_bm25::index::write::sorted_runs::InMemoryRuns;
use reground_bm25::index::write::{maintain, vacuum};

/// Number of live documents, and of those that a transaction updates.
const ROWS: u64 = 10_000;
const UPDATED: u64 = 500;

/// Terms of the documents. A document has a fifth of a kB in a fresh index, like a passage of a hundred words.
const VOCABULARY: u64 = 200_000;
const LONGEST: u64 = 400;

/// A fresh index of `ROWS` documents.
fn built(state: &mut u64) -> MemoryStore {
    let store = empty_index();
    let mut loader = BulkLoader::new(InMemoryRuns::default(), InMemoryRuns::default(), 64 << 20);
    for row in 0..ROWS {
        loader
            .add(document(row, VOCABULARY, LONGEST, state))
            .unwrap();
    }
    finish(&store, loader, Vec::new()).unwrap();
    store
}

#[test]
fn an_updated_index_stays_small() {
    let mut state = 1;
    let store = built(&mut state);
    let fresh = store.len();
    // All documents are updated ten times, with a VACUUM after each transaction.
    let mut first = 0;
    for _ in 0..10 * ROWS / UPDATED {
        for row in first..first + UPDATED {
            let document = document(ROWS + row, VOCABULARY, LONGEST, &mut state);
            maintain::insert(&store, &document).unwrap();
        }
        first += UPDATED;
        vacuum::remove(&store, |row| row < first).unwrap();
        maintain::cleanup(&store).unwrap();
    }
    let found = check(&store, store.blocks(), |_, _| ()).unwrap();
    assert_eq!((found.faults, found.unused), (Vec::new(), 0));
    // The file never becomes shorter, so this is also its largest size.
    let ratio = store.len() as f64 / fresh as f64;
    println!("{ratio:.2} times {fresh} pages");
    assert!(ratio < 2.4, "{ratio:.2} of a fresh index");
}

#[test]
fn the_pages_of_an_emptied_index_are_reused() {
    let mut state = 1;
    let store = built(&mut state);
    for round in 1..5 {
        vacuum::remove(&store, |row| row < ROWS * round).unwrap();
        maintain::cleanup(&store).unwrap();
        let before = store.len();
        for row in ROWS * round..ROWS * (round + 1) {
            let document = document(row, VOCABULARY, LONGEST, &mut state);
            maintain::insert(&store, &document).unwrap();
        }
        assert!(
            round == 1 || store.len() <= before + before / 8,
            "{} blocks after {before}",
            store.len()
        );
    }
}

#[test]
fn lost_pages_are_found() {
    let store = built(&mut 1);
    store.extend(10).unwrap();
    assert_eq!(check(&store, store.blocks(), |_, _| ()).unwrap().unused, 10);
    maintain::cleanup(&store).unwrap();
    assert_eq!(check(&store, store.blocks(), |_, _| ()).unwrap().unused, 0);
}
