//! Answers with the passages shown for them. A sentence cites a passage if humans judged the passage relevant to the turn and no
//! other shown passage contains more of the sentence (by `attribution::overlap`, so independently of the extension's support).

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use unicode_segmentation::UnicodeSegmentation;

use crate::attribution::marking::MIN_OVERLAP;
use crate::attribution::overlap::{overlap, words};
use crate::data::corpus::{Address, Passage as Line};
use crate::data::queries::judgements;
use crate::data::tasks::{Conversation, conversations};
use crate::data::{Domain, Folder, json_lines};

/// Passages shown for an answer, unless humans judged more passages relevant.
const MOST: usize = 10;

/// Share of a sentence above which the passage clearly contains it.
pub const CLEAR: f64 = 0.7;

/// A shown passage.
#[derive(Clone, Debug)]
pub struct Passage {
    /// Id of its document.
    pub document: String,
    /// Its text.
    pub text: String,
    /// The words of its text, in lower case.
    pub words: Vec<String>,
}

/// A sentence of an answer.
#[derive(Clone, Debug)]
pub struct Sentence {
    /// The text as the human wrote it, with the white space after it.
    pub text: String,
    /// Index of the passage that the sentence cites, and the share of the sentence that it contains.
    pub supported_by: Option<(usize, f64)>,
}

/// An answer and the passages shown for it.
#[derive(Clone, Debug)]
pub struct ShownAnswer {
    /// Id of the conversation.
    pub conversation: String,
    /// The user's words.
    pub question: String,
    /// The passages, ordered by id, so the order is independent of relevance.
    pub passages: Vec<Passage>,
    /// The sentences of the answer.
    pub sentences: Vec<Sentence>,
}

impl ShownAnswer {
    /// Indexes of the sentences with a citation.
    pub fn citing(&self) -> impl Iterator<Item = usize> + '_ {
        let sentences = self.sentences.iter().enumerate();
        sentences.filter_map(|(place, sentence)| sentence.supported_by.map(|_| place))
    }
}

/// The answers of some domains with relevant passages.
///
/// # Errors
/// Missing or malformed data.
pub fn read(folder: &Folder, domains: &[Domain]) -> Result<Vec<ShownAnswer>> {
    let mut all = Vec::new();
    for &domain in domains {
        let relevant = judgements(folder, domain)?;
        let path = folder.file(&format!("corpus/{}.jsonl.gz", domain.name()));
        let wanted: BTreeSet<&String> = relevant.values().flatten().collect();
        let passages: BTreeMap<String, Passage> = json_lines::<Line>(&path)?
            .into_iter()
            .filter(|line| wanted.contains(&line.id))
            .map(|line| {
                let passage = Passage {
                    document: Address::of(domain, &line.id).document,
                    words: words(&line.text),
                    text: line.text,
                };
                (line.id, passage)
            })
            .collect();
        for conversation in conversations(folder, domain)? {
            all.extend(of_conversation(&conversation, &relevant, &passages));
        }
    }
    Ok(all)
}

fn of_conversation(
    conversation: &Conversation,
    relevant: &BTreeMap<String, BTreeSet<String>>,
    passages: &BTreeMap<String, Passage>,
) -> Vec<ShownAnswer> {
    let none = BTreeSet::new();
    let of_turn = |id: &str| relevant.get(id).unwrap_or(&none);
    let shown = conversation.turns.iter().filter_map(|turn| {
        let own = of_turn(&turn.id);
        // Relevant passages of other turns stand for the other results of a retrieval.
        let others = conversation.turns.iter().flat_map(|turn| of_turn(&turn.id));
        let mut ids = own.clone();
        for id in others {
            if ids.len() < MOST {
                ids.insert(id.clone());
            }
        }
        let (ids, shown): (Vec<String>, Vec<Passage>) = ids
            .into_iter()
            .filter_map(|id| passages.get(&id).map(|passage| (id, passage.clone())))
            .unzip();
        let relevant: Vec<bool> = ids.iter().map(|id| own.contains(id)).collect();
        (!own.is_empty()).then(|| ShownAnswer {
            conversation: conversation.id.clone(),
            question: turn.question.clone(),
            sentences: plain_quotes(&turn.answer)
                .split_sentence_bounds()
                .map(|text| Sentence {
                    text: text.to_owned(),
                    supported_by: supporting_passage(text, &shown, &relevant),
                })
                .collect(),
            passages: shown,
        })
    });
    shown.collect()
}

/// Replaces the quotation marks of tokenised text. Two backquotes would start code in Markdown, and the extension extracts no
/// citations from code.
fn plain_quotes(answer: &str) -> String {
    answer.replace("``", "\"").replace("''", "\"")
}

fn supporting_passage(
    sentence: &str,
    passages: &[Passage],
    relevant: &[bool],
) -> Option<(usize, f64)> {
    let contained = passages.iter().zip(relevant).enumerate();
    let contained = contained.filter_map(|(place, (passage, relevant))| {
        Some((place, overlap(sentence, &passage.words)?, *relevant))
    });
    let best = contained.max_by(|a, b| {
        (a.1, a.2, b.0)
            .partial_cmp(&(b.1, b.2, a.0))
            .unwrap_or(std::cmp::Ordering::Equal)
    })?;
    (best.1 >= MIN_OVERLAP && best.2).then_some((best.0, best.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_cites_what_judgements_and_words_agree_on() {
        let passages: Vec<Passage> = [
            "Cows give fresh milk.",
            "Cows give fresh milk daily.",
            "Pigs fly.",
        ]
        .map(|text| Passage {
            document: String::new(),
            text: text.into(),
            words: words(text),
        })
        .into();
        let place = |sentence, relevant: &[bool]| supporting_passage(sentence, &passages, relevant);
        assert_eq!(
            place("Cows give fresh milk.", &[true, true, true]),
            Some((0, 1.0))
        );
        // Of two equal passages, the relevant one.
        assert_eq!(
            place("Cows give fresh milk.", &[false, true, true]),
            Some((1, 1.0))
        );
        assert_eq!(
            place("Cows give fresh milk daily.", &[true, false, true]),
            None
        );
        assert_eq!(place("Sheep give warm wool.", &[true, true, true]), None);
    }
}
