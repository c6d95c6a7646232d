//! Answers with ten citations each, made of real passages. Every tenth citation cites another source.

use serde_json::{Value, json};

use crate::statistics::random::SplitMix;

/// Citations per answer, and passages per answer.
pub const CITATIONS: usize = 10;

/// Lengths of an answer and its passages.
#[derive(Clone, Copy)]
pub struct Shape {
    /// Name in the report.
    pub name: &'static str,
    /// Words of the answer.
    pub words: usize,
    /// Most characters of a passage.
    pub characters: usize,
}

/// An answer with its passages.
pub struct RecordedAnswer {
    /// The answer.
    pub answer: String,
    /// The passages, in the shape of `check_answer`.
    pub passages: Value,
}

impl RecordedAnswer {
    /// Makes an answer from random passages.
    pub fn random(texts: &[String], shape: Shape, random: &mut SplitMix) -> Self {
        let shown: Vec<&str> = (0..CITATIONS)
            .filter_map(|_| random.choose(texts))
            .map(|text| beginning(text, shape.characters))
            .collect();
        let mut answer = String::new();
        for (place, text) in shown.iter().enumerate() {
            // Words with digits or brackets could be read as citations.
            let plain = |word: &&str| word.chars().all(|c| c.is_alphabetic() || ",'-".contains(c));
            let words: Vec<&str> = text.split_whitespace().filter(plain).collect();
            let each = shape.words / CITATIONS;
            let first = random.below(words.len().saturating_sub(each).max(1));
            let said = words.iter().skip(first).take(each);
            let claim: Vec<&str> = said.copied().collect();
            let astray = random.below(10) == 0;
            let cited = if astray {
                random.below(CITATIONS)
            } else {
                place
            } + 1;
            answer.push_str(&format!("{} [{cited}]. ", claim.join(" ")));
        }
        let passages = shown.iter().map(|text| json!({ "content": text }));
        Self {
            answer,
            passages: passages.collect(),
        }
    }
}

/// The beginning of a text, cut after a word, with at most `characters` characters.
fn beginning(text: &str, characters: usize) -> &str {
    match text.char_indices().nth(characters) {
        None => text,
        Some((end, _)) => {
            let cut = text.get(..end).unwrap_or(text);
            cut.rsplit_once(' ').map_or(cut, |(whole, _)| whole)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_its_length_and_citations() {
        let texts: Vec<String> = (0..20)
            .map(|n| format!("passage {n} says {}", "this and that ".repeat(60)))
            .collect();
        let shape = Shape {
            name: "test",
            words: 300,
            characters: 700,
        };
        let made = RecordedAnswer::random(&texts, shape, &mut SplitMix(7));
        assert_eq!(made.answer.matches('[').count(), CITATIONS);
        let words = made.answer.split_whitespace().count();
        assert_eq!(words, 300 + CITATIONS);
        let passages = made.passages.as_array().expect("an array");
        assert!(passages.iter().all(|passage| {
            let length = passage["content"]
                .as_str()
                .unwrap_or_default()
                .chars()
                .count();
            (650..=700).contains(&length)
        }));
    }

    #[test]
    fn words_are_not_cut() {
        assert_eq!(beginning("one two three", 9), "one two");
        assert_eq!(beginning("one", 9), "one");
    }
}
