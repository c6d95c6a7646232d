//! Overlap of a sentence with a passage. The measure is independent of the extension, because it places the markers that the
//! extension then judges.
//!
//! It compares words in lower case, without stemming, within the best window of the passage. The window has 1.5 times the length of
//! the sentence. On human-labelled attributions (AttributionBench), this separates supported claims better than coverage by the
//! whole passage.

use std::collections::{BTreeMap, BTreeSet};

use unicode_segmentation::UnicodeSegmentation;

/// Least number of content words of a sentence that is measured.
const LEAST_WORDS: usize = 3;

/// English stop words.
#[rustfmt::skip]
const STOP_WORDS: [&str; 60] = [
    "a", "about", "also", "an", "and", "are", "as", "at", "be", "been", "but", "by", "can", "do", "does", "for", "from",
    "had", "has", "have", "he", "her", "his", "how", "if", "in", "into", "is", "it", "its", "may", "not", "of", "on", "or",
    "she", "so", "some", "such", "than", "that", "the", "their", "there", "these", "they", "this", "to", "was", "were",
    "what", "when", "which", "who", "will", "with", "would", "you", "your", "we",
];

/// The words of a text in order, in lower case.
pub fn words(text: &str) -> Vec<String> {
    text.unicode_words().map(str::to_lowercase).collect()
}

/// Share of a sentence's distinct content words in the best window of a passage (given as its [`words`]), in [0, 1]; `None` for a
/// sentence with fewer than three content words.
pub fn overlap(sentence: &str, passage: &[String]) -> Option<f64> {
    let sentence = words(sentence);
    let content: BTreeSet<&str> = sentence
        .iter()
        .map(String::as_str)
        .filter(|word| !STOP_WORDS.contains(word))
        .collect();
    if content.len() < LEAST_WORDS {
        return None;
    }
    let stretch = (sentence.len() * 3).div_ceil(2);
    let mut inside: BTreeMap<&str, usize> = BTreeMap::new();
    let mut best = 0;
    for (place, word) in passage.iter().enumerate() {
        if content.contains(word.as_str()) {
            *inside.entry(word).or_default() += 1;
        }
        let left = place
            .checked_sub(stretch)
            .and_then(|left| passage.get(left));
        if let Some(count) = left.and_then(|left| inside.get_mut(left.as_str())) {
            *count -= 1;
        }
        best = best.max(inside.values().filter(|count| **count > 0).count());
    }
    Some(best as f64 / content.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same by its definition, window by window.
    fn by_definition(sentence: &str, passage: &[String]) -> Option<f64> {
        let all = words(sentence);
        let content: BTreeSet<&String> = all
            .iter()
            .filter(|word| !STOP_WORDS.contains(&word.as_str()))
            .collect();
        let stretch = (all.len() * 3).div_ceil(2).min(passage.len()).max(1);
        let contained = passage
            .windows(stretch)
            .map(|window| content.iter().filter(|word| window.contains(word)).count())
            .max();
        (content.len() >= LEAST_WORDS).then(|| contained.unwrap_or(0) as f64 / content.len() as f64)
    }

    #[test]
    fn content_words_must_be_close_together() {
        let sentence = "The warranty lasts ten years.";
        let together = words("It says that the Warranty LASTS for ten years or more.");
        assert_eq!(overlap(sentence, &together), Some(1.0));
        let far = words(&format!("warranty ten {} years lasts", "x ".repeat(20)));
        assert_eq!(overlap(sentence, &far), Some(0.5));
        assert_eq!(overlap(sentence, &[]), Some(0.0));
    }

    #[test]
    fn a_sentence_without_content_is_not_measured() {
        assert_eq!(overlap("Yes, it is.", &words("Yes, it is.")), None);
    }

    #[test]
    fn stop_words_are_distinct() {
        assert_eq!(BTreeSet::from(STOP_WORDS).len(), STOP_WORDS.len());
    }

    proptest! {
        #[test]
        fn the_sliding_stretch_agrees_with_its_definition(
            sentence in "([a-h]{1,2} ){0,8}", passage in "([a-h]{1,2} ){0,40}",
        ) {
            let passage = words(&passage);
            prop_assert_eq!(overlap(&sentence, &passage), by_definition(&sentence, &passage));
        }
    }
}
