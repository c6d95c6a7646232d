//! Selection of sentences in passages that an answer can quote.

use std::collections::BTreeSet;

use unicode_segmentation::UnicodeSegmentation as _;

/// Characters that would be markup, a citation or a link in an answer.
const FORBIDDEN: &[char] = &[
    '[', ']', '(', ')', '{', '}', '<', '>', '|', '#', '*', '\\', '【', '】',
];
/// Minimum and maximum length of a quoted sentence, in characters.
const MIN_LENGTH: usize = 30;
const MAX_LENGTH: usize = 220;

/// Characters at the start of a line that separate it from the previous paragraph.
const BREAKS: &[char] = &['#', '|', '-', '+', '*', '>', '=', '\u{c}'];

/// Returns the sentences of a passage that can be quoted, without line breaks.
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
        // A heading is not part of the next paragraph.
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

/// Returns whether a sentence is complete prose: it begins and ends like a sentence, and contains nothing that has another meaning
/// in an answer.
pub fn is_quotable(sentence: &str) -> bool {
    let length = sentence.chars().count();
    let code = sentence.matches('`').count();
    (MIN_LENGTH..=MAX_LENGTH).contains(&length)
        && sentence.starts_with(char::is_uppercase)
        && sentence.ends_with('.')
        // Without this, two sentences of which the second begins with code or a lower-case letter would count as one.
        && !sentence.contains(". ")
        && !sentence.contains(FORBIDDEN)
        && !sentence.contains("://")
        && code.is_multiple_of(2)
        && words(sentence).len() >= 4
}

/// Returns the text with collapsed white space.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the first five letters of the longer words. They are used to choose sentences only; verdicts come from the database.
pub fn words(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() > 3)
        // Cutting words removes most English endings.
        .map(|word| word.to_lowercase().chars().take(5).collect())
        .collect()
}

/// Returns the share of a sentence's words that a text contains, in [0, 1].
pub fn overlap(sentence: &str, text: &str) -> f64 {
    let (sentence, text) = (words(sentence), words(text));
    sentence.intersection(&text).count() as f64 / sentence.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn prose_is_quotable_and_markup_is_not() {
        let passage = "## Heading\n\nThe server listens on one\naddress only. See [the list](x.md) of all the addresses.\n\n```\nSELECT 1;\n```\n";
        assert_eq!(
            quotable(passage),
            ["The server listens on one address only."]
        );
    }

    #[test]
    fn overlap_counts_words() {
        assert_eq!(overlap("Servers listen.", "A server that listens"), 1.0);
        assert_eq!(overlap("Servers listen.", "Nothing of the kind"), 0.0);
    }

    proptest! {
        #[test]
        fn quotable_sentences_contain_no_markup(passage in "\\PC{0,300}") {
            for sentence in quotable(&passage) {
                prop_assert!(!sentence.contains(FORBIDDEN) && !sentence.contains('\n'));
            }
        }
    }
}
