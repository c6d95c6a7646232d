//! Searches of an index whose pages are reused while they run.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod empty_index;
mod oracle;
mod random_documents;

use std::cell::Cell;
use std::collections::BTreeSet;

use empty_index::empty_index;
use oracle::{BruteForce, assert_sound, by_row, terms};
use proptest::prelude::*;
use random_documents::{document, hash};
use reground_bm25::index::pages::memory::MemoryStore;
use reground_bm25::index::pages::meta::Meta;
use reground_bm25::index::pages::store::Pages;
use reground_bm25::index::score::Statistics;
use reground_bm25::index::search::conjunction;
use reground_bm25::index::search::ranked_search::{Search, SearchHit};
use reground_bm25::index::search::requirement::Requirement;
use reground_bm25::index::search::row_scores::row_scores;
use reground_bm25::index::search::snapshot::Snapshot;
use reground_bm25::index::terms::{Document, QueryTerm};
use reground_bm25::index::write::{maintain, vacuum};
use reground_bm25::index::{IndexError, Result};

/// A search with the statistics of its beginning, which requires word 1 if `requires`.
struct Running {
    terms: Vec<QueryTerm>,
    requires: bool,
    statistics: Statistics,
    search: Search,
    found: Vec<SearchHit>,
}

/// What a search with these terms reads of the index as it is now.
fn present(
    pages: &impl Pages,
    terms: &[QueryTerm],
    requires: bool,
) -> Result<(Snapshot, Vec<Requirement>)> {
    let meta = Meta::read(pages)?;
    let mut required = Vec::new();
    if requires {
        let word = Snapshot::take(pages, meta.clone(), &self::terms(&[1]))?;
        required.push(Requirement::term(&word, 0..1));
    }
    Ok((Snapshot::take(pages, meta, terms)?, required))
}

impl Running {
    fn begin(pages: &impl Pages, numbers: &[u64], requires: bool, first: usize) -> Result<Self> {
        let terms = terms(numbers);
        let (snapshot, required) = present(pages, &terms, requires)?;
        let statistics = snapshot.statistics().clone();
        let search = Search::begin(snapshot, &statistics, first)?;
        Ok(Self {
            terms,
            requires,
            search: search.requiring(required),
            statistics,
            found: Vec::new(),
        })
    }

    /// Fetches up to `count` documents. Returns how often pages had been reused.
    fn fetch(&mut self, pages: &impl Pages, count: usize) -> usize {
        let (mut reused, wanted) = (0, self.found.len().saturating_add(count));
        while self.found.len() < wanted {
            match self.search.next(pages) {
                Err(IndexError::Reused { .. }) => {
                    reused += 1;
                    if let Ok((snapshot, required)) = present(pages, &self.terms, self.requires) {
                        self.search.resume(snapshot, required);
                    }
                }
                found => match found.unwrap() {
                    Some(hit) => self.found.push(hit),
                    None => break,
                },
            }
        }
        reused
    }

    /// Asserts that the search has found each of the documents, and none twice, by descending score.
    fn assert_found(&self, documents: &BruteForce) {
        let scores: Vec<f64> = self.found.iter().map(|hit| hit.score).collect();
        assert!(scores.is_sorted_by(|a, b| a >= b));
        let each: BTreeSet<(u64, u64)> = self
            .found
            .iter()
            .map(|hit| (hit.row, hit.fingerprint))
            .collect();
        assert_eq!(each.len(), self.found.len(), "a document was found twice");
        let is_wanted =
            |row: u64| !self.requires || documents.documents[&row].frequency(hash(1)) > 0;
        let expected = documents.ranking(&self.terms, &self.statistics);
        let expected: Vec<_> = expected
            .into_iter()
            .filter(|&(_, row)| is_wanted(row))
            .collect();
        let known = |hit: &&SearchHit| {
            let document = documents.documents.get(&hit.row);
            document.is_some_and(|document| document.fingerprint == hit.fingerprint)
        };
        let found = self.found.iter().filter(known);
        assert_eq!(
            by_row(found.map(|hit| (hit.score, hit.row)).collect()),
            expected
        );
    }
}

#[derive(Clone, Debug)]
enum Step {
    Insert(u64),
    Remove(u64),
    Merge,
    Tidy,
    Begin(Vec<u64>, bool, usize),
    Fetch(usize, usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let begin = (
        prop::collection::vec(1_u64..60, 1..5),
        any::<bool>(),
        1_usize..30,
    );
    let step = prop_oneof![
        3 => (1_u64..4_000).prop_map(Step::Insert),
        2 => (2_u64..9).prop_map(Step::Remove),
        1 => Just(Step::Merge),
        1 => Just(Step::Tidy),
        2 => begin.prop_map(|(numbers, requires, first)| Step::Begin(numbers, requires, first)),
        4 => (any::<usize>(), 1_usize..300).prop_map(|(at, count)| Step::Fetch(at, count)),
    ];
    prop::collection::vec(step, 8..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// A search finds the documents that the index has from its beginning to its end.
    #[test]
    fn a_search_goes_on_in_a_changed_index(steps in steps(), seed in any::<u64>()) {
        let (store, mut brute, mut state) = (empty_index(), BruteForce::default(), seed);
        let mut running: Vec<(Running, BruteForce)> = Vec::new();
        let (mut inserted, mut free) = (0_u64, Vec::new());
        for step in [Step::Insert(700)].into_iter().chain(steps) {
            match step {
                Step::Insert(count) => {
                    for _ in 0..count {
                        inserted += 1;
                        let row = free.pop().unwrap_or(inserted * 7_919 % 100_003 + 1);
                        // Short documents of few words, so that many scores are equal.
                        let document = document(row, 60, 6, &mut state);
                        maintain::insert(&store, &document).unwrap();
                        brute.documents.insert(row, document);
                    }
                }
                Step::Remove(each) => {
                    free.extend(brute.remove(&store, |row| row % each == 1));
                    for (_, seen) in &mut running {
                        seen.documents.retain(|row, _| row % each != 1);
                    }
                }
                Step::Merge => maintain::merge_all(&store).unwrap(),
                Step::Tidy => { maintain::cleanup(&store).unwrap(); }
                Step::Begin(numbers, requires, first) => {
                    let search = Running::begin(&store, &numbers, requires, first).unwrap();
                    let documents = brute.documents.clone();
                    running.push((search, BruteForce { documents }));
                }
                Step::Fetch(at, count) => {
                    if let Some(at) = at.checked_rem(running.len()) {
                        running[at].0.fetch(&store, count);
                    }
                }
            }
        }
        for (search, seen) in &mut running {
            search.fetch(&store, usize::MAX);
            search.assert_found(seen);
        }
        assert_sound(&store, &brute);
    }
}

/// Pages that change completely before one of the accesses to them.
struct Disturbed<'s> {
    store: &'s MemoryStore,
    /// Number of accesses until then.
    left: Cell<u32>,
}

/// First row of the documents that come and go in a disturbed index.
const OTHERS: u64 = 1_000_000;

impl Disturbed<'_> {
    fn count(&self) {
        let left = self.left.get();
        self.left.set(left.wrapping_sub(1));
        if left == 0 {
            maintain::merge_all(self.store).unwrap();
            let mut state = 5;
            for row in OTHERS..OTHERS + 1_500 {
                maintain::insert(self.store, &document(row, 300, 30, &mut state)).unwrap();
            }
            maintain::merge_all(self.store).unwrap();
        }
    }
}

impl Pages for Disturbed<'_> {
    type Page = <MemoryStore as Pages>::Page;

    fn read(&self, block: u32) -> Result<Self::Page> {
        self.count();
        self.store.read(block)
    }

    fn look<T>(&self, block: u32, look: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
        self.count();
        self.store.look(block, look)
    }
}

#[test]
fn documents_with_equal_scores_are_returned_once() {
    let (store, mut brute) = (empty_index(), BruteForce::default());
    let insert = |row, word| {
        let document = Document {
            row,
            fingerprint: row,
            terms: vec![(hash(word), 1)],
        };
        maintain::insert(&store, &document).unwrap();
        document
    };
    // Their numbers follow the order of the inserts in the segments, and that of the rows after the merge.
    for n in 0..9_000 {
        let document = insert(1 + n * 7_919 % 100_003, 1);
        brute.documents.insert(document.row, document);
    }
    for fetched in [0, 1, 40, 1_000, 8_000] {
        let mut running = Running::begin(&store, &[1], true, 20).unwrap();
        running.fetch(&store, fetched);
        for _ in 0..2 {
            for n in 0..9_000 {
                insert(OTHERS + n, 2);
            }
            maintain::merge_all(&store).unwrap();
            vacuum::remove(&store, |row| row >= OTHERS).unwrap();
            maintain::merge_all(&store).unwrap();
        }
        assert!(running.fetch(&store, usize::MAX) > 0, "no page was reused");
        running.assert_found(&brute);
    }
}

#[test]
fn a_search_notices_reused_pages_at_every_access() {
    let (before, mut state, mut brute) = (empty_index(), 9, BruteForce::default());
    for row in 1..=9_000 {
        let document = document(row, 300, 30, &mut state);
        maintain::insert(&before, &document).unwrap();
        brute.documents.insert(row, document);
    }
    // During the beginning of a search, and after it.
    let mut reused = [0, 0];
    let is_reused = |error| matches!(error, Err(IndexError::Reused { .. }));
    for accesses in 0.. {
        let store = before.clone();
        let pages = Disturbed {
            store: &store,
            left: Cell::new(accesses),
        };
        let mut begun = Running::begin(&pages, &[1, 2, 30], true, 20);
        if begun.as_ref().is_err() {
            assert!(is_reused(begun.map(|_| ())));
            reused[0] += 1;
            begun = Running::begin(&pages, &[1, 2, 30], true, 20);
        }
        let mut running = begun.unwrap();
        reused[1] += running.fetch(&pages, 40);
        let is_disturbed = pages.left.get() > accesses;
        pages.left.set(u32::MAX);
        running.fetch(&pages, usize::MAX);
        running.assert_found(&brute);
        if !is_disturbed {
            assert_eq!(running.statistics, brute.statistics(&running.terms));
            break;
        }
    }
    assert!(
        reused.iter().all(|&times| times > 10),
        "pages were reused {reused:?} times"
    );
}

#[test]
fn lists_and_scores_of_rows_notice_reused_pages() {
    let (before, mut state, mut brute) = (empty_index(), 9, BruteForce::default());
    for row in 1..=4_000 {
        let document = document(row, 300, 30, &mut state);
        maintain::insert(&before, &document).unwrap();
        brute.documents.insert(row, document);
    }
    let terms = terms(&[1, 30]);
    let some: BTreeSet<u64> = (1..=4_000).filter(|row| row % 40 == 0).collect();
    let ranking = brute.ranking(&terms, &brute.statistics(&terms));
    let wanted: Vec<(f64, u64)> = ranking
        .iter()
        .copied()
        .filter(|(_, row)| some.contains(row))
        .collect();
    let read = |pages: &Disturbed<'_>| {
        let (snapshot, required) = present(pages, &terms, true)?;
        let (meta, statistics) = (snapshot.meta(), brute.statistics(&terms));
        let ordering = Some((&snapshot, &statistics));
        let listed = conjunction::matches(pages, meta, ordering, &required)?;
        let scored = row_scores(pages, &snapshot, &statistics, &some)?;
        Ok((listed, scored))
    };
    let mut reused = 0;
    for accesses in 0.. {
        let store = before.clone();
        let pages = Disturbed {
            store: &store,
            left: Cell::new(accesses),
        };
        match read(&pages) {
            Err(IndexError::Reused { .. }) => reused += 1,
            result => {
                let (listed, scored) = result.unwrap();
                let listed = listed.iter().filter(|hit| hit.row < OTHERS);
                let listed = listed.map(|hit| (hit.score, hit.row)).collect();
                let with_word =
                    |&(_, row): &(f64, u64)| brute.documents[&row].frequency(hash(1)) > 0;
                let expected = ranking.iter().copied().filter(with_word);
                assert_eq!(by_row(listed), expected.collect::<Vec<_>>());
                let scored = scored.into_iter().map(|(row, score)| (score, row));
                assert_eq!(by_row(scored.collect()), wanted);
            }
        }
        if pages.left.get() <= accesses {
            break;
        }
    }
    assert!(reused > 10, "pages were reused {reused} times");
}
