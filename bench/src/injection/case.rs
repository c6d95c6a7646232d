//! Answers with markers, as input of `check_answer`.

use serde_json::{Value, json};

use super::answers::{Sentence, ShownAnswer};
use crate::attribution::marking::marked;

/// An answer, its passages and its evaluated citations.
#[derive(Clone, Debug)]
pub struct TestCase {
    /// The answer with markers.
    pub answer: String,
    /// The shown passages, in the shape of `check_answer`.
    pub passages: Value,
    /// Corpus for the look-up of documents.
    pub corpus: Option<String>,
    /// First byte of each evaluated citation.
    pub citations: Vec<usize>,
}

/// What stands for a sentence and its marker.
#[derive(Clone, Debug)]
pub struct Replacement {
    /// The sentence.
    pub said: String,
    /// The marker.
    pub marker: String,
}

/// Form of the markers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkerStyle {
    /// `A1`, `B1`, …
    Letters,
    /// `1`, `2`, …
    Numbers,
}

impl MarkerStyle {
    /// The marker of the passage at this index.
    pub fn marker(self, place: usize) -> String {
        match self {
            // After Z1 comes A2; these data do not need it.
            Self::Letters => {
                let letter = char::from(b'A' + (place % 26) as u8);
                format!("{letter}{}", place / 26 + 1)
            }
            Self::Numbers => (place + 1).to_string(),
        }
    }
}

/// Writes the answer of `shown` with its citations. `fault` replaces one sentence and its marker. Returns the text, and for each
/// citation the index of its sentence and its first byte.
pub fn answer(
    shown: &ShownAnswer,
    style: MarkerStyle,
    fault: Option<(usize, &str, &str)>,
) -> (String, Vec<(usize, usize)>) {
    written(shown, style, |place| {
        fault
            .filter(|(at, ..)| *at == place)
            .map(|(_, said, marker)| (said, marker))
    })
}

/// Writes the answer of `shown` with its citations. `replaced` returns what stands for a sentence and its marker.
pub fn answer_of<'a>(
    shown: &ShownAnswer,
    style: MarkerStyle,
    replaced: impl Fn(usize) -> Option<&'a Replacement>,
) -> String {
    let instead = |place| {
        let with = replaced(place)?;
        Some((with.said.as_str(), with.marker.as_str()))
    };
    written(shown, style, instead).0
}

fn written<'a>(
    shown: &ShownAnswer,
    style: MarkerStyle,
    replaced: impl Fn(usize) -> Option<(&'a str, &'a str)>,
) -> (String, Vec<(usize, usize)>) {
    let mut text = String::new();
    let mut citations = Vec::new();
    for (place, sentence) in shown.sentences.iter().enumerate() {
        let Sentence {
            text: said,
            supported_by,
        } = sentence;
        let own = supported_by.map(|(passage, _)| style.marker(passage));
        let (said, marker) = match replaced(place) {
            Some((instead, marker)) => (instead, Some(marker.to_owned())),
            None => (said.as_str(), own),
        };
        let body = said.trim_end();
        let begin = text.len();
        text.push_str(&marked(body, marker.as_deref().into_iter()));
        if marker.is_some() {
            let bracket = text.get(begin..).and_then(|added| added.rfind('['));
            citations.extend(bracket.map(|offset| (place, begin + offset)));
        }
        let space = sentence.text.len() - sentence.text.trim_end().len();
        text.push_str(&sentence.text[sentence.text.len() - space..]);
    }
    (text, citations)
}

/// The passages of `shown`, in the shape of `check_answer`.
pub fn passages(shown: &ShownAnswer, style: MarkerStyle) -> Value {
    let passages = shown.passages.iter().enumerate();
    passages
        .map(|(place, passage)| match style {
            MarkerStyle::Letters => json!({"content": passage.text, "doc_id": passage.document, "marker": style.marker(place)}),
            MarkerStyle::Numbers => json!({"content": passage.text, "doc_id": passage.document}),
        })
        .collect()
}

/// The unchanged answers with all citations, and for each citation the share of its sentence that the passage contains.
pub fn unchanged(shown: &[ShownAnswer]) -> (Vec<TestCase>, Vec<f64>) {
    let mut cases = Vec::new();
    let mut contained = Vec::new();
    for shown in shown {
        let (answer, citations) = answer(shown, MarkerStyle::Letters, None);
        if citations.is_empty() {
            continue;
        }
        let sentences = shown.sentences.iter();
        contained.extend(
            sentences.filter_map(|sentence| sentence.supported_by.map(|(_, contained)| contained)),
        );
        cases.push(TestCase {
            answer,
            passages: passages(shown, MarkerStyle::Letters),
            corpus: None,
            citations: citations.into_iter().map(|(_, byte)| byte).collect(),
        });
    }
    (cases, contained)
}
