//! Compares the index in memory with brute force, after any sequence of operations.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod empty_index;
mod random_documents;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use empty_index::empty_index;
use proptest::prelude::*;
use random_documents::{DIVISORS, document, filter, hash, is_textless, random};
use reground_bm25::index::IndexError;
use reground_bm25::index::check::check;
use reground_bm25::index::pages::memory::MemoryStore;
use reground_bm25::index::pages::meta::Meta;
use reground_bm25::index::score::{Saturation, Statistics, contribution, to_float};
use reground_bm25::index::search::conjunction;
use reground_bm25::index::search::ranked_search::Search;
use reground_bm25::index::search::requirement::Requirement;
use reground_bm25::index::search::row_scores::row_scores;
use reground_bm25::index::search::snapshot::Snapshot;
use reground_bm25::index::terms::{Document, QueryTerm, is_word};
use reground_bm25::index::write::bulk_load::BulkLoader;
use reground_bm25::index::write::load_merge::finish;
use reground_bm25::index::write::maintain;
use reground_bm25::index::write::sorted_runs::InMemoryRuns;
use reground_bm25::index::write::vacuum;
use reground_bm25::{Parameters, QueryWeight};

/// All documents of the index.
#[derive(Default)]
struct BruteForce {
    documents: BTreeMap<u64, Document>,
}

impl BruteForce {
    fn statistics(&self, terms: &[QueryTerm]) -> Statistics {
        let lengths = self
            .documents
            .values()
            .map(|d| u64::from(reground_bm25::index::segment::norms::length(d.norm())));
        Statistics {
            documents: self
                .documents
                .keys()
                .filter(|row| !is_textless(**row))
                .count() as u64,
            length: lengths.sum(),
            frequencies: terms
                .iter()
                .map(|term| {
                    self.documents
                        .values()
                        .filter(|d| d.frequency(term.hash) > 0)
                        .count() as u64
                })
                .collect(),
        }
    }

    /// Score and row of all matching documents, best first; equal scores by row.
    fn ranking(&self, terms: &[QueryTerm], statistics: &Statistics) -> Vec<(f64, u64)> {
        let saturation = Saturation::new(&Parameters::default(), statistics.average_length());
        let weights = statistics.weights(terms);
        let mut found: Vec<(f64, u64)> =
            self.documents
                .values()
                .filter_map(|document| {
                    let contributions = terms.iter().zip(&weights).map(|(term, &weight)| {
                        match document.frequency(term.hash) {
                            0 => 0,
                            _ if weight == 0.0 => 0,
                            frequency => {
                                contribution(weight, saturation.of(frequency, document.norm()))
                            }
                        }
                    });
                    let score: u64 = contributions.sum();
                    (score > 0).then(|| (to_float(score), document.row))
                })
                .collect();
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        found
    }
}

/// Begins a search with the statistics of the index itself.
fn begin(
    store: &MemoryStore,
    terms: &[QueryTerm],
    first: usize,
) -> Result<(Search, Statistics), IndexError> {
    let snapshot = Snapshot::take(store, Meta::read(store)?, terms)?;
    let statistics = snapshot.statistics().clone();
    Ok((Search::begin(snapshot, &statistics, first)?, statistics))
}

/// Returns all results of a search, after a check that the scores descend.
fn search(
    store: &MemoryStore,
    terms: &[QueryTerm],
    first: usize,
    limit: usize,
) -> (Statistics, Vec<(f64, u64)>) {
    let (mut search, statistics) = begin(store, terms, first).unwrap();
    let mut found = Vec::new();
    while found.len() < limit
        && let Some(hit) = search.next(store).unwrap()
    {
        found.push((hit.score, hit.row));
    }
    assert!(found.windows(2).all(|pair| pair[0].0 >= pair[1].0));
    (statistics, found)
}

fn by_row(mut found: Vec<(f64, u64)>) -> Vec<(f64, u64)> {
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    found
}

/// Asserts that the index has no faults and contains exactly these documents. Returns the number of unused blocks.
fn assert_sound(store: &MemoryStore, brute: &BruteForce) -> u64 {
    let mut rows = BTreeMap::new();
    let blocks = u32::try_from(store.len()).unwrap();
    let findings = check(store, blocks, |row, fingerprint| {
        assert_eq!(
            rows.insert(row, fingerprint),
            None,
            "row {row} is there twice"
        );
    })
    .unwrap();
    assert_eq!(findings.faults, []);
    let expected = brute
        .documents
        .values()
        .map(|document| (document.row, document.fingerprint));
    assert_eq!(rows, expected.collect());
    findings.unused
}

/// Asserts that the index and brute force agree on all matches, and on the scores of the first few.
fn assert_agreement(store: &MemoryStore, brute: &BruteForce, terms: &[QueryTerm]) {
    let (statistics, found) = search(store, terms, 3, usize::MAX);
    assert_eq!(statistics, brute.statistics(terms));
    let expected = brute.ranking(terms, &statistics);
    assert_eq!(by_row(found), expected);
    assert_row_scores(store, brute, terms, &expected);
    assert_conjunctions(store, brute, terms);
    assert_filters(store, brute, terms);
    for limit in [1, 10, 40] {
        let (_, some) = search(store, terms, limit, limit);
        let scores: Vec<f64> = some.iter().map(|hit| hit.0).collect();
        let best: Vec<f64> = expected.iter().take(limit).map(|hit| hit.0).collect();
        assert_eq!(scores, best);
    }
}

/// Asserts that the scores of given rows are those of a ranking: of all rows, of some, and of rows that do not exist.
fn assert_row_scores(
    store: &MemoryStore,
    brute: &BruteForce,
    terms: &[QueryTerm],
    ranking: &[(f64, u64)],
) {
    let snapshot = Snapshot::take(store, Meta::read(store).unwrap(), terms).unwrap();
    for every in [1, 3, 50] {
        let some = brute
            .documents
            .keys()
            .copied()
            .filter(|row| row % every == 0);
        let rows: BTreeSet<u64> = some.chain([0, 7 << 16, u64::MAX >> 16]).collect();
        let found = row_scores(store, &snapshot, snapshot.statistics(), &rows).unwrap();
        let expected = ranking.iter().filter(|(_, row)| rows.contains(row));
        let expected: BTreeMap<u64, f64> = expected.map(|&(score, row)| (row, score)).collect();
        assert_eq!(found, expected);
    }
}

/// Asserts that intersections of a query with others contain the documents that match each of them, in the order of a query.
fn assert_conjunctions(store: &MemoryStore, brute: &BruteForce, terms: &[QueryTerm]) {
    let meta = Meta::read(store).unwrap();
    let take = |terms: &[QueryTerm]| Snapshot::take(store, meta.clone(), terms).unwrap();
    let queries = [terms, &self::terms(&[1]), &self::terms(&[2, 3, 400])];
    let snapshots = queries.map(take);
    for (ordering, required) in [(0, &[0, 1][..]), (1, &[0, 2]), (0, &[0, 1, 2]), (2, &[1])] {
        let word =
            |&at: &usize| Requirement::word(&snapshots[at], snapshots[at].statistics()).unwrap();
        let all: Vec<_> = required.iter().map(word).collect();
        let order = &snapshots[ordering];
        let ranking_query = Some((order, order.statistics()));
        let found = conjunction::matches(store, &meta, ranking_query, &all).unwrap();
        let ranking = |at: usize| brute.ranking(queries[at], snapshots[at].statistics());
        let matching = |at: usize| ranking(at).into_iter().map(|(_, row)| row);
        let mut rows: BTreeSet<u64> = brute.documents.keys().copied().collect();
        for &at in required {
            rows = &rows & &matching(at).collect();
        }
        let score: BTreeMap<u64, f64> =
            ranking(ordering).iter().map(|&(s, row)| (row, s)).collect();
        let expected = rows
            .iter()
            .map(|row| (score.get(row).copied().unwrap_or_default(), *row));
        let found: Vec<(f64, u64)> = found.iter().map(|hit| (hit.score, hit.row)).collect();
        assert_eq!(found, by_row(expected.collect()));
    }
}

/// Asserts that searches with conditions on filter columns, and on the words of another query, find what brute force finds.
fn assert_filters(store: &MemoryStore, brute: &BruteForce, terms: &[QueryTerm]) {
    let of_values = [
        &[][..],
        &[(0, 1)],
        &[(1, 7)],
        &[(2, 7)],
        &[(0, 1), (1, 7)],
        &[(1, 100)],
    ];
    let meta = Meta::read(store).unwrap();
    let take = |terms: &[QueryTerm]| Snapshot::take(store, meta.clone(), terms).unwrap();
    let (snapshot, words) = (take(terms), take(&self::terms(&[2, 3, 400])));
    let excluded = take(&self::terms(&[5, 60]));
    let has_excluded = |row: u64| {
        let mut terms = excluded.terms().iter();
        terms.any(|term| brute.documents[&row].frequency(term.hash) > 0)
    };
    let ranking = brute.ranking(terms, snapshot.statistics());
    let others = brute.ranking(words.terms(), words.statistics());
    let with_other_word: BTreeSet<u64> = others.into_iter().map(|(_, row)| row).collect();
    for values in of_values.into_iter().skip(1) {
        let term = |&(column, value)| QueryTerm::unweighted(filter(column, value));
        let terms: Vec<QueryTerm> = values.iter().map(term).collect();
        let snapshot = take(&terms);
        let each = (0..terms.len()).map(|at| Requirement::term(&snapshot, at..at + 1));
        let found = conjunction::matches(store, &meta, None, &each.collect::<Vec<_>>()).unwrap();
        let fits = |row: &&u64| {
            values
                .iter()
                .all(|&(column, value)| *row % DIVISORS[column] == value)
        };
        let expected: Vec<u64> = brute.documents.keys().filter(fits).copied().collect();
        assert_eq!(
            found.iter().map(|hit| hit.row).collect::<Vec<_>>(),
            expected
        );
    }
    for (values, with_words) in of_values.into_iter().flat_map(|v| [(v, false), (v, true)]) {
        let required = || {
            let filters = values.iter().map(|&(column, value)| {
                let term = QueryTerm::unweighted(filter(column, value));
                Requirement::term(&take(&[term]), 0..1)
            });
            let words = with_words.then(|| Requirement::word(&words, words.statistics()).unwrap());
            let excluded =
                with_words.then(|| Requirement::no_term(&excluded, 0..excluded.terms().len()));
            filters.chain(words).chain(excluded).collect::<Vec<_>>()
        };
        let fits = |row: u64| {
            let mut values = values.iter();
            values.all(|&(column, value)| row % DIVISORS[column] == value)
                && (!with_words || with_other_word.contains(&row) && !has_excluded(row))
        };
        let expected = ranking.iter().copied().filter(|&(_, row)| fits(row));
        let expected: Vec<(f64, u64)> = expected.collect();
        for first in [3, usize::MAX] {
            let snapshot = take(terms);
            let statistics = snapshot.statistics().clone();
            let search = Search::begin(snapshot, &statistics, first).unwrap();
            let mut search = search.requiring(required());
            let mut found = Vec::new();
            while let Some(hit) = search.next(store).unwrap() {
                found.push((hit.score, hit.row));
            }
            assert!(found.windows(2).all(|pair| pair[0].0 >= pair[1].0));
            assert_eq!(by_row(found), expected);
        }
    }
}

fn terms(numbers: &[u64]) -> Vec<QueryTerm> {
    let mut counts: BTreeMap<u64, u32> = BTreeMap::new();
    for &n in numbers {
        *counts.entry(hash(n)).or_default() += 1;
    }
    counts
        .into_iter()
        .map(|(hash, frequency)| QueryTerm {
            hash,
            query_weight: QueryWeight::own(frequency),
        })
        .collect()
}

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
            store.expire_readers();
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
    fn agrees_after_any_mix(steps in steps(), seed in any::<u64>(), passes in any::<bool>()) {
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
                    vacuum::remove(&store, |row| row % each == 1).unwrap();
                    let gone = brute.documents.extract_if(.., |row, _| row % each == 1);
                    free.extend(gone.map(|(row, _)| row));
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
            if passes {
                store.expire_readers();
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
