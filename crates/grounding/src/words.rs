//! Words as the deterministic stages see them: lower-cased UAX #29 words, and language-free keys of content words.

use std::collections::BTreeSet;

use reground_pulse::{STRETCH, along, beat};
use unicode_segmentation::UnicodeSegmentation;

use crate::cues::{Cues, Kind};

/// Characters of a word that decide whether two words are "the same" without a stemmer: long enough to tell words
/// apart, short enough that endings (plural, adjective, tense) do not matter.
const STEM: usize = 5;

/// The lower-cased words of a text with their byte offsets, in text order.
#[must_use]
pub fn words(text: &str) -> Vec<(usize, String)> {
    // A word is one step of the iterator, and so is a text without any: 10 MB take it a tenth of a second.
    beat(text.len().min(STRETCH));
    text.unicode_word_indices()
        .map(|(at, word)| {
            beat(word.len().min(STRETCH));
            (at, word.to_lowercase())
        })
        .collect()
}

/// Whether the script writes without spaces, so that one "word" is one character.
#[must_use]
pub fn unspaced(c: char) -> bool {
    matches!(c,
        '\u{0E00}'..='\u{0EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' | '\u{3040}'..='\u{30FF}'
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

/// Keys of the content words of a text, for counting what two texts have in common.
///
/// A key is the first five characters of a word that is no stop word and has three characters or a digit; scripts
/// written without spaces give pairs of neighbouring characters instead.
#[must_use]
pub fn content_keys(text: &str, cues: &Cues) -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    let mut previous: Option<(usize, char)> = None;
    for (at, word) in along(words(text)) {
        let mut chars = word.chars();
        let first = chars.next();
        match first {
            Some(c) if unspaced(c) => {
                for (offset, c) in word.char_indices() {
                    if let Some((end, before)) = previous
                        && end == at + offset
                    {
                        keys.insert(format!("{before}{c}"));
                    }
                    previous = Some((at + offset + c.len_utf8(), c));
                }
            }
            _ => {
                previous = None;
                if content_word(&word, cues) {
                    keys.insert(word.chars().take(STEM).collect());
                }
            }
        }
    }
    keys
}

/// Whether a lower-cased word carries content of its own.
#[must_use]
pub fn content_word(word: &str, cues: &Cues) -> bool {
    let long = word.chars().nth(2).is_some() || word.chars().any(|c| c.is_numeric());
    (long || word.chars().any(unspaced)) && !cues.is(word, Kind::Stop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_and_stop_words_do_not_count() {
        let cues = Cues::built_in();
        assert_eq!(
            content_keys("the vaccines", cues),
            content_keys("A Vaccine?", cues)
        );
        assert!(content_keys("what is it of the", cues).is_empty());
    }

    #[test]
    fn unspaced_scripts_give_pairs() {
        let cues = Cues::built_in();
        let keys = content_keys("密码重置", cues);
        assert_eq!(
            keys,
            BTreeSet::from(["密码", "码重", "重置"].map(String::from))
        );
    }
}
