//! Counts of events, such as citations that do not hold among those with a verdict, by hour and corpus.

use serde::{Deserialize, Serialize};

use crate::hours::Corpus;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Citations that do not hold, among those with a verdict.
    Failing,
    /// Citations that cannot be parsed, among all.
    Malformed,
    /// Answers without a citation, among those with sources.
    Uncited,
    /// Answers whose turn had no sources, among all.
    EmptyContext,
    /// Sum over the reranked turns of the share of passages that the reranker did not return, among these turns. A call that fails loses
    /// all passages of its turn, so a turn counts once.
    RerankLost,
    /// The sum of 1000 · ln(milliseconds) from `begin_turn` to `end_turn`, and the number of answers.
    AnswerMs,
}

/// Events of an hour.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct CountCell {
    /// Start of the hour, in seconds since 1970.
    pub hour: i64,
    /// Corpus of the turns; for [`Kind::Failing`], of the sources.
    #[serde(flatten)]
    pub corpus: Corpus,
    /// What is counted.
    pub kind: Kind,
    /// Type of the documents, for [`Kind::Failing`].
    #[serde(default)]
    pub document_type: Option<String>,
    /// Model that wrote the answers.
    #[serde(default)]
    pub model: Option<String>,
    /// Number of events, or the sum.
    pub events: f64,
    /// Number of citations, answers or passages.
    pub trials: f64,
}

/// A part of a corpus that is watched separately.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "part", content = "value")]
pub enum Part {
    /// The whole corpus.
    Corpus,
    /// One type of documents.
    DocumentType(String),
    /// One model.
    Model(String),
}

impl Part {
    /// Returns whether a cell belongs to this part.
    #[must_use]
    pub fn includes(&self, cell: &CountCell) -> bool {
        match self {
            Self::Corpus => true,
            Self::DocumentType(own) => cell.document_type.as_ref() == Some(own),
            Self::Model(own) => cell.model.as_ref() == Some(own),
        }
    }
}

/// Events of the weeks before the watched hours. Sums over its hours.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct UsualCell {
    /// Corpus.
    #[serde(flatten)]
    pub corpus: Corpus,
    /// What is counted.
    pub kind: Kind,
    /// Part of the corpus.
    #[serde(flatten)]
    pub part: Part,
    /// Number of hours with any.
    pub hours: f64,
    /// Sum of the events.
    pub events: f64,
    /// Sum of the trials.
    pub trials: f64,
    /// Sum of the squares of an hour's events.
    pub events_squared: f64,
    /// Sum of the products of an hour's events and trials.
    pub events_trials: f64,
    /// Sum of the squares of an hour's trials.
    pub trials_squared: f64,
    /// Sum of the squares of a day's events.
    pub day_events_squared: f64,
    /// Sum of the products of a day's events and trials.
    pub day_events_trials: f64,
    /// Sum of the squares of a day's trials.
    pub day_trials_squared: f64,
}
