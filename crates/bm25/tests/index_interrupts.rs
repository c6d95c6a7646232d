//! Whatever works on an index can be given up: interrupts are asked for at least once in 10,000 postings.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use reground_bm25::Asked;
use reground_bm25::index::build::{Gatherer, finish};
use reground_bm25::index::check::check;
use reground_bm25::index::maintain;
use reground_bm25::index::memory::Memory;
use reground_bm25::index::meta::{Design, Meta};
use reground_bm25::index::runs::InMemory;
use reground_bm25::index::search::Search;
use reground_bm25::index::snapshot::Snapshot;
use reground_bm25::index::terms::{Document, Term, Weights};
use reground_bm25::index::vacuum;
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
    let design = Design {
        k1: 1.2,
        b: 0.75,
        text_config: "pg_catalog.english".into(),
        weights: Weights::default(),
        server: 18,
    };
    maintain::create(&store, [1, 2], design).unwrap();
    store
}

/// So many postings were gone through, and interrupts were checked often enough.
fn heard(what: &str, postings: u64, work: impl FnOnce()) {
    let checks = test_support::measure(work);
    let least = postings as usize / MOST;
    assert!(
        checks.count >= least,
        "{what}: {checks:?}, at least {least}"
    );
}

fn gatherer(memory: usize) -> Gatherer<InMemory> {
    Gatherer::new(InMemory::default(), InMemory::default(), memory)
}

#[test]
fn every_phase_beats() {
    let all = DOCUMENTS * TERMS;
    let store = empty();
    heard("build", all, || {
        let mut gatherer = gatherer(4 << 20);
        for row in 1..=DOCUMENTS {
            gatherer.add(&document(row)).unwrap();
        }
        finish(&store, gatherer, Vec::new()).unwrap();
    });
    let terms: Vec<Term> = (0..TERMS)
        .map(|term| Term {
            hash: hash(term),
            asked: Asked::own(1),
        })
        .collect();
    // Every document has the same terms, so bounds pass over little; all are asked for, so over nothing.
    heard("search", all, || {
        let meta = Meta::read(&store).unwrap();
        let snapshot = Snapshot::take(&store, meta, &terms).unwrap();
        let statistics = snapshot.statistics().clone();
        let mut search = Search::begin(snapshot, &statistics, usize::MAX).unwrap();
        while search.next(&store).unwrap().is_some() {}
    });
    heard("check", all, || {
        let blocks = u32::try_from(store.len()).unwrap();
        assert_eq!(check(&store, blocks, |_, _| {}).unwrap().faults, []);
    });
    heard("vacuum", DOCUMENTS, || {
        vacuum::remove(&store, |row| row % 2 == 0).unwrap();
    });
    heard("merge", all, || maintain::merge_all(&store).unwrap());
    let store = empty();
    heard("inserts", all / 10, || {
        for row in 1..=DOCUMENTS / 10 {
            maintain::insert(&store, &document(row)).unwrap();
        }
    });
}
