//! Sentences of a passage that can be quoted in an answer.

use std::collections::BTreeSet;

use unicode_segmentation::UnicodeSegmentation as _;

/// Characters that would read as markup, a citation or a link in an answer.
const FORBIDDEN: &[char] = &[
    '[', ']', '(', ')', '{', '}', '<', '>', '|', '#', '*', '\\', '【', '】',
];
const SHORTEST: usize = 30;
const LONGEST: usize = 220;

/// What a line begins with that is no part of the paragraph before it.
const BREAKS: &[char] = &['#', '|', '-', '+', '*', '>', '=', '\u{c}'];

/// The sentences of a passage that can be quoted whole, without line breaks.
pub fn quotable(passage: &str) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    for line in passage.lines().map(str::trim) {
        if line.is_empty() || line.starts_with(BREAKS) || line.starts_with("```") {
            paragraphs.push(String::new());
        }
        if let Some(paragraph) = paragraphs.last_mut() {
            paragraph.push_str(line);
            paragraph.push(' ');
        }
        // A heading has no part in what follows.
        if line.starts_with('#') {
            paragraphs.push(String::new());
        }
    }
    paragraphs
        .iter()
        .flat_map(|paragraph| paragraph.split_sentence_bounds())
        .map(one_line)
        .filter(|sentence| is_quotable(sentence))
        .collect()
}

/// Whether a sentence is prose that stands for itself: begins like one, ends like one, and holds nothing that an answer
/// would give another meaning.
pub fn is_quotable(sentence: &str) -> bool {
    let length = sentence.chars().count();
    let code = sentence.matches('`').count();
    (SHORTEST..=LONGEST).contains(&length)
        && sentence.starts_with(char::is_uppercase)
        && sentence.ends_with('.')
        // Two sentences where the second begins with code or a small letter are read as one.
        && !sentence.contains(". ")
        && !sentence.contains(FORBIDDEN)
        && !sentence.contains("://")
        && code.is_multiple_of(2)
        && words(sentence).len() >= 4
}

/// White space folded.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The words of a text that are likely to say something, for choosing only: verdicts come from the database.
pub fn words(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() > 3)
        // English endings fall off, roughly.
        .map(|word| word.to_lowercase().chars().take(5).collect())
        .collect()
}

/// Share of a sentence's words that a text has, in [0, 1].
pub fn overlap(sentence: &str, text: &str) -> f64 {
    let (sentence, text) = (words(sentence), words(text));
    sentence.intersection(&text).count() as f64 / sentence.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn prose_is_quoted_and_markup_is_not() {
        let passage = "## Heading\n\nThe server listens on one\naddress only. See [the list](x.md) of all the addresses.\n\n```\nSELECT 1;\n```\n";
        assert_eq!(
            quotable(passage),
            ["The server listens on one address only."]
        );
    }

    #[test]
    fn overlap_goes_by_words() {
        assert_eq!(overlap("Servers listen.", "A server that listens"), 1.0);
        assert_eq!(overlap("Servers listen.", "Nothing of the kind"), 0.0);
    }

    proptest! {
        #[test]
        fn a_quotable_sentence_holds_no_markup(passage in "\\PC{0,300}") {
            for sentence in quotable(&passage) {
                prop_assert!(!sentence.contains(FORBIDDEN) && !sentence.contains('\n'));
            }
        }
    }
}
