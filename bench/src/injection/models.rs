//! Answers of models with their cited texts, whose claims humans labelled as attributable or not.

use std::collections::{BTreeMap, BTreeSet};

use super::answers::{Passage, Sentence, ShownAnswer};
use crate::attribution::overlap::{overlap, words};
use crate::data::claims::{Item, Label};

/// The answers, one per question with at least two cited texts, and for each sentence the index of the text that it cites. A claim of several
/// texts, or with several labels, is left out, because no label says which texts support it.
pub fn answers(claims: &[Item]) -> (Vec<ShownAnswer>, Vec<Vec<usize>>) {
    let mut by_question: BTreeMap<(&str, &str), BTreeMap<&str, Vec<&Item>>> = BTreeMap::new();
    for claim in claims {
        let of = by_question.entry((&claim.part, &claim.question));
        of.or_default().entry(&claim.claim).or_default().push(claim);
    }
    let answers = by_question
        .into_iter()
        .filter_map(|((_, question), claims)| {
            let claims = claims.into_values().filter_map(|claims| {
                let [claim] = claims[..] else { return None };
                let [text] = &claim.texts[..] else {
                    return None;
                };
                Some((claim, text.as_str()))
            });
            answer(question, &claims.collect::<Vec<_>>())
        });
    answers.unzip()
}

/// The answer to a question; `None` with fewer than two texts.
fn answer(question: &str, claims: &[(&Item, &str)]) -> Option<(ShownAnswer, Vec<usize>)> {
    let texts: BTreeSet<&str> = claims.iter().map(|(_, text)| *text).collect();
    let texts: Vec<&str> = texts.into_iter().collect();
    if texts.len() < 2 {
        return None;
    }
    let passages: Vec<Passage> = texts.iter().map(|text| passage(text)).collect();
    let cited = claims
        .iter()
        .map(|(_, text)| texts.partition_point(|other| other < text));
    let cited: Vec<usize> = cited.collect();
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
        passages,
    };
    Some((shown, cited))
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
