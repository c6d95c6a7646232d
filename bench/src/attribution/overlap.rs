//! How much of a sentence's content a passage holds, by a measure of our own: it must not be the extension's, whose
//! verdicts are read from answers that were marked by it.
//!
//! Words are compared as they stand, in lower case and without stemming. They must stand close together: in the best
//! stretch of one and a half times the sentence's length. On human-labelled attributions (AttributionBench) that
//! tells supported claims better than their coverage by the whole passage does.

use std::collections::{BTreeMap, BTreeSet};

use unicode_segmentation::UnicodeSegmentation;

/// Content words that a sentence needs before anything is said of it.
const LEAST_WORDS: usize = 3;

/// English words that carry no content.
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

/// Share of a sentence's different content words that stand in the best stretch of a passage (given as its
/// [`words`]), in [0, 1]; `None` for a sentence of fewer than three.
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

    /// The definition, stretch by stretch.
    fn by_definition(sentence: &str, passage: &[String]) -> Option<f64> {
        let all = words(sentence);
        let content: BTreeSet<&String> = all
            .iter()
            .filter(|word| !STOP_WORDS.contains(&word.as_str()))
            .collect();
        let stretch = (all.len() * 3).div_ceil(2).min(passage.len()).max(1);
        let held = passage
            .windows(stretch)
            .map(|window| content.iter().filter(|word| window.contains(word)).count())
            .max();
        (content.len() >= LEAST_WORDS).then(|| held.unwrap_or(0) as f64 / content.len() as f64)
    }

    #[test]
    fn content_words_must_stand_together() {
        let sentence = "The warranty lasts ten years.";
        let together = words("It says that the Warranty LASTS for ten years or more.");
        assert_eq!(overlap(sentence, &together), Some(1.0));
        let far = words(&format!("warranty ten {} years lasts", "x ".repeat(20)));
        assert_eq!(overlap(sentence, &far), Some(0.5));
        assert_eq!(overlap(sentence, &[]), Some(0.0));
    }

    #[test]
    fn a_sentence_without_content_is_not_judged() {
        assert_eq!(overlap("Yes, it is.", &words("Yes, it is.")), None);
    }

    #[test]
    fn a_stop_word_is_listed_once() {
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
