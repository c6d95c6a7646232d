//! Earlier turns as input of the intent classification.

use std::collections::BTreeSet;

use reground_grounding::passage::vectors::cosine;
use reground_grounding::query::intent::PastTurn;
use reground_grounding::settings::Settings;

use super::conversations::{Library, Question, Turn};

/// The known history, besides queries and titles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownHistory {
    /// Answers and cited passages.
    pub answers: bool,
    /// Similarities of embeddings.
    pub similarities: bool,
}

impl KnownHistory {
    /// All variants, in the order of the report; the last is the full history.
    pub const ALL: [Self; 4] = [
        Self {
            answers: false,
            similarities: false,
        },
        Self {
            answers: false,
            similarities: true,
        },
        Self {
            answers: true,
            similarities: false,
        },
        Self {
            answers: true,
            similarities: true,
        },
    ];

    /// Its name in the report.
    pub fn name(self) -> &'static str {
        match (self.answers, self.similarities) {
            (false, false) => "queries and titles",
            (false, true) => "… and similarities",
            (true, false) => "… and answers, cited passages",
            (true, true) => "… and both",
        }
    }
}

/// The latest earlier turns, as input for `question`.
pub fn past(
    library: &Library,
    earlier: &[Turn],
    question: &Question,
    known: KnownHistory,
) -> Vec<PastTurn> {
    let history = Settings::default().query_history;
    let latest = &earlier[earlier.len().saturating_sub(history)..];
    let cited: BTreeSet<usize> = latest
        .iter()
        .flat_map(|turn| &turn.cited)
        .copied()
        .collect();
    let embedding = question.embedding.as_deref().filter(|_| known.similarities);
    latest
        .iter()
        .map(|turn| {
            let passages = || turn.cited.iter().copied();
            let rest = || {
                let documents = library.documents_of(&turn.cited).into_iter();
                let of = documents.filter_map(|document| library.passages.get(document));
                of.flatten().copied().filter(|place| !cited.contains(place))
            };
            let text = |place: usize| &library.corpus.passages[place];
            let own = turn.question.embedding.as_deref();
            PastTurn {
                query: turn.question.text.clone(),
                sources: turn.titles.clone(),
                cited: passages().map(|place| text(place).title.clone()).collect(),
                answer: if known.answers {
                    turn.answer.clone()
                } else {
                    String::new()
                },
                cited_texts: if known.answers {
                    passages().map(|place| text(place).text.clone()).collect()
                } else {
                    Vec::new()
                },
                similarity: embedding.zip(own).and_then(|(a, b)| cosine(a, b)),
                cited_similarity: embedding.and_then(|e| nearest(library, e, passages())),
                document_similarity: embedding.and_then(|e| nearest(library, e, rest())),
                own_similarity: own
                    .filter(|_| known.similarities)
                    .and_then(|e| nearest(library, e, passages())),
            }
        })
        .collect()
}

/// The largest cosine to any of the passages.
fn nearest(
    library: &Library,
    embedding: &[f32],
    passages: impl Iterator<Item = usize>,
) -> Option<f64> {
    passages
        .filter_map(|place| library.corpus.embeddings.get(place))
        .filter_map(|passage| cosine(embedding, passage))
        .reduce(f64::max)
}
