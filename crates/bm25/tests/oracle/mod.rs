//! The oracle: all documents in memory.

use std::collections::BTreeMap;

use crate::random_documents::{hash, is_textless};
use reground_bm25::index::check::check;
use reground_bm25::index::pages::memory::MemoryStore;
use reground_bm25::index::score::{Saturation, Statistics, contribution, to_float};
use reground_bm25::index::terms::{Document, QueryTerm};
use reground_bm25::index::write::vacuum;
use reground_bm25::{Parameters, QueryWeight};

/// All documents of the index.
#[derive(Default)]
pub struct BruteForce {
    pub documents: BTreeMap<u64, Document>,
}

impl BruteForce {
    /// Removes documents, also from the index. Returns their rows.
    pub fn remove(&mut self, store: &MemoryStore, is_gone: impl Fn(u64) -> bool) -> Vec<u64> {
        vacuum::remove(store, &is_gone).unwrap();
        let gone = self.documents.extract_if(.., |row, _| is_gone(*row));
        gone.map(|(row, _)| row).collect()
    }

    pub fn statistics(&self, terms: &[QueryTerm]) -> Statistics {
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
    pub fn ranking(&self, terms: &[QueryTerm], statistics: &Statistics) -> Vec<(f64, u64)> {
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

pub fn by_row(mut found: Vec<(f64, u64)>) -> Vec<(f64, u64)> {
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    found
}

/// Asserts that the index has no faults and contains exactly these documents. Returns the number of unused blocks.
pub fn assert_sound(store: &MemoryStore, brute: &BruteForce) -> u64 {
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

pub fn terms(numbers: &[u64]) -> Vec<QueryTerm> {
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
