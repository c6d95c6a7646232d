//! A search reads the rows of its documents page by page, can be cancelled meanwhile, and counts them.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod empty_index;
mod random_documents;

use std::cell::Cell;
use std::rc::Rc;

use empty_index::empty_index;
use random_documents::{document, hash};
use reground_bm25::QueryWeight;
use reground_bm25::index::Result;
use reground_bm25::index::pages::memory::MemoryStore;
use reground_bm25::index::pages::meta::Meta;
use reground_bm25::index::pages::page::PageKind;
use reground_bm25::index::pages::store::Pages;
use reground_bm25::index::search::ranked_search::Search;
use reground_bm25::index::search::snapshot::Snapshot;
use reground_bm25::index::segment::reader::SegmentReader;
use reground_bm25::index::terms::QueryTerm;
use reground_bm25::index::write::bulk_load::BulkLoader;
use reground_bm25::index::write::load_merge::finish;
use reground_bm25::index::write::sorted_runs::InMemoryRuns;
use reground_interrupt::test_support;

const ROWS: u64 = 20_000;
/// Pages with the addresses of these rows, 582 on each.
const PAGES: usize = 35;

/// Counts the reads of pages with the addresses of rows.
struct CountedPages<'a> {
    store: &'a MemoryStore,
    reads: Cell<usize>,
}

impl Pages for CountedPages<'_> {
    type Page = Rc<[u8]>;

    fn read(&self, block: u32) -> Result<Self::Page> {
        let page = self.store.read(block)?;
        // The kind follows a magic number of two bytes.
        if page.get(2) == Some(&(PageKind::Documents as u8)) {
            self.reads.set(self.reads.get() + 1);
        }
        Ok(page)
    }

    fn look<T>(&self, block: u32, look: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
        look(&self.read(block)?)
    }
}

/// Begins a search that finds most rows.
fn begin(store: &MemoryStore, expected: usize) -> Search {
    let terms: Vec<QueryTerm> = (0..8)
        .map(|number| QueryTerm {
            hash: hash(number),
            query_weight: QueryWeight::own(1),
        })
        .collect();
    let snapshot = Snapshot::take(store, Meta::read(store).unwrap(), &terms).unwrap();
    let statistics = snapshot.statistics().clone();
    Search::begin(snapshot, &statistics, expected).unwrap()
}

fn built() -> MemoryStore {
    let store = empty_index();
    let mut loader = BulkLoader::new(InMemoryRuns::default(), InMemoryRuns::default(), 64 << 20);
    let mut state = 11;
    for row in 0..ROWS {
        loader.add(document(row, 1000, 60, &mut state)).unwrap();
    }
    finish(&store, loader, Vec::new()).unwrap();
    store
}

#[test]
fn rows_on_one_page_are_read_together() {
    let store = built();
    let pages = CountedPages {
        store: &store,
        reads: Cell::new(0),
    };
    let mut search = begin(&store, 1000);
    for _ in 0..1000 {
        search.next(&pages).unwrap().unwrap();
    }
    assert_eq!(pages.reads.get(), PAGES);
}

#[test]
fn reads_of_rows_check_for_interrupts() {
    let store = built();
    let meta = Meta::read(&store).unwrap();
    let segment = &meta.segments[0];
    let all: Vec<u32> = (0..segment.documents).collect();
    let reader = SegmentReader::new(&store, segment);
    let checks = test_support::measure(|| {
        for _ in 0..64 {
            reader.each_row(&all, |_, _, _| ()).unwrap();
        }
    });
    assert!(checks.count >= PAGES, "{checks:?}");
}

#[test]
fn a_search_checks_for_interrupts_while_it_reads_rows() {
    let store = built();
    let mut search = begin(&store, usize::MAX);
    // The first call finds all documents.
    search.next(&store).unwrap();
    let checks = test_support::measure(|| while search.next(&store).unwrap().is_some() {});
    // Their rows are read in four steps of almost all pages.
    assert!(checks.count >= 4 * PAGES / 64, "{checks:?}");
}

#[test]
fn rows_read_together_are_those_read_one_by_one() {
    let store = built();
    let meta = Meta::read(&store).unwrap();
    let reader = SegmentReader::new(&store, &meta.segments[0]);
    for step in [1, 7, 581, 582, 583, 19_999, 20_000] {
        let documents: Vec<u32> = (0..20_000).step_by(step).collect();
        let mut expected = Vec::new();
        for (at, &document) in documents.iter().enumerate() {
            let (row, fingerprint) = reader.row(document).unwrap();
            expected.push((at, row, fingerprint));
        }
        let mut found = Vec::new();
        let each = reader.each_row(&documents, |at, row, fingerprint| {
            found.push((at, row, fingerprint));
        });
        assert_eq!((each, found), (Ok(()), expected), "{step}");
    }
    let beyond = reader.each_row(&[20_000], |_, _, _| panic!("it does not exist"));
    assert!(beyond.is_err());
}

#[test]
fn fetched_documents_are_counted_until_there_are_no_more() {
    let store = built();
    let mut search = begin(&store, 10);
    assert_eq!(search.fetched(), Some(0));
    for _ in 0..300 {
        search.next(&store).unwrap().unwrap();
    }
    assert_eq!(search.fetched(), Some(300));
    while search.next(&store).unwrap().is_some() {}
    assert_eq!(search.fetched(), None);
}
