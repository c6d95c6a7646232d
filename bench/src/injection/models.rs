//! Answers of models with their cited texts, whose claims humans labelled as attributable or not.

use std::collections::BTreeMap;

use super::answers::{Passage, Sentence, ShownAnswer};
use crate::attribution::overlap::{overlap, words};
use crate::data::claims::{Item, Label};

/// The answers, one per question with at least two cited texts, and for each sentence the index of the text that it cites. Claims that cite
/// several texts are left out, because their label does not say which one supports them.
pub fn answers(claims: &[Item]) -> Vec<(ShownAnswer, Vec<usize>)> {
    let mut by_question: BTreeMap<(&str, &str), Vec<(&Item, &str)>> = BTreeMap::new();
    for claim in claims {
        if let [text] = &claim.texts[..] {
            let of = by_question.entry((&claim.part, &claim.question));
            of.or_default().push((claim, text));
        }
    }
    let answers = by_question.into_iter().map(|((_, question), claims)| {
        let mut texts: Vec<&str> = claims.iter().map(|(_, text)| *text).collect();
        texts.sort_unstable();
        texts.dedup();
        let passages: Vec<Passage> = texts.iter().map(|text| passage(text)).collect();
        let cited: Vec<usize> = claims
            .iter()
            .map(|(_, text)| texts.partition_point(|other| other < text))
            .collect();
        let sentences = claims.iter().zip(&cited).map(|((claim, _), &cited)| {
            let contained = overlap(&claim.claim, &passages[cited].words).unwrap_or(0.0);
            Sentence {
                text: format!("{} ", closed(&claim.claim)),
                supported_by: matches!(claim.label, Label::Supported).then_some((cited, contained)),
            }
        });
        let shown = ShownAnswer {
            conversation: question.to_owned(),
            question: question.to_owned(),
            sentences: sentences.collect(),
            passages: passages.clone(),
        };
        (shown, cited)
    });
    answers
        .filter(|(shown, _)| shown.passages.len() > 1)
        .collect()
}

fn passage(text: &str) -> Passage {
    Passage {
        document: String::new(),
        text: text.to_owned(),
        words: words(text),
    }
}

/// The claim with a full stop, so that its citation is not read with the next one.
fn closed(claim: &str) -> String {
    let claim = claim.trim();
    match claim.ends_with(['.', '!', '?']) {
        true => claim.to_owned(),
        false => format!("{claim}."),
    }
}
