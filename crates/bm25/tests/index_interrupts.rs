//! Whatever works on an index can be given up: interrupts are asked for at least once in 10,000 postings.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use reground_bm25::QueryWeight;
use reground_bm25::index::check::check;
use reground_bm25::index::pages::memory::Memory;
use reground_bm25::index::pages::meta::{IndexSettings, Meta};
use reground_bm25::index::search::ranked_search::Search;
use reground_bm25::index::search::snapshot::Snapshot;
use reground_bm25::index::terms::{Document, QueryTerm, Weights};
use reground_bm25::index::write::bulk_load::{BulkLoader, finish};
use reground_bm25::index::write::maintain;
use reground_bm25::index::write::sorted_runs::InMemoryRuns;
use reground_bm25::index::write::vacuum;
use reground_interrupt::test_support;

/// Documents, of this many terms each, all of which all documents have.
const DOCUMENTS: u64 = 60_000;
const TERMS: u64 = 20;
/// Postings between two moments at which a cancel is heard.
const MOST: usize = 10_000;

fn hash(term: u64) -> u64 {
    (term + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
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

fn empty() -> Memory {
    let store = Memory::default();
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

/// So many postings were gone through, and interrupts were checked often enough.
fn check_count(problem: &str, postings: u64, work: impl FnOnce()) {
    let checks = test_support::measure(work);
    let least = postings as usize / MOST;
    assert!(
        checks.count >= least,
        "{problem}: {checks:?}, at least {least}"
    );
}

fn gatherer(memory: usize) -> BulkLoader<InMemoryRuns> {
    BulkLoader::new(InMemoryRuns::default(), InMemoryRuns::default(), memory)
}

#[test]
fn every_phase_beats() {
    let all = DOCUMENTS * TERMS;
    let store = empty();
    check_count("build", all, || {
        let mut gatherer = gatherer(4 << 20);
        for row in 1..=DOCUMENTS {
            gatherer.add(&document(row)).unwrap();
        }
        finish(&store, gatherer, Vec::new()).unwrap();
    });
    let terms: Vec<QueryTerm> = (0..TERMS)
        .map(|term| QueryTerm {
            hash: hash(term),
            query_weight: QueryWeight::own(1),
        })
        .collect();
    // Every document has the same terms, so bounds pass over little; all are asked for, so over nothing.
    check_count("search", all, || {
        let meta = Meta::read(&store).unwrap();
        let snapshot = Snapshot::take(&store, meta, &terms).unwrap();
        let statistics = snapshot.statistics().clone();
        let mut search = Search::begin(snapshot, &statistics, usize::MAX).unwrap();
        while search.next(&store).unwrap().is_some() {}
    });
    check_count("check", all, || {
        let blocks = u32::try_from(store.len()).unwrap();
        assert_eq!(check(&store, blocks, |_, _| {}).unwrap().faults, []);
    });
    check_count("vacuum", DOCUMENTS, || {
        vacuum::remove(&store, |row| row % 2 == 0).unwrap();
    });
    check_count("merge", all, || maintain::merge_all(&store).unwrap());
    let store = empty();
    check_count("inserts", all / 10, || {
        for row in 1..=DOCUMENTS / 10 {
            maintain::insert(&store, &document(row)).unwrap();
        }
    });
}
