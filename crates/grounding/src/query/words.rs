//! Splits text into lower-cased words (UAX #29), and makes language-independent keys of content words.

use std::collections::{BTreeSet, HashMap};

use reground_interrupt::{CHECK_INTERVAL, check_interrupt};
use unicode_segmentation::UnicodeSegmentation;

use crate::query::cues::{Cues, Kind};

/// Characters that make the key of a word, in place of a stemmer: enough to distinguish words, and few enough that
/// endings (plural, adjective, tense) do not matter.
const STEM: usize = 5;

/// The lower-cased words of a text with their byte offsets, in text order.
#[must_use]
pub fn words(text: &str) -> Vec<(usize, String)> {
    let mut words = Vec::new();
    each_word(text, |at, word| words.push((at, word.to_owned())));
    words
}

/// The number of [`words`] of a text.
#[must_use]
pub fn count(text: &str) -> usize {
    let mut count = 0;
    each_original_word(text, |_, _| count += 1);
    count
}

/// Calls `visit` with each of the [`words`] of a text.
fn each_word(text: &str, mut visit: impl FnMut(usize, &str)) {
    let mut lower = String::new();
    each_original_word(text, |at, word| {
        lower.clear();
        if word.is_ascii() {
            lower.push_str(word);
            lower.make_ascii_lowercase();
        } else {
            lower.push_str(&word.to_lowercase());
        }
        visit(at, &lower);
    });
}

fn each_original_word(text: &str, mut visit: impl FnMut(usize, &str)) {
    for (from, piece) in pieces(text) {
        // A word is one step of the iterator, and so is a piece without words, which takes a tenth of a second for 10
        // MB.
        check_interrupt(piece.len().min(CHECK_INTERVAL));
        let mut done = 0;
        for (at, word) in piece.unicode_word_indices() {
            let end = at + word.len();
            check_interrupt((end - done).min(CHECK_INTERVAL));
            done = end;
            visit(from + at, word);
        }
    }
}

/// Splits a text into pieces with their offsets, after a letter or digit that is followed by a space: no rule of UAX
/// #29 joins words across that point. Segmentation is many times faster for ASCII pieces, and most pieces of a text
/// with a few other characters are ASCII.
fn pieces(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let cut = |pair: &[u8]| matches!(pair, [before, b' '] if before.is_ascii_alphanumeric());
    let mut from = 0;
    std::iter::from_fn(move || {
        let rest = text.get(from..).filter(|rest| !rest.is_empty())?;
        let bytes = rest.as_bytes();
        let end = bytes.iter().position(|byte| !byte.is_ascii()).map(|other| {
            let (ascii, mixed) = bytes.split_at(other);
            let before = ascii.windows(2).rposition(cut);
            before.or_else(|| Some(other + mixed.windows(2).position(cut)?))
        });
        let piece = &rest[..end.flatten().map_or(rest.len(), |at| at + 1)];
        from += piece.len();
        Some((from - piece.len(), piece))
    })
}

/// Whether the script is written without spaces, so that each character is one "word".
#[must_use]
pub fn unspaced(c: char) -> bool {
    matches!(c,
        '\u{0E00}'..='\u{0EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' | '\u{3040}'..='\u{30FF}'
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

/// Keys of the content words of a text, to count the words that two texts share.
///
/// A key is the first five characters of a word that is not a stop word and has at least three characters or a digit.
/// Scripts written without spaces give pairs of adjacent characters instead.
#[must_use]
pub fn content_keys(text: &str, cues: &Cues) -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    each_key(text, |_, key, word| {
        if !keys.contains(key) && word.is_none_or(|word| content_word(word, cues)) {
            keys.insert(key.to_owned());
        }
    });
    keys
}

/// Those of `keys` that are among the [`content_keys`] of a text. Words of the text that are not among `keys` cost only
/// the look-up.
#[must_use]
pub fn held_keys<'a>(keys: &'a BTreeSet<String>, text: &str, cues: &Cues) -> BTreeSet<&'a String> {
    let mut held = BTreeSet::new();
    if keys.is_empty() {
        return held;
    }
    each_key(text, |_, key, word| {
        if let Some(key) = keys.get(key)
            && !held.contains(key)
            && word.is_none_or(|word| content_word(word, cues))
        {
            held.insert(key);
        }
    });
    held
}

/// Calls `visit` with the byte offset and the number (from 0) of each occurrence of one of the `keys` in a text, in text
/// order. Stop words do not count.
pub fn each_occurrence<'a>(
    keys: impl Iterator<Item = &'a str>,
    text: &str,
    cues: &Cues,
    mut visit: impl FnMut(usize, usize),
) {
    let numbers: HashMap<&str, usize> = keys.zip(0..).collect();
    each_key(text, |at, key, word| {
        if let Some(number) = numbers.get(key)
            && word.is_none_or(|word| content_word(word, cues))
        {
            visit(at, *number);
        }
    });
}

/// The key of a lower-cased word: its beginning.
#[must_use]
pub fn key_of(word: &str) -> &str {
    let end = word.char_indices().nth(STEM);
    end.map_or(word, |(end, _)| word.get(..end).unwrap_or_default())
}

/// Calls `visit` with the byte offset, the key and the text of each word, including stop words. For scripts without
/// spaces it is called with each pair of characters and no word; the offset is that of the second character.
fn each_key(text: &str, mut visit: impl FnMut(usize, &str, Option<&str>)) {
    let mut previous: Option<(usize, char)> = None;
    let mut pair = String::new();
    each_word(text, |at, word| {
        if !word.starts_with(unspaced) {
            previous = None;
            visit(at, key_of(word), Some(word));
            return;
        }
        for (offset, c) in word.char_indices() {
            if let Some((end, before)) = previous
                && end == at + offset
            {
                pair.clear();
                pair.extend([before, c]);
                visit(at + offset, &pair, None);
            }
            previous = Some((at + offset + c.len_utf8(), c));
        }
    });
}

/// Whether a lower-cased word carries content of its own.
#[must_use]
pub fn content_word(word: &str, cues: &Cues) -> bool {
    let long = word.chars().nth(2).is_some() || word.chars().any(|c| c.is_numeric());
    (long || word.chars().any(unspaced)) && !cues.is(word, Kind::Stop)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn endings_and_stop_words_are_ignored() {
        let cues = Cues::built_in();
        assert_eq!(
            content_keys("the vaccines", cues),
            content_keys("A Vaccine?", cues)
        );
        assert!(content_keys("what is it of the", cues).is_empty());
    }

    proptest! {
        #[test]
        fn held_keys_are_the_intersection(
            query in "(the |there |therefore |Vaccines? |密码重置|é2 |a){0,6}",
            text in "(THE |there |thereof |vaccine's |密码|重置|É2, |İstanbul ){0,9}",
        ) {
            let cues = Cues::built_in();
            let keys = content_keys(&query, cues);
            let of_text = content_keys(&text, cues);
            let both: BTreeSet<&String> = keys.intersection(&of_text).collect();
            prop_assert_eq!(held_keys(&keys, &text, cues), both);
        }

        #[test]
        fn words_are_lower_case_with_their_offsets(
            // With marks, joiners, flags and Hebrew quotation marks, for which the rules look behind or ahead.
            text in "[A-Ca-c0-9   İΣσßé.'\"密ア,_\n\u{0301}\u{0345}\u{200d}\u{1f1e9}\u{1f468}א\u{00a0}]{0,40}",
        ) {
            let expected: Vec<(usize, String)> =
                text.unicode_word_indices().map(|(at, word)| (at, word.to_lowercase())).collect();
            prop_assert_eq!(count(&text), expected.len());
            prop_assert_eq!(words(&text), expected);
        }
    }

    #[test]
    fn scripts_without_spaces_give_pairs() {
        let cues = Cues::built_in();
        let keys = content_keys("密码重置", cues);
        assert_eq!(
            keys,
            BTreeSet::from(["密码", "码重", "重置"].map(String::from))
        );
    }
}
