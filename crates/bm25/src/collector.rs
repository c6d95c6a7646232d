//! BM25 in one pass over a collection: statistics of all rows, scores of the matching ones.

use std::collections::{BTreeMap, BTreeSet};

use reground_interrupt::check_interrupt;

use crate::query::query_weight::{MAX_QUERY_WEIGHT, QueryWeight, weights};
use crate::row_words::RowWords;
use crate::score::{Parameters, term_score};

/// Collects statistics and matches while the rows are read, and ranks at the end, when the statistics are complete.
///
/// Memory is proportional to the number of rows that may be returned and contain at least one query term.
#[derive(Debug, Clone)]
pub struct Collector {
    parameters: Parameters,
    terms: Vec<Term>,
    rows: u64,
    positions: u64,
    matches: Vec<Match>,
    /// The hits of all matches, grouped by match.
    hits: Vec<Hit>,
}

/// A distinct term of the query.
#[derive(Debug, Clone)]
struct Term {
    lexeme: Vec<u8>,
    query_weight: QueryWeight,
    document_frequency: u64,
}

/// A kept row. Its hits end at `hits_end` and begin at the end of the previous match.
#[derive(Debug, Clone)]
struct Match {
    key: Box<str>,
    length: u32,
    admitted: bool,
    wanted: bool,
    hits_end: usize,
}

/// A query term (by index), and how often a kept row contains it.
#[derive(Debug, Clone, Copy)]
struct Hit {
    term: usize,
    frequency: u32,
}

/// A row of the ranking.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// The caller's key of the row.
    pub key: String,
    /// BM25 score, above 0.
    pub score: f64,
    /// Place in the ranking, from 1; rows of equal score have different ranks.
    pub rank: usize,
}

/// Statistics of the whole collection. Every score can be recomputed from them.
#[derive(Debug, Clone, PartialEq)]
pub struct Statistics {
    /// Number of rows.
    pub n: u64,
    /// Mean length of a row in positions; 0 without rows.
    pub average_length: f64,
    /// For each distinct query term, in byte order, the number of rows that contain the term.
    pub document_frequencies: Vec<(Vec<u8>, u64)>,
}

/// The result of a pass.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// The best admitted rows by descending score; equal scores by ascending key.
    pub candidates: Vec<Scored>,
    /// Scores of all wanted rows that match, by ascending key.
    pub wanted: Vec<(String, f64)>,
    /// Statistics of the whole collection.
    pub statistics: Statistics,
}

impl Collector {
    /// Starts a pass for the terms of a query. The weights of equal lexemes are added; terms of weight 0 are ignored.
    pub fn new(query_terms: Vec<(Vec<u8>, QueryWeight)>, parameters: Parameters) -> Self {
        let mut all: BTreeMap<Vec<u8>, QueryWeight> = BTreeMap::new();
        for (lexeme, more) in query_terms {
            let query_weight = all.entry(lexeme).or_default();
            query_weight.frequency =
                (query_weight.frequency.saturating_add(more.frequency)).min(MAX_QUERY_WEIGHT);
            query_weight.expansion += more.expansion;
        }
        let terms = all
            .into_iter()
            .filter(|(_, query_weight)| *query_weight != QueryWeight::default())
            .map(|(lexeme, query_weight)| Term {
                lexeme,
                query_weight,
                document_frequency: 0,
            })
            .collect();
        Self {
            parameters,
            terms,
            rows: 0,
            positions: 0,
            matches: Vec::new(),
            hits: Vec::new(),
        }
    }

    /// Whether a row contains a term of the query.
    pub fn matches(&self, words: &impl RowWords) -> bool {
        let mut terms = self.terms.iter();
        terms.any(|term| words.frequency(&term.lexeme) > 0)
    }

    /// Adds one row without any term of the query. It counts in the statistics.
    pub fn add_other(&mut self, words: &impl RowWords) {
        check_interrupt(1);
        self.count(words);
    }

    fn count(&mut self, words: &impl RowWords) {
        self.rows += 1;
        self.positions += u64::from(words.length());
    }

    /// Adds one row. Its `key` must be unique.
    ///
    /// Every row counts in the statistics. An `admitted` row passes the caller's filter and may become a candidate. A `wanted`
    /// row is reported with its score, wherever it would rank and whether it is admitted or not.
    pub fn add(&mut self, key: &str, admitted: bool, wanted: bool, words: &impl RowWords) {
        self.count(words);
        let kept = admitted || wanted;
        let hits_start = self.hits.len();
        check_interrupt(1 + self.terms.len());
        for (index, term) in self.terms.iter_mut().enumerate() {
            let frequency = words.frequency(&term.lexeme);
            if frequency > 0 {
                term.document_frequency += 1;
                if kept {
                    self.hits.push(Hit {
                        term: index,
                        frequency,
                    });
                }
            }
        }
        let hits_end = self.hits.len();
        if hits_end > hits_start {
            self.matches.push(Match {
                key: key.into(),
                length: words.length(),
                admitted,
                wanted,
                hits_end,
            });
        }
    }

    /// Scores the matches with the complete statistics and returns at most `limit` candidates. The rows with the keys `also`
    /// are reported like wanted rows.
    pub fn finish(self, limit: usize, also: &BTreeSet<String>) -> Ranking {
        let average_length = if self.rows == 0 {
            0.0
        } else {
            self.positions as f64 / self.rows as f64
        };
        let query_weights: Vec<QueryWeight> =
            self.terms.iter().map(|term| term.query_weight).collect();
        let frequencies: Vec<u64> = (self.terms.iter())
            .map(|term| term.document_frequency)
            .collect();
        let weights = weights(&query_weights, self.rows, &frequencies);

        let mut candidates = Vec::new();
        let mut wanted = Vec::new();
        let mut hits_start = 0;
        for row in self.matches {
            let hits = &self.hits[hits_start..row.hits_end];
            check_interrupt(1 + hits.len());
            hits_start = row.hits_end;
            let score: f64 = hits
                .iter()
                .map(|hit| {
                    term_score(
                        weights[hit.term],
                        hit.frequency,
                        row.length,
                        average_length,
                        &self.parameters,
                    )
                })
                .sum();
            if score <= 0.0 {
                continue;
            }
            let key = String::from(row.key);
            if row.wanted || also.contains(&key) {
                wanted.push((key.clone(), score));
            }
            if row.admitted {
                candidates.push(Scored {
                    key,
                    score,
                    rank: 0,
                });
            }
        }
        wanted.sort_unstable_by(|a, b| a.0.cmp(&b.0));

        let statistics = Statistics {
            n: self.rows,
            average_length,
            document_frequencies: self
                .terms
                .into_iter()
                .map(|term| (term.lexeme, term.document_frequency))
                .collect(),
        };
        Ranking {
            candidates: take_best(candidates, limit),
            wanted,
            statistics,
        }
    }
}

/// Returns the `limit` best candidates with their ranks. Selecting before sorting keeps the time linear in the number of
/// candidates. For a frequent term, that number is the size of the collection.
fn take_best(mut candidates: Vec<Scored>, limit: usize) -> Vec<Scored> {
    let order =
        |a: &Scored, b: &Scored| b.score.total_cmp(&a.score).then_with(|| a.key.cmp(&b.key));
    if limit < candidates.len() {
        candidates.select_nth_unstable_by(limit, order);
        candidates.truncate(limit);
    }
    candidates.sort_unstable_by(order);
    for (place, candidate) in candidates.iter_mut().enumerate() {
        candidate.rank = place + 1;
    }
    candidates
}
