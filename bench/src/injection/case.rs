//! Answers as they are put to the extension.

use serde_json::{Value, json};

use super::answers::{Sentence, ShownAnswer};
use crate::attribution::marking::marked;

/// An answer with its passages and the citations of it that are looked at.
#[derive(Clone, Debug)]
pub struct TestCase {
    /// The answer with markers.
    pub answer: String,
    /// What was shown, in the shape that `check_answer` takes.
    pub passages: Value,
    /// The corpus in which documents are looked up.
    pub corpus: Option<String>,
    /// First byte of each citation that is looked at.
    pub citations: Vec<usize>,
}

/// How the passages are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkerStyle {
    /// `A1`, `B1` and so on.
    Letters,
    /// `1`, `2` and so on.
    Numbers,
}

impl MarkerStyle {
    /// The marker of a passage by its place.
    pub fn marker(self, place: usize) -> String {
        match self {
            // A context has no more than the letters, but for data of another kind.
            Self::Letters => {
                let letter = char::from(b'A' + (place % 26) as u8);
                format!("{letter}{}", place / 26 + 1)
            }
            Self::Numbers => (place + 1).to_string(),
        }
    }
}

/// The answer of `shown` with its citations. `fault` puts another sentence with another marker in the place of one. The
/// first byte of each citation comes with the sentence that it is of.
pub fn answer(
    shown: &ShownAnswer,
    style: MarkerStyle,
    fault: Option<(usize, &str, &str)>,
) -> (String, Vec<(usize, usize)>) {
    let mut text = String::new();
    let mut citations = Vec::new();
    for (place, sentence) in shown.sentences.iter().enumerate() {
        let Sentence {
            text: said,
            supported_by,
        } = sentence;
        let own = supported_by.map(|(passage, _)| style.marker(passage));
        let (said, marker) = match fault {
            Some((at, instead, marker)) if at == place => (instead, Some(marker.to_owned())),
            _ => (said.as_str(), own),
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

/// The passages of `shown` in the shape that `check_answer` takes.
pub fn passages(shown: &ShownAnswer, style: MarkerStyle) -> Value {
    let passages = shown.passages.iter().enumerate();
    passages
        .map(|(place, passage)| match style {
            MarkerStyle::Letters => json!({"text": passage.text, "doc_id": passage.document, "marker": style.marker(place)}),
            MarkerStyle::Numbers => json!({"text": passage.text, "doc_id": passage.document}),
        })
        .collect()
}

/// The answers as they are, all citations looked at; and for each of these the share of its sentence that its passage holds.
pub fn untouched(shown: &[ShownAnswer]) -> (Vec<TestCase>, Vec<f64>) {
    let mut cases = Vec::new();
    let mut held = Vec::new();
    for shown in shown {
        let (answer, citations) = answer(shown, MarkerStyle::Letters, None);
        if citations.is_empty() {
            continue;
        }
        let sentences = shown.sentences.iter();
        held.extend(sentences.filter_map(|sentence| sentence.supported_by.map(|(_, held)| held)));
        cases.push(TestCase {
            answer,
            passages: passages(shown, MarkerStyle::Letters),
            corpus: None,
            citations: citations.into_iter().map(|(_, byte)| byte).collect(),
        });
    }
    (cases, held)
}
