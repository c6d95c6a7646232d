//! Compares the index in memory with brute force, after any sequence of operations.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod agreement;
mod empty_index;
mod oracle;
mod random_documents;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use agreement::{
    assert_agreement, assert_conjunctions, assert_filters, assert_row_scores, begin, search,
};
use empty_index::empty_index;
use oracle::{BruteForce, assert_sound, by_row, terms};
use proptest::prelude::*;
use random_documents::{document, filter, hash, random};
use reground_bm25::QueryWeight;
use reground_bm25::index::IndexError;
use reground_bm25::index::check::check;
use reground_bm25::index::pages::memory::MemoryStore;
use reground_bm25::index::pages::meta::Meta;
use reground_bm25::index::search::requirement::Requirement;
use reground_bm25::index::search::row_scores::row_scores;
use reground_bm25::index::search::snapshot::Snapshot;
use reground_bm25::index::terms::{Document, QueryTerm, is_word};
use reground_bm25::index::write::bulk_load::BulkLoader;
use reground_bm25::index::write::load_merge::finish;
use reground_bm25::index::write::maintain;
use reground_bm25::index::write::sorted_runs::InMemoryRuns;
use reground_bm25::index::write::vacuum;

/// Terms of a query, with more expansion terms than count.
fn with_expansion(numbers: &[u64], state: &mut u64) -> Vec<QueryTerm> {
    let mut all: BTreeMap<u64, QueryWeight> = BTreeMap::new();
    for term in terms(numbers) {
        all.insert(term.hash, term.query_weight);
    }
    for n in 1..=60 {
        all.entry(hash(n)).or_default().expansion = (1 + random(state) % 100) as f64 / 100.0;
    }
    let each = all.into_iter();
    each.map(|(hash, query_weight)| QueryTerm { hash, query_weight })
        .collect()
}

fn loader(memory: usize) -> BulkLoader<InMemoryRuns> {
    BulkLoader::new(InMemoryRuns::default(), InMemoryRuns::default(), memory)
}

#[test]
fn agrees_after_inserts_spills_and_merges() {
    let (store, mut brute, mut state) = (empty_index(), BruteForce::default(), 7);
    for row in 1..=30_000 {
        let document = document(row, 5_000, 60, &mut state);
        maintain::insert(&store, &document).unwrap();
        brute.documents.insert(row, document);
        if [1, 2, 100, 999, 12_345, 30_000].contains(&row) {
            for query in [
                &[1][..],
                &[4_999],
                &[1, 2],
                &[3, 50, 400],
                &[1, 2, 3, 5, 8, 13, 21, 34],
                &[77, 77, 2],
                &[9_999_999],
                &[],
            ] {
                assert_agreement(&store, &brute, &terms(query));
            }
        }
    }
    maintain::merge_all(&store).unwrap();
    assert_eq!(assert_sound(&store, &brute), 0);
    for n in 0..15 {
        let query: Vec<u64> = (0..=n % 9).map(|_| 1 + random(&mut state) % 200).collect();
        assert_agreement(&store, &brute, &terms(&query));
        assert_agreement(&store, &brute, &with_expansion(&query, &mut state));
    }
}

#[test]
fn agrees_when_built_at_once() {
    for (documents, memory, processes) in [
        (0, 1 << 20, 1),
        (0, 1 << 20, 3),
        (1, 1 << 20, 3),
        (20_000, 64 << 20, 1),
        (20_000, 64 << 20, 2),
        (20_000, 1 << 20, 1),
        (20_000, 1 << 20, 4),
        // Less memory than the documents of a page need.
        (2_000, 1 << 10, 2),
    ] {
        let (store, mut brute, mut state) = (empty_index(), BruteForce::default(), 11);
        let mut loaders: Vec<_> = (0..processes).map(|_| loader(memory)).collect();
        let (mut block, mut process) = (0, 0);
        for row in scanned_rows(documents) {
            let document = document(row, 3_000, 80, &mut state);
            if row >> 16 != block {
                // Distributes the blocks like a parallel scan.
                process = random(&mut state) as usize % processes.max(2) % processes;
                block = row >> 16;
            }
            loaders[process].add(document.clone()).unwrap();
            brute.documents.insert(row, document);
        }
        let own = loaders.remove(0);
        let others = loaders.into_iter().map(|other| other.into_part().unwrap());
        finish(&store, own, others.collect()).unwrap();
        assert_eq!(assert_sound(&store, &brute), 0);
        for query in [
            &[1][..],
            &[2_999],
            &[1, 2],
            &[3, 50, 400],
            &[1, 2, 3, 5, 8, 13, 21, 34],
        ] {
            assert_agreement(&store, &brute, &terms(query));
        }
        // Inserts work after a bulk load.
        for row in 1..=2_000 {
            // Between the others.
            let document = document(row << 16 | 1_000, 3_000, 80, &mut state);
            let row = document.row;
            maintain::insert(&store, &document).unwrap();
            brute.documents.insert(row, document);
        }
        assert_eq!(assert_sound(&store, &brute), 0);
        assert_agreement(&store, &brute, &terms(&[1, 2, 30]));
    }
}

/// The rows of a table of up to 37 rows a block, in the order of a scan that begins in the middle of the table. A row that was
/// updated in place comes with its new version, at another place of its block.
fn scanned_rows(count: u64) -> Vec<u64> {
    let mut blocks: Vec<Vec<u64>> = Vec::new();
    for number in 0..count {
        let (block, offset) = (number / 37, number % 37);
        if offset == 0 {
            blocks.push(Vec::new());
        }
        let place = if offset % 5 == 0 {
            100 - offset
        } else {
            offset
        };
        blocks[block as usize].push(block << 16 | place);
    }
    let middle = blocks.len() / 3;
    blocks.rotate_left(middle);
    blocks.concat()
}

/// A document that does not fit into a write buffer becomes a segment at once: it has too many terms for a page, or a
/// frequency above two bytes.
#[test]
fn takes_documents_of_any_size() {
    let (store, mut brute, mut state) = (empty_index(), BruteForce::default(), 5);
    for (row, longest) in (1..).zip([5, 3_000, 100_000, 7, 2_000_000, 900, 12]) {
        let mut document = document(row, 400_000, longest, &mut state);
        if longest == 12 {
            document.terms.retain(|&(term, _)| !is_word(term));
            let words = [(hash(1), 70_000), (hash(2).max(hash(1) + 1), 1)];
            document.terms.splice(..0, words);
        }
        maintain::insert(&store, &document).unwrap();
        brute.documents.insert(row, document);
        assert_eq!(assert_sound(&store, &brute), 0);
        assert_agreement(&store, &brute, &terms(&[1, 2, 30]));
    }
}

/// Each of these documents is a segment at first, but the meta page lists only some dozens.
#[test]
fn takes_any_number_of_large_documents() {
    let (store, mut brute, mut state) = (empty_index(), BruteForce::default(), 9);
    for row in 1..=220 {
        let mut document = document(row, 5_000, 40, &mut state);
        // More words than fit on a page; each occurs only in this document.
        document
            .terms
            .extend((0..1_000).map(|n| (hash(100_000 + row * 1_000 + n), 1)));
        document.terms.sort_unstable();
        maintain::insert(&store, &document).unwrap();
        brute.documents.insert(row, document);
    }
    assert_eq!(assert_sound(&store, &brute), 0);
    assert_agreement(&store, &brute, &terms(&[1, 2, 30]));
}

/// An index whose write buffer is full, with enough free pages for the next insert.
fn with_full_buffer() -> (MemoryStore, BruteForce, Document) {
    let (store, mut brute, mut state) = (empty_index(), BruteForce::default(), 3);
    for row in 1.. {
        let document = document(row, 300, 60, &mut state);
        if row == 5_000 {
            // Frees the merged pages.
            maintain::merge_all(&store).unwrap();
        }
        if row > 5_000 {
            // Enough changes for a document that fits.
            store.crash_after(Some(2));
        }
        let taken = maintain::insert(&store, &document);
        store.crash_after(None);
        if taken.is_err() {
            return (store, brute, document);
        }
        brute.documents.insert(row, document);
    }
    unreachable!("a buffer is full at some time")
}

#[test]
fn an_interrupted_spill_leaves_no_page_behind() {
    for changes in 0.. {
        let (store, mut brute, document) = with_full_buffer();
        let before = assert_sound(&store, &brute);
        let blocks = store.len();
        store.crash_after(Some(changes));
        let done = maintain::insert(&store, &document).is_ok();
        store.crash_after(None);
        if done {
            brute.documents.insert(document.row, document);
        }
        maintain::cleanup(&store).unwrap();
        assert_eq!(store.len(), blocks, "the test is of pages that were free");
        assert_eq!(
            assert_sound(&store, &brute),
            before,
            "after {changes} changes"
        );
        if done {
            assert!(changes > 10, "nothing was interrupted");
            return;
        }
    }
}

#[test]
fn a_closed_page_of_an_open_buffer_is_damage() {
    let store = empty_index();
    let buffer = Meta::read(&store).unwrap().write_buffer;
    // The first byte after the page header is the `closed` flag.
    let closed = reground_bm25::index::pages::page::HEADER_BYTES;
    store.damage(buffer.start, |page| page[closed] = 1);
    let inserted = maintain::insert(&store, &document(1, 10, 5, &mut 1));
    assert!(matches!(inserted, Err(IndexError::Corrupt { block, .. }) if block == buffer.start));
}

/// Duration of a soak test, from the environment; 0 in a normal test run.
fn soak() -> Duration {
    let seconds = std::env::var("REGROUND_SOAK_SECONDS").ok();
    Duration::from_secs(
        seconds
            .and_then(|seconds| seconds.parse().ok())
            .unwrap_or_default(),
    )
}

/// Damaged bytes lead to an error or to other results, never to a panic.
#[test]
fn damage_is_noticed_or_harmless() {
    let (store, mut state) = (empty_index(), 3);
    let mut loader = loader(1 << 20);
    for row in 1..=4_000 {
        loader.add(document(row, 1_000, 60, &mut state)).unwrap();
    }
    finish(&store, loader, Vec::new()).unwrap();
    for row in 4_001..=4_100 {
        maintain::insert(&store, &document(row, 1_000, 60, &mut state)).unwrap();
    }
    let blocks = u32::try_from(store.len()).unwrap();
    let begun = Instant::now();
    for round in 0.. {
        if round >= 4_000 && begun.elapsed() >= soak() {
            break;
        }
        let block = (random(&mut state) % u64::from(blocks)) as u32;
        let (at, bits) = (random(&mut state) as usize, random(&mut state) as u8 | 1);
        let mut was = 0;
        store.damage(block, |page| {
            // Damages the header often, because most checks are there.
            let at = if round % 3 == 0 {
                at % 40
            } else {
                at % page.len()
            };
            was = page[at];
            page[at] ^= bits;
        });
        let terms = terms(&[1 + random(&mut state) % 30, 2, 700]);
        if let Ok((mut search, _)) = begin(&store, &terms, 10) {
            if round % 2 == 0 {
                search = search.requiring(narrow_filter(&store).into_iter().collect());
            }
            for _ in 0..200 {
                if !matches!(search.next(&store), Ok(Some(_))) {
                    break;
                }
            }
        }
        if let Ok(snapshot) =
            Meta::read(&store).and_then(|meta| Snapshot::take(&store, meta, &terms))
        {
            let rows = (0..20).map(|_| random(&mut state) % 4_200).collect();
            let _ = row_scores(&store, &snapshot, snapshot.statistics(), &rows);
        }
        if round % 20 == 0 {
            let _ = check(&store, blocks, |_, _| {});
        }
        store.damage(block, |page| {
            let at = if round % 3 == 0 {
                at % 40
            } else {
                at % page.len()
            };
            page[at] = was;
        });
    }
}

/// A condition on a filter column that few documents meet.
fn narrow_filter(store: &MemoryStore) -> Option<Requirement> {
    let term = QueryTerm::unweighted(filter(3, 4));
    let snapshot = Meta::read(store).and_then(|meta| Snapshot::take(store, meta, &[term]));
    Some(Requirement::term(&snapshot.ok()?, 0..1))
}

#[derive(Clone, Debug)]
enum Step {
    Insert(u64),
    Remove(u64),
    Merge,
    Tidy,
    Query(Vec<u64>),
    /// Crashes after this number of changes; then the test continues.
    Crash(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (1_u64..600).prop_map(Step::Insert),
        2 => (2_u64..9).prop_map(Step::Remove),
        1 => Just(Step::Merge),
        1 => Just(Step::Tidy),
        4 => prop::collection::vec(1_u64..60, 1..7).prop_map(Step::Query),
        2 => (0_u64..60).prop_map(Step::Crash),
    ];
    prop::collection::vec(step, 1..24)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40 + 4 * soak().as_secs() as u32, ..ProptestConfig::default() })]

    /// Removed documents count in the statistics until a merge. So brute force uses the statistics of the search here, and its
    /// own only after a full merge.
    #[test]
    fn agrees_after_any_mix(steps in steps(), seed in any::<u64>()) {
        let (store, mut brute, mut state) = (empty_index(), BruteForce::default(), seed);
        let (mut inserted, mut free) = (0_u64, Vec::new());
        for step in steps {
            match step {
                Step::Insert(count) => {
                    for _ in 0..count {
                        inserted += 1;
                        // Rows come in any order, and the rows of removed documents are used again.
                        let row = free.pop().unwrap_or(inserted * 7_919 % 100_003 + 1);
                        let document = document(row, 300, 30, &mut state);
                        // A document whose insert failed is removed: its row was rolled back.
                        match maintain::insert(&store, &document) {
                            Ok(()) => { brute.documents.insert(row, document); }
                            Err(IndexError::Full { problem: "it has crashed" }) => {
                                store.crash_after(None);
                                let lost = row;
                                vacuum::remove(&store, |row| row == lost).unwrap();
                                free.push(row);
                            }
                            Err(error) => panic!("{error}"),
                        }
                    }
                }
                Step::Remove(each) => {
                    store.crash_after(None);
                    free.extend(brute.remove(&store, |row| row % each == 1));
                }
                Step::Merge => {
                    if maintain::merge_all(&store).is_err() {
                        store.crash_after(None);
                    }
                }
                Step::Tidy => match maintain::cleanup(&store) {
                    Ok(cleaned) => prop_assert_eq!(cleaned.documents, brute.documents.len() as u64),
                    Err(_) => store.crash_after(None),
                },
                Step::Crash(after) => store.crash_after(Some(after)),
                Step::Query(numbers) => {
                    let terms = terms(&numbers);
                    let (statistics, found) = search(&store, &terms, 5, usize::MAX);
                    let ranking = brute.ranking(&terms, &statistics);
                    prop_assert_eq!(&by_row(found), &ranking);
                    assert_row_scores(&store, &brute, &terms, &ranking);
                    assert_conjunctions(&store, &brute, &terms);
                    assert_filters(&store, &brute, &terms);
                }
            }
        }
        store.crash_after(None);
        assert_sound(&store, &brute);
        maintain::merge_all(&store).unwrap();
        assert_sound(&store, &brute);
        for n in 1..20 {
            assert_agreement(&store, &brute, &terms(&[n, n * 7, 2]));
        }
    }
}
