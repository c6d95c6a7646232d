//! The sampled cases: claims, each with a passage and a human label.

use std::collections::{BTreeMap, BTreeSet};

use crate::data::claims::{Item, Label};
use crate::statistics::random::SplitMix;

/// The citation of the only passage.
pub const CITATION: &str = "[1]";

/// A claim, its passage and its label.
#[derive(Clone, Debug)]
pub struct Case {
    /// The question of the answer.
    pub question: String,
    /// The claim, on one line.
    pub claim: String,
    /// The cited texts, joined.
    pub passage: String,
    /// The human label.
    pub label: Label,
}

/// A set in two parts without a common question.
#[derive(Clone, Debug, Default)]
pub struct Split {
    /// The cases that are judged.
    pub sample: Vec<Case>,
    /// The cases of the other questions.
    pub rest: Vec<Case>,
}

/// Draws questions at random until they have `count` cases. The last question may have more; these are in no part.
pub fn split(items: &[Item], count: usize, seed: u64) -> Split {
    let questions: BTreeSet<&str> = items.iter().map(|item| item.question.as_str()).collect();
    let mut questions: Vec<&str> = questions.into_iter().collect();
    SplitMix(seed).shuffle(&mut questions);
    let mut of_question: BTreeMap<&str, Vec<Case>> = BTreeMap::new();
    for item in items {
        let cases = of_question.entry(&item.question).or_default();
        cases.push(Case::of(item));
    }
    let mut split = Split::default();
    for question in questions {
        let cases = of_question.remove(question).unwrap_or_default();
        match count - split.sample.len() {
            0 => split.rest.extend(cases),
            missing => split.sample.extend(cases.into_iter().take(missing)),
        }
    }
    split
}

impl Case {
    fn of(item: &Item) -> Self {
        Self {
            question: item.question.clone(),
            claim: on_one_line(&item.claim),
            passage: item.texts.join("\n\n"),
            label: item.label,
        }
    }

    /// The claim with its citation before the last punctuation mark.
    pub fn answer(&self) -> String {
        let words = self
            .claim
            .trim_end_matches(['.', '!', '?', '。', '！', '？', ' ']);
        let end = self.claim.get(words.len()..).unwrap_or_default();
        format!("{words} {CITATION}{end}")
    }

    /// The label in the words of `label_citation`.
    pub fn label_of_citation(&self) -> &'static str {
        match self.label {
            Label::Supported => "accurate",
            Label::Partial => "partial",
            Label::Unsupported => "hallucinated",
        }
    }
}

/// The text with single spaces.
fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{Case, split};
    use crate::data::claims::{Item, Label};

    fn item(number: usize) -> Item {
        Item {
            claim: format!("Claim {number} ."),
            texts: vec!["One.".into(), "Two.".into()],
            label: Label::Supported,
            question: format!("question {}", number / 3),
            part: String::new(),
        }
    }

    #[test]
    fn no_question_is_in_both_parts() {
        let items: Vec<Item> = (0..90).map(item).collect();
        let parts = split(&items, 40, 1);
        assert_eq!(parts.sample.len(), 40);
        // Fourteen questions are drawn; two cases of the last one are in no part.
        assert_eq!(parts.rest.len(), 48);
        let common = parts
            .rest
            .iter()
            .filter(|case| parts.sample.iter().any(|it| it.question == case.question));
        assert_eq!(common.count(), 0);
        let again = split(&items, 40, 2);
        assert_ne!(again.sample[0].question, parts.sample[0].question);
    }

    #[test]
    fn the_citation_is_before_the_last_punctuation_mark() {
        let case = Case::of(&item(7));
        assert_eq!(case.answer(), "Claim 7 [1] .");
        assert_eq!(case.passage, "One.\n\nTwo.");
        let chinese = Case {
            claim: "泡沫是白色的。".into(),
            ..case
        };
        assert_eq!(chinese.answer(), "泡沫是白色的 [1]。");
    }
}
