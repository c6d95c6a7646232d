//! Search in corpora of which some documents have no vectors.
//!
//! Passages with a vector and passages without one are judged apart: each query counts once for its relevant passages with
//! a vector, and once for those without. The relevant passages of the other group are removed from the ranking. The same
//! groups are also measured in the corpus in which every passage has a vector.

mod load;
mod question;
mod titles;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use pgvector::Vector;
use postgres::Client;
use reground_metrics::interval::{Interval, bootstrap_clustered_mean};
use reground_metrics::ranking::ndcg;
use serde_json::{Value, json};

use super::corpora::JudgedCorpus;
use crate::data::corpus::Corpus;
use crate::data::embedder::Embedder;
use crate::data::queries::{self, Form};
use crate::data::{Domain, Folder};
use crate::parallel;
use crate::progress::Progress;
use load::Vectors;
use question::Question;

/// Documents without vectors, in percent.
pub const PERCENTS: [usize; 3] = [10, 50, 90];

/// Fused candidates of each branch, and results.
const CANDIDATES: i32 = 40;

/// Resamples of each interval, and their seed.
const RESAMPLES: usize = 2_000;
const SEED: u64 = 20;

/// The questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Questions {
    /// The title of a document. All its passages are relevant.
    Titles,
    /// The judged queries in one form.
    Judged(Form),
}

impl Questions {
    /// All variants, in the order of the report.
    pub const ALL: [Self; 3] = [
        Self::Titles,
        Self::Judged(Form::LastTurn),
        Self::Judged(Form::Rewrite),
    ];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Titles => "titles",
            Self::Judged(form) => form.name(),
        }
    }
}

/// The figures of one question for the relevant passages of one group.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Found {
    /// 1 if the first passage is relevant, else 0.
    first: f64,
    ndcg_5: f64,
}

/// The figures of a group of relevant passages, by cluster.
#[derive(Debug, Default)]
pub struct Group(BTreeMap<String, Vec<Found>>);

impl Group {
    fn add(&mut self, cluster: &str, found: Option<Found>) {
        if let Some(found) = found {
            self.0.entry(cluster.to_owned()).or_default().push(found);
        }
    }

    /// Number of questions.
    pub fn count(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }

    /// Share of the questions whose first passage is relevant.
    pub fn first(&self) -> Option<Interval> {
        self.interval(|found| found.first)
    }

    /// Mean nDCG@5.
    pub fn ndcg_5(&self) -> Option<Interval> {
        self.interval(|found| found.ndcg_5)
    }

    fn interval(&self, value: impl Fn(&Found) -> f64) -> Option<Interval> {
        let clusters = self.0.values();
        let clusters: Vec<Vec<f64>> = clusters
            .map(|all| all.iter().map(&value).collect())
            .collect();
        bootstrap_clustered_mean(&clusters, 0.95, RESAMPLES, SEED)
    }
}

/// The figures of one corpus with questions of one kind.
#[derive(Debug)]
pub struct Measured {
    /// The domain.
    pub domain: Domain,
    /// The questions.
    pub questions: Questions,
    /// The setting `fusion`.
    pub fusion: &'static str,
    /// Documents without vectors, in percent.
    pub percent: usize,
    /// Relevant passages with a vector: in this corpus, and in the one with all vectors.
    pub embedded: [Group; 2],
    /// Relevant passages without one, likewise.
    pub others: [Group; 2],
}

/// Loads the corpora and measures them with both fusions. Questions that repeat a title need the local model.
///
/// # Errors
/// Unreadable data, errors of the model and of the server.
pub fn measure(
    folder: &Folder,
    clients: &mut [Client],
    corpora: &[JudgedCorpus],
    mut embedder: Option<&mut Embedder>,
) -> Result<Vec<Measured>> {
    let mut measured = Vec::new();
    for judged in corpora {
        let corpus = Corpus::read(folder, judged.domain)?;
        let client = clients.first_mut().context("no session")?;
        let mut loaded = Vec::new();
        for percent in PERCENTS {
            loaded.push((percent, load::without_vectors(client, judged, percent)?));
        }
        for questions in Questions::ALL {
            let asked = match (questions, embedder.as_deref_mut()) {
                (Questions::Titles, Some(embedder)) => {
                    titles::questions(&corpus, judged, embedder)?
                }
                (Questions::Titles, None) => Vec::new(),
                (Questions::Judged(form), _) => judged_questions(folder, judged, form)?,
            };
            if asked.is_empty() {
                continue;
            }
            for fusion in ["scores", "rrf"] {
                let complete = rankings(clients, judged, &judged.name, fusion, &asked)?;
                for (percent, vectors) in &loaded {
                    let partly = rankings(clients, judged, &vectors.corpus, fusion, &asked)?;
                    let groups = |rankings: &[Vec<String>]| groups(&asked, rankings, vectors);
                    let ([embedded, others], [embedded_0, others_0]) =
                        (groups(&partly), groups(&complete));
                    measured.push(Measured {
                        domain: judged.domain,
                        questions,
                        fusion,
                        percent: *percent,
                        embedded: [embedded, embedded_0],
                        others: [others, others_0],
                    });
                }
            }
        }
    }
    Ok(measured)
}

fn judged_questions(folder: &Folder, judged: &JudgedCorpus, form: Form) -> Result<Vec<Question>> {
    let queries = queries::queries(folder, judged.domain, form)?.into_iter();
    let questions = queries.map(|query| Question {
        cluster: query.conversation().to_owned(),
        relevant: judged.gold(&query.id),
        query,
    });
    Ok(questions
        .filter(|question| !question.relevant.is_empty())
        .collect())
}

/// The ranking of each question, as classes of equal passages.
fn rankings(
    clients: &mut [Client],
    judged: &JudgedCorpus,
    corpus: &str,
    fusion: &str,
    questions: &[Question],
) -> Result<Vec<Vec<String>>> {
    let task = format!("{corpus}: {fusion}");
    let progress = Progress::new(&task, questions.len());
    let settings = settings(fusion);
    let rankings = parallel::over(clients, questions, |client, question| {
        let statement = client.prepare(
            "SELECT chunk_id FROM reground.search($1, $2, embedding => $3, max_results => $4, settings => $5)",
        )?;
        let embedding = Vector::from(question.query.embedding.clone());
        let rows = client.query(
            &statement,
            &[
                &corpus,
                &question.query.text,
                &embedding,
                &CANDIDATES,
                &settings,
            ],
        )?;
        let keys: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        progress.step(1);
        Ok(judged.duplicates.ranking(&keys))
    })?;
    progress.finish();
    Ok(rankings)
}

/// All settings that affect the result. The vectors are compared exactly, because each load builds another graph.
fn settings(fusion: &str) -> Value {
    json!({
        "candidates": CANDIDATES,
        "fusion": fusion,
        "rrf_k": 60,
        "vector_share": if fusion == "rrf" { 0.5 } else { 0.7 },
        "lexical_search": "auto",
        "vector_search": "exact",
    })
}

/// The figures of the relevant passages with a vector, and of those without.
fn groups(questions: &[Question], rankings: &[Vec<String>], vectors: &Vectors) -> [Group; 2] {
    let mut groups = [Group::default(), Group::default()];
    for (question, ranking) in questions.iter().zip(rankings) {
        let relevant = question.relevant.iter().cloned();
        let (embedded, others): (BTreeSet<String>, BTreeSet<String>) =
            relevant.partition(|class| vectors.embedded.contains(class));
        groups[0].add(&question.cluster, found(ranking, &embedded, &others));
        groups[1].add(&question.cluster, found(ranking, &others, &embedded));
    }
    groups
}

/// The figures of a ranking for `relevant`, without the passages of `apart`; `None` if nothing is relevant.
fn found(
    ranking: &[String],
    relevant: &BTreeSet<String>,
    apart: &BTreeSet<String>,
) -> Option<Found> {
    let left = ranking.iter().filter(|class| !apart.contains(*class));
    let left: Vec<String> = left.cloned().collect();
    let gains: BTreeMap<String, f64> = relevant.iter().map(|one| (one.clone(), 1.0)).collect();
    let first = left.first().is_some_and(|first| relevant.contains(first));
    Some(Found {
        ndcg_5: ndcg(&left, &gains, 5)?,
        first: f64::from(u8::from(first)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn relevant_passages_of_the_other_group_are_removed() {
        let ranking: Vec<String> = ["a", "b", "c"].map(String::from).into();
        let of = |relevant: &[&str], apart: &[&str]| found(&ranking, &set(relevant), &set(apart));
        let one = |first, ndcg_5| Some(Found { first, ndcg_5 });
        assert_eq!(of(&["b"], &["a"]), one(1.0, 1.0));
        assert_eq!(of(&["a"], &["b"]), one(1.0, 1.0));
        assert_eq!(of(&["b"], &[]), one(0.0, 1.0 / 3.0_f64.log2()));
        assert_eq!(of(&["x"], &[]), one(0.0, 0.0));
        assert_eq!(of(&[], &["a"]), None);
    }
}
