//! Compares the one-pass ranking with a computation over token lists.

mod tsvector_payload;

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::vec;
use proptest::prelude::*;
use reground_bm25::{Collector, Parameters, QueryWeight, Ranking, TsVector, WordCounter};
use tsvector_payload::payload;

#[derive(Debug, Clone)]
struct Row {
    tokens: Vec<String>,
    admitted: bool,
    wanted: bool,
}

fn row() -> impl Strategy<Value = Row> {
    let tokens = vec("[a-f]", 0..12);
    (tokens, any::<bool>(), prop::bool::weighted(0.2)).prop_map(|(tokens, admitted, wanted)| Row {
        tokens,
        admitted,
        wanted,
    })
}

fn rank(query: &[(&str, u32)], rows: &[Row], limit: usize, parameters: Parameters) -> Ranking {
    let query = query
        .iter()
        .map(|(term, weight)| (term.as_bytes().to_vec(), QueryWeight::own(*weight)))
        .collect();
    let mut collector = Collector::new(query, parameters);
    for (number, row) in rows.iter().enumerate() {
        let bytes = payload(&row.tokens);
        if let Ok(vector) = TsVector::parse(&bytes) {
            collector.add(&format!("{number:03}"), row.admitted, row.wanted, &vector);
        }
    }
    collector.finish(limit, &BTreeSet::new())
}

/// As [`rank`], with counted words, and without the terms of rows that match nothing.
fn rank_counted(
    query: &[(&str, u32)],
    rows: &[Row],
    limit: usize,
    parameters: Parameters,
) -> Ranking {
    let terms = query
        .iter()
        .map(|(term, weight)| (term.as_bytes().to_vec(), QueryWeight::own(*weight)))
        .collect();
    let mut collector = Collector::new(terms, parameters);
    let mut counter = WordCounter::new(query.iter().map(|(term, _)| term.as_bytes()));
    for (number, row) in rows.iter().enumerate() {
        counter.clear();
        for token in &row.tokens {
            counter.add(token.as_bytes(), 1);
        }
        match collector.matches(&counter) {
            true => collector.add(&format!("{number:03}"), row.admitted, row.wanted, &counter),
            false => collector.add_other(&counter),
        }
    }
    collector.finish(limit, &BTreeSet::new())
}

/// BM25 directly from its definition, one query term at a time, including repetitions.
fn score(query: &[(&str, u32)], rows: &[Row], row: &Row, k1: f64, b: f64) -> f64 {
    let n = rows.len() as f64;
    let average = rows.iter().map(|row| row.tokens.len()).sum::<usize>() as f64 / n;
    let mut score = 0.0;
    for (term, weight) in query {
        let tf = row.tokens.iter().filter(|token| token == term).count() as f64;
        if tf > 0.0 {
            let df = rows
                .iter()
                .filter(|row| row.tokens.iter().any(|token| token == term))
                .count() as f64;
            let idf = (1.0 + (n - df + 0.5) / (df + 0.5)).ln();
            let norm = 1.0 - b + b * row.tokens.len() as f64 / average;
            score += f64::from(*weight) * idf * tf / (tf + k1 * norm);
        }
    }
    score
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * a.abs().max(b.abs())
}

proptest! {
    #[test]
    fn ranking_equals_the_definition(
        rows in vec(row(), 0..40), query in vec(("[a-h]", 0_u32..3), 0..8), limit in 0_usize..50,
        k1 in 0.0..3.0_f64, b in 0.0..=1.0_f64,
    ) {
        let query: Vec<(&str, u32)> = query.iter().map(|(term, weight)| (term.as_str(), *weight)).collect();
        let ranking = rank(&query, &rows, limit, Parameters::new(k1, b).unwrap());
        prop_assert_eq!(&rank_counted(&query, &rows, limit, Parameters::new(k1, b).unwrap()), &ranking);

        let scores: BTreeMap<String, f64> = rows
            .iter()
            .enumerate()
            .map(|(number, row)| (format!("{number:03}"), score(&query, &rows, row, k1, b)))
            .filter(|(_, score)| *score > 0.0)
            .collect();
        let rows = &rows[..];
        let scores = &scores;
        let of = |choose: fn(&Row) -> bool| {
            scores.iter().filter(move |(key, _)| choose(&rows[key.parse::<usize>().unwrap()]))
        };

        let wanted: Vec<_> = of(|row| row.wanted).collect();
        prop_assert_eq!(ranking.wanted.len(), wanted.len());
        for ((key, score), (expected_key, expected)) in ranking.wanted.iter().zip(wanted) {
            prop_assert_eq!(key, expected_key);
            prop_assert!(near(*score, *expected), "{} {} {}", key, score, expected);
        }

        // The two sums may differ in the last bit. So scores are compared by rank, and the order of keys only within equal
        // scores.
        let mut best: Vec<f64> = of(|row| row.admitted).map(|(_, score)| *score).collect();
        best.sort_by(|a, b| b.total_cmp(a));
        best.truncate(limit);
        prop_assert_eq!(ranking.candidates.len(), best.len());
        for (place, (found, expected)) in ranking.candidates.iter().zip(best).enumerate() {
            prop_assert_eq!(found.rank, place + 1);
            prop_assert!(near(found.score, expected));
            prop_assert!(near(found.score, scores[&found.key]));
        }
        let ordered = ranking.candidates.is_sorted_by(|a, b| {
            a.score > b.score || a.score == b.score && a.key < b.key
        });
        prop_assert!(ordered, "{:?}", ranking.candidates);

        prop_assert_eq!(ranking.statistics.n as usize, rows.len());
        for (term, df) in &ranking.statistics.document_frequencies {
            let has = |row: &&Row| row.tokens.iter().any(|token| token.as_bytes() == term);
            prop_assert_eq!(*df as usize, rows.iter().filter(has).count());
        }
    }

    #[test]
    fn a_filter_changes_no_score(rows in vec(row(), 1..30), query in vec("[a-f]", 1..4)) {
        let query: Vec<(&str, u32)> = query.iter().map(|term| (term.as_str(), 1)).collect();
        let all: Vec<Row> = rows.iter().map(|row| Row { admitted: true, ..row.clone() }).collect();
        let unfiltered = rank(&query, &all, usize::MAX, Parameters::default());
        let filtered = rank(&query, &rows, usize::MAX, Parameters::default());
        prop_assert_eq!(&filtered.statistics, &unfiltered.statistics);
        let admitted = |key: &str| rows[key.parse::<usize>().unwrap()].admitted;
        let expected: Vec<_> = unfiltered
            .candidates
            .iter()
            .filter(|found| admitted(&found.key))
            .map(|found| (&found.key, found.score))
            .collect();
        let found: Vec<_> = filtered.candidates.iter().map(|found| (&found.key, found.score)).collect();
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn breaks_ties_by_key_and_keeps_wanted_rows() {
    let row = |tokens: &str, admitted, wanted| Row {
        tokens: tokens.split(' ').map(String::from).collect(),
        admitted,
        wanted,
    };
    let rows = [
        row("a b", true, false),
        row("b a", true, true),
        row("a a", false, true),
        row("c d", true, true),
        row("b a", true, false),
    ];
    let ranking = rank(&[("a", 1)], &rows, 2, Parameters::default());
    let candidates: Vec<_> = ranking
        .candidates
        .iter()
        .map(|found| (found.key.as_str(), found.rank))
        .collect();
    assert_eq!(candidates, [("000", 1), ("001", 2)]);
    // Row 2 fails the filter and row 3 contains no query term.
    let wanted: Vec<_> = ranking.wanted.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(wanted, ["001", "002"]);
    assert_eq!(ranking.statistics.average_length, 2.0);
}

#[test]
fn a_frequency_counts_like_repetition() {
    let rows = [Row {
        tokens: vec!["a".into(), "b".into()],
        admitted: true,
        wanted: false,
    }];
    let twice = rank(
        &[("a", 1), ("b", 1), ("a", 1)],
        &rows,
        1,
        Parameters::default(),
    );
    let weighted = rank(
        &[("b", 1), ("a", 2), ("c", 0)],
        &rows,
        1,
        Parameters::default(),
    );
    assert_eq!(twice, weighted);
    assert_eq!(
        twice.statistics.document_frequencies,
        [(b"a".to_vec(), 1), (b"b".to_vec(), 1)]
    );
}

#[test]
fn only_the_best_expansion_terms_count() {
    let row = |tokens: String| Row {
        tokens: tokens.split(' ').map(String::from).collect(),
        admitted: true,
        wanted: true,
    };
    // The word w1 is in every row, w60 in one; the rarest words contribute most.
    let rows: Vec<Row> = (1..=60)
        .map(|n| {
            row((1..=n)
                .map(|w| format!("w{w}"))
                .collect::<Vec<_>>()
                .join(" "))
        })
        .collect();
    let expansion_weight = |expansion| QueryWeight {
        frequency: 0,
        expansion,
    };
    let mut query: Vec<(Vec<u8>, QueryWeight)> = (1..=60)
        .map(|w| (format!("w{w}").into_bytes(), expansion_weight(0.5)))
        .collect();
    let rank = |query: &[(Vec<u8>, QueryWeight)]| {
        let mut collector = Collector::new(query.to_vec(), Parameters::default());
        for (number, row) in rows.iter().enumerate() {
            let bytes = payload(&row.tokens);
            collector.add(
                &format!("{number:03}"),
                true,
                true,
                &TsVector::parse(&bytes).unwrap(),
            );
        }
        collector.finish(60, &BTreeSet::new())
    };
    let ranking = rank(&query);
    // 20 terms do not count. The 20 shortest rows contain no other terms and match nothing.
    assert_eq!((ranking.candidates.len(), ranking.wanted.len()), (40, 40));
    query.drain(..20);
    let best = rank(&query);
    assert_eq!(best.candidates, ranking.candidates);
    query.push((b"w1".to_vec(), QueryWeight::own(1)));
    assert_eq!(rank(&query).candidates.len(), 60);
}

#[test]
fn an_empty_collection_has_no_averages() {
    let ranking = rank(&[("a", 1)], &[], 10, Parameters::default());
    assert_eq!(
        (ranking.statistics.n, ranking.statistics.average_length),
        (0, 0.0)
    );
    assert!(ranking.candidates.is_empty() && ranking.wanted.is_empty());
}
