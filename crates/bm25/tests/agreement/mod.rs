//! Comparisons of an index with brute force.

use std::collections::{BTreeMap, BTreeSet};

use crate::oracle::{BruteForce, by_row};
use crate::random_documents::{DIVISORS, filter};
use reground_bm25::index::IndexError;
use reground_bm25::index::pages::memory::MemoryStore;
use reground_bm25::index::pages::meta::Meta;
use reground_bm25::index::score::Statistics;
use reground_bm25::index::search::conjunction;
use reground_bm25::index::search::ranked_search::Search;
use reground_bm25::index::search::requirement::Requirement;
use reground_bm25::index::search::row_scores::row_scores;
use reground_bm25::index::search::snapshot::Snapshot;
use reground_bm25::index::terms::QueryTerm;

/// Begins a search with the statistics of the index itself.
pub fn begin(
    store: &MemoryStore,
    terms: &[QueryTerm],
    first: usize,
) -> Result<(Search, Statistics), IndexError> {
    let snapshot = Snapshot::take(store, Meta::read(store)?, terms)?;
    let statistics = snapshot.statistics().clone();
    Ok((Search::begin(snapshot, &statistics, first)?, statistics))
}

/// Returns all results of a search, after a check that the scores descend.
pub fn search(
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

/// Asserts that the index and brute force agree on all matches, and on the scores of the first few.
pub fn assert_agreement(store: &MemoryStore, brute: &BruteForce, terms: &[QueryTerm]) {
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
pub fn assert_row_scores(
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
pub fn assert_conjunctions(store: &MemoryStore, brute: &BruteForce, terms: &[QueryTerm]) {
    let meta = Meta::read(store).unwrap();
    let take = |terms: &[QueryTerm]| Snapshot::take(store, meta.clone(), terms).unwrap();
    let queries = [
        terms,
        &crate::oracle::terms(&[1]),
        &crate::oracle::terms(&[2, 3, 400]),
    ];
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
pub fn assert_filters(store: &MemoryStore, brute: &BruteForce, terms: &[QueryTerm]) {
    let of_values = [
        &[][..],
        &[(0, 1)],
        &[(1, 7)],
        &[(2, 7)],
        &[(3, 4)],
        &[(0, 1), (1, 7)],
        &[(1, 7), (3, 4)],
        &[(1, 100)],
    ];
    let meta = Meta::read(store).unwrap();
    let take = |terms: &[QueryTerm]| Snapshot::take(store, meta.clone(), terms).unwrap();
    let snapshot = take(terms);
    let excluded = take(&crate::oracle::terms(&[5, 60]));
    let has_excluded = |row: u64| {
        let mut terms = excluded.terms().iter();
        terms.any(|term| brute.documents[&row].frequency(term.hash) > 0)
    };
    let ranking = brute.ranking(terms, snapshot.statistics());
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
    // Words of most documents, and words of a sixth of them.
    for words in [&[][..], &[2, 3, 400], &[20, 30]] {
        let words = take(&crate::oracle::terms(words));
        let with_words = !words.terms().is_empty();
        let others = brute.ranking(words.terms(), words.statistics());
        let with_other_word: BTreeSet<u64> = others.into_iter().map(|(_, row)| row).collect();
        for values in of_values {
            let required = || {
                let filters = values.iter().map(|&(column, value)| {
                    let term = QueryTerm::unweighted(filter(column, value));
                    Requirement::term(&take(&[term]), 0..1)
                });
                let word =
                    with_words.then(|| Requirement::word(&words, words.statistics()).unwrap());
                let excluded =
                    with_words.then(|| Requirement::no_term(&excluded, 0..excluded.terms().len()));
                filters.chain(word).chain(excluded).collect::<Vec<_>>()
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
}
