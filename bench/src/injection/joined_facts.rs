//! Sentences of several facts, each with its own citation: `Paris is … [A1], and Berlin is … [B1].`

use super::answers::ShownAnswer;
use super::case::{MarkerStyle, TestCase, passages};
use crate::attribution::marking::MIN_OVERLAP;
use crate::attribution::overlap::overlap;

/// Most facts per sentence.
const MOST: usize = 3;

/// Joins sentences of each answer that cite different passages, if no passage contains the sentence of another one. Returns the
/// joined sentences, and the same with exchanged markers.
pub fn cases(all: &[ShownAnswer]) -> (Vec<TestCase>, Vec<TestCase>) {
    let joined = |shown: &ShownAnswer| {
        let facts = facts(shown);
        let exchanged = facts
            .iter()
            .zip(facts.iter().cycle().skip(1))
            .map(|((said, _), (_, other))| (*said, *other))
            .collect::<Vec<_>>();
        (facts.len() > 1).then(|| (case(shown, &facts), case(shown, &exchanged)))
    };
    all.iter().filter_map(joined).unzip()
}

/// A sentence and the index of its passage.
type Fact<'a> = (&'a str, usize);

fn facts(shown: &ShownAnswer) -> Vec<Fact<'_>> {
    let mut facts: Vec<Fact<'_>> = Vec::new();
    let holds = |passage: usize, said: &str| {
        overlap(said, &shown.passages[passage].words)
            .is_some_and(|contained| contained >= MIN_OVERLAP)
    };
    for sentence in &shown.sentences {
        let Some((passage, _)) = sentence.supported_by else {
            continue;
        };
        let said = sentence.text.trim().trim_end_matches(['.', '!', '?']);
        let apart = facts
            .iter()
            .all(|(other, of)| !holds(passage, other) && !holds(*of, said));
        if apart && facts.len() < MOST {
            facts.push((said, passage));
        }
    }
    facts
}

fn case(shown: &ShownAnswer, facts: &[Fact<'_>]) -> TestCase {
    let mut answer = String::new();
    let mut citations = Vec::new();
    for (said, passage) in facts {
        if answer.is_empty() {
            answer.push_str(said);
        } else {
            answer.push_str(", and ");
            answer.push_str(&continued(said, shown));
        }
        answer.push(' ');
        citations.push(answer.len());
        answer.push_str(&format!("[{}]", MarkerStyle::Letters.marker(*passage)));
    }
    answer.push('.');
    TestCase {
        answer,
        passages: passages(shown, MarkerStyle::Letters),
        corpus: None,
        citations,
    }
}

/// A sentence as the continuation of another one: the first word loses its capital if a passage writes it without.
fn continued(said: &str, shown: &ShownAnswer) -> String {
    let first = said
        .split(|c: char| !c.is_alphabetic())
        .next()
        .unwrap_or_default();
    let lower = first.to_lowercase();
    let mut passages = shown.passages.iter();
    let is_common = passages.any(|passage| {
        let mut words = passage.text.split(|c: char| !c.is_alphabetic());
        words.any(|word| word == lower)
    });
    match is_common {
        true => lower + &said[first.len()..],
        false => said.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribution::overlap::words;
    use crate::injection::answers::{Passage, Sentence};

    #[test]
    fn facts_of_different_passages_are_joined() {
        let passages = ["Cows give fresh milk.", "Pigs eat sweet acorns."];
        let sentence = |place: usize| Sentence {
            text: format!("{} ", passages[place]),
            supported_by: Some((place, 1.0)),
        };
        let shown = ShownAnswer {
            conversation: String::new(),
            question: String::new(),
            sentences: vec![sentence(0), sentence(0), sentence(1)],
            passages: passages
                .map(|text| Passage {
                    document: String::new(),
                    text: text.into(),
                    words: words(text),
                })
                .into(),
        };
        let (truly, exchanged) = cases(&[shown]);
        let answer = "Cows give fresh milk [A1], and Pigs eat sweet acorns [B1].";
        assert_eq!(truly[0].answer, answer);
        assert_eq!(truly[0].citations, [21, 53]);
        assert_eq!(exchanged[0].citations, truly[0].citations);
        assert_eq!(
            exchanged[0].answer,
            "Cows give fresh milk [B1], and Pigs eat sweet acorns [A1]."
        );
    }
}
