//! Every operation on an index checks for interrupts at minimum once per 10,000 postings.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod empty_index;

use empty_index::empty_index;
use reground_bm25::QueryWeight;
use reground_bm25::index::check::check;
use reground_bm25::index::pages::meta::Meta;
use reground_bm25::index::search::ranked_search::Search;
use reground_bm25::index::search::snapshot::Snapshot;
use reground_bm25::index::terms::{Document, QueryTerm};
use reground_bm25::index::write::bulk_load::BulkLoader;
use reground_bm25::index::write::load_merge::finish;
use reground_bm25::index::write::maintain;
use reground_bm25::index::write::sorted_runs::InMemoryRuns;
use reground_bm25::index::write::vacuum;
use reground_interrupt::test_support;

/// Number of documents, and of terms per document. All documents have the same terms.
const DOCUMENTS: u64 = 60_000;
const TERMS: u64 = 20;
/// Maximum number of postings between two interrupt checks.
const MAX_POSTINGS_BETWEEN_CHECKS: usize = 10_000;

fn hash(term: u64) -> u64 {
    (term + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 1
}

fn document(row: u64) -> Document {
    let mut terms: Vec<(u64, u32)> = (0..TERMS)
        .map(|term| (hash(term), 1 + ((row + term) % 9) as u32))
        .collect();
    terms.sort_unstable();
    Document {
        row,
        fingerprint: row,
        terms,
    }
}

/// Asserts that an operation on this number of postings checks for interrupts often enough.
fn assert_checks(operation: &str, postings: u64, work: impl FnOnce()) {
    let checks = test_support::measure(work);
    let minimum = postings as usize / MAX_POSTINGS_BETWEEN_CHECKS;
    assert!(
        checks.count >= minimum,
        "{operation}: {checks:?}, at minimum {minimum}"
    );
}

fn loader(memory: usize) -> BulkLoader<InMemoryRuns> {
    BulkLoader::new(InMemoryRuns::default(), InMemoryRuns::default(), memory)
}

#[test]
fn every_operation_checks_for_interrupts() {
    let all = DOCUMENTS * TERMS;
    let store = empty_index();
    assert_checks("build", all, || {
        let mut loader = loader(4 << 20);
        for row in 1..=DOCUMENTS {
            loader.add(document(row)).unwrap();
        }
        finish(&store, loader, Vec::new()).unwrap();
    });
    let terms: Vec<QueryTerm> = (0..TERMS)
        .map(|term| QueryTerm {
            hash: hash(term),
            query_weight: QueryWeight::own(1),
        })
        .collect();
    // All documents have the same terms, so bounds skip little; all results are requested, so nothing is skipped.
    assert_checks("search", all, || {
        let meta = Meta::read(&store).unwrap();
        let snapshot = Snapshot::take(&store, meta, &terms).unwrap();
        let statistics = snapshot.statistics().clone();
        let mut search = Search::begin(snapshot, &statistics, usize::MAX).unwrap();
        while search.next(&store).unwrap().is_some() {}
    });
    assert_checks("check", all, || {
        let blocks = u32::try_from(store.len()).unwrap();
        assert_eq!(check(&store, blocks, |_, _| {}).unwrap().faults, []);
    });
    assert_checks("vacuum", DOCUMENTS, || {
        vacuum::remove(&store, |row| row % 2 == 0).unwrap();
    });
    assert_checks("merge", all, || maintain::merge_all(&store).unwrap());
    let store = empty_index();
    assert_checks("inserts", all / 10, || {
        for row in 1..=DOCUMENTS / 10 {
            maintain::insert(&store, &document(row)).unwrap();
        }
    });
}
