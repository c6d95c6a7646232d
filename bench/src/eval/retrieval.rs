//! Ranked lists of `reground.search`, scored by the judgements.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use pgvector::Vector;
use postgres::Client;
use reground_metrics::ranking::{ndcg, recall};
use serde_json::{Value, json};

use super::corpora::JudgedCorpus;
use crate::data::Domain;
use crate::data::queries::{Form, Query};
use crate::parallel;
use crate::progress::Progress;
use crate::statistics::times::median;

/// Candidates per branch, and results of the fused list.
const CANDIDATES: i32 = 40;

/// A kind of ranked list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    /// The lexical branch alone, without an index.
    Bm25,
    /// The lexical branch alone, through its index.
    Bm25Index,
    /// The vector branch alone, without an index.
    Exact,
    /// The vector branch alone, through its index.
    Hnsw,
    /// Both, fused by reciprocal rank, without indexes.
    Rrf,
    /// Both, fused by their scores, without indexes.
    Scores,
    /// Both, fused by their scores, through their indexes.
    ScoresIndexes,
}

impl List {
    /// All variants, in the order of the reports.
    pub const ALL: [Self; 7] = [
        Self::Bm25,
        Self::Bm25Index,
        Self::Exact,
        Self::Hnsw,
        Self::Rrf,
        Self::Scores,
        Self::ScoresIndexes,
    ];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bm25 => "BM25",
            Self::Bm25Index => "BM25, index",
            Self::Exact => "vector, exact",
            Self::Hnsw => "vector, HNSW",
            Self::Rrf => "RRF",
            Self::Scores => "scores",
            Self::ScoresIndexes => "scores, indexes",
        }
    }

    fn asks_words(self) -> bool {
        !matches!(self, Self::Exact | Self::Hnsw)
    }

    fn asks_embedding(self) -> bool {
        !matches!(self, Self::Bm25 | Self::Bm25Index)
    }

    /// The exact list that this one approximates through an index.
    pub fn approximates(self) -> Option<Self> {
        match self {
            Self::Bm25Index => Some(Self::Bm25),
            Self::Hnsw => Some(Self::Exact),
            Self::ScoresIndexes => Some(Self::Scores),
            Self::Bm25 | Self::Exact | Self::Rrf | Self::Scores => None,
        }
    }

    /// All settings that affect the result, so that the defaults of the server do not.
    fn settings(self) -> Value {
        json!({
            "candidates": CANDIDATES,
            "fusion": if self == Self::Rrf { "rrf" } else { "scores" },
            "rrf_k": 60,
            "vector_share": if self == Self::Rrf { 0.5 } else { 0.7 },
            "lexical_search": if self.approximates().is_some() { "auto" } else { "exact" },
            "vector_search": if self.approximates().is_some() { "index" } else { "exact" },
        })
    }
}

/// Measures of one ranking, or their means, each in [0, 1].
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Scores {
    /// nDCG@5.
    pub ndcg_5: f64,
    /// Recall@5.
    pub recall_5: f64,
    /// Recall@10.
    pub recall_10: f64,
}

impl Scores {
    /// Measures of a ranking; `None` if nothing was judged relevant.
    pub fn of(ranking: &[String], gold: &BTreeSet<String>) -> Option<Self> {
        let gains: BTreeMap<String, f64> = gold.iter().map(|class| (class.clone(), 1.0)).collect();
        Some(Self {
            ndcg_5: ndcg(ranking, &gains, 5)?,
            recall_5: recall(ranking, &gains, 5)?,
            recall_10: recall(ranking, &gains, 10)?,
        })
    }

    /// The mean of each measure; `None` of no scores.
    pub fn mean<'a>(all: impl Iterator<Item = &'a Self> + Clone) -> Option<Self> {
        let count = all.clone().count();
        let mean = |field: fn(&Self) -> f64| all.clone().map(field).sum::<f64>() / count as f64;
        (count > 0).then(|| Self {
            ndcg_5: mean(|scores| scores.ndcg_5),
            recall_5: mean(|scores| scores.recall_5),
            recall_10: mean(|scores| scores.recall_10),
        })
    }
}

/// A list, measured over all queries of a domain in one form.
#[derive(Debug)]
pub struct Measured {
    /// Corpus and queries.
    pub domain: Domain,
    /// Form of the queries.
    pub form: Form,
    /// Kind of list.
    pub list: List,
    queries: Vec<MeasuredQuery>,
}

#[derive(Debug)]
struct MeasuredQuery {
    turn: u32,
    scores: Option<Scores>,
    took: Duration,
}

impl Measured {
    /// Means over the judged queries of turns from `turn` on, and their number; `None` if there are none.
    pub fn since_turn(&self, turn: u32) -> Option<(Scores, usize)> {
        let judged = self
            .queries
            .iter()
            .filter(|query| query.turn >= turn)
            .filter_map(|query| query.scores.as_ref());
        Some((Scores::mean(judged.clone())?, judged.count()))
    }

    /// Median time of a query, measured by the client.
    pub fn median_time(&self) -> Duration {
        median(self.queries.iter().map(|query| query.took).collect())
    }
}

#[cfg(test)]
impl Measured {
    /// A list of one query with this nDCG@5.
    pub fn constant(domain: Domain, form: Form, list: List, ndcg_5: f64) -> Self {
        let scores = Scores {
            ndcg_5,
            recall_5: 0.0,
            recall_10: 1.0,
        };
        Self {
            domain,
            form,
            list,
            queries: vec![MeasuredQuery {
                turn: 1,
                scores: Some(scores),
                took: Duration::ZERO,
            }],
        }
    }
}

/// Measures a list over all queries, distributed over the connections.
///
/// # Errors
/// Errors of the server.
pub fn measure(
    clients: &mut [Client],
    (domain, form, list): (Domain, Form, List),
    queries: &[Query],
    corpus: &JudgedCorpus,
) -> Result<Measured> {
    let task = format!("{} {}: {}", domain.name(), form.name(), list.name());
    let progress = Progress::new(&task, queries.len());
    let queries = parallel::over(clients, queries, |client, query| {
        let measured =
            search(client, list, query, corpus).with_context(|| format!("query {}", query.id))?;
        progress.step(1);
        Ok(measured)
    })?;
    progress.finish();
    Ok(Measured {
        domain,
        form,
        list,
        queries,
    })
}

fn search(
    client: &mut Client,
    list: List,
    query: &Query,
    corpus: &JudgedCorpus,
) -> Result<MeasuredQuery> {
    let statement = client.prepare(
        "SELECT chunk_id FROM reground.search($1, $2, embedding => $3, max_results => $4, settings => $5)",
    )?;
    let words = list.asks_words().then_some(query.text.as_str());
    let embedding = list
        .asks_embedding()
        .then(|| Vector::from(query.embedding.clone()));
    let settings = list.settings();
    let begun = Instant::now();
    let rows = client.query(
        &statement,
        &[&corpus.name, &words, &embedding, &CANDIDATES, &settings],
    )?;
    let took = begun.elapsed();
    let keys: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    Ok(MeasuredQuery {
        turn: query.turn,
        scores: Scores::of(&corpus.duplicates.ranking(&keys), &corpus.gold(&query.id)),
        took,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(turn: u32, ndcg_5: Option<f64>) -> MeasuredQuery {
        MeasuredQuery {
            turn,
            scores: ndcg_5.map(|value| Scores {
                ndcg_5: value,
                recall_5: 0.0,
                recall_10: 1.0,
            }),
            took: Duration::from_millis(u64::from(turn)),
        }
    }

    #[test]
    fn means_leave_out_earlier_turns_and_unjudged_queries() {
        let measured = Measured {
            domain: Domain::Clapnq,
            form: Form::LastTurn,
            list: List::Bm25,
            queries: vec![
                query(1, Some(1.0)),
                query(2, Some(0.5)),
                query(3, None),
                query(4, Some(0.0)),
            ],
        };
        let (all, count) = measured.since_turn(1).unwrap();
        assert_eq!((all.ndcg_5, all.recall_10, count), (0.5, 1.0, 3));
        let (later, count) = measured.since_turn(2).unwrap();
        assert_eq!((later.ndcg_5, count), (0.25, 2));
        assert!(measured.since_turn(5).is_none());
        assert_eq!(measured.median_time(), Duration::from_millis(3));
    }

    #[test]
    fn a_query_without_relevant_passages_has_no_score() {
        assert_eq!(Scores::of(&["a".to_owned()], &BTreeSet::new()), None);
    }
}
