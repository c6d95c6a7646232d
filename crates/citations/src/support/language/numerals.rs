//! Number words of a language: numerals, scales and measures.

use std::collections::BTreeMap;

use super::support_cue::SupportCue;
use crate::support::pieces::is_unspaced;
use crate::text::WordSet;

/// Largest number of words in a phrase: `half a dozen`.
const LONGEST: usize = 3;

/// Largest number of characters of a word.
const LONGEST_WORD: usize = 24;

/// The number words of a language, in lower case, and their meanings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Numerals {
    /// Words and their numbers; an empty text for a word that joins two numbers.
    numbers: BTreeMap<String, String>,
    /// First words of numerals.
    first: WordSet,
    scales: BTreeMap<String, u64>,
    measures: BTreeMap<String, String>,
}

/// A factor of the number before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scale {
    /// Its length in bytes, including the separator from the number.
    pub len: usize,
    pub factor: u64,
    /// Whether it is a separate word.
    pub is_word: bool,
    /// Whether it is unambiguous. A single letter is not.
    pub is_sure: bool,
}

impl Numerals {
    /// No words.
    pub const NONE: Self = Self {
        numbers: BTreeMap::new(),
        first: WordSet::EMPTY,
        scales: BTreeMap::new(),
        measures: BTreeMap::new(),
    };

    /// Adds a word in lower case. A number or scale whose meaning is not a number is ignored.
    pub fn add(&mut self, kind: SupportCue, word: &str, means: &str) {
        let word = word.to_owned();
        match kind {
            SupportCue::Number if means.is_empty() || means.parse::<f64>().is_ok() => {
                if let Some(first) = word.split(' ').next() {
                    self.first.insert(first.to_owned());
                }
                self.numbers.insert(word, means.to_owned());
            }
            SupportCue::Scale => {
                if let Ok(factor) = means.parse() {
                    self.scales.insert(word, factor);
                }
            }
            SupportCue::Measure => {
                self.measures.insert(word, means.to_owned());
            }
            _ => {}
        }
    }

    /// Returns whether a number may begin with a word in lower case.
    pub fn begin_with(&self, word: &str) -> bool {
        self.first.contains(word)
    }

    /// Returns the longest number that a text begins with: its length in bytes and its digits.
    pub fn number_at(&self, text: &str) -> Option<(usize, &str)> {
        let (len, number) = longest(&self.numbers, text)?;
        (!number.is_empty()).then_some((len, number))
    }

    /// Returns the number that continues the previous one after a space or a hyphen: its length in bytes, its digits,
    /// and whether a word joins them.
    pub fn number_after(&self, text: &str) -> Option<(usize, &str, bool)> {
        let rest = text.strip_prefix([' ', '-', '\u{a0}'])?;
        let (len, number) = longest(&self.numbers, rest)?;
        if !number.is_empty() {
            return Some((1 + len, number, false));
        }
        let after = rest[len..].strip_prefix(' ')?;
        let (next, number) = self.number_at(after)?;
        Some((text.len() - after.len() + next, number, true))
    }

    /// Returns the scale that a text after a number begins with.
    pub fn scale_after(&self, text: &str) -> Option<Scale> {
        if text.starts_with(is_unspaced) {
            let held = self
                .scales
                .iter()
                .filter(|(word, _)| text.starts_with(*word));
            let (word, factor) = held.max_by_key(|(word, _)| word.len())?;
            return Some(Scale {
                len: word.len(),
                factor: *factor,
                is_word: false,
                is_sure: true,
            });
        }
        let rest = text
            .strip_prefix([' ', '-', '\u{a0}', '\u{202f}'])
            .unwrap_or(text);
        let (len, factor) = longest(&self.scales, rest)?;
        let letters = rest[..len].chars().count();
        let is_word = rest.len() < text.len();
        // A scale after a space has several letters, a scale directly after the digits may have one: `5 m` is no
        // scale, `5m` may be.
        (letters > 1 || !is_word).then_some(Scale {
            len: text.len() - rest.len() + len,
            factor: *factor,
            is_word,
            is_sure: letters > 1,
        })
    }

    /// Returns the measure that a text begins with: its length in bytes and its sign.
    pub fn measure_at(&self, text: &str) -> Option<(usize, &str)> {
        let (len, of) = longest(&self.measures, text)?;
        Some((len, of))
    }
}

/// Returns the longest phrase of a table that a text begins with, and its length in bytes. A word ends where its
/// letters end. Case is ignored.
fn longest<'t, T>(table: &'t BTreeMap<String, T>, text: &str) -> Option<(usize, &'t T)> {
    if table.is_empty() {
        return None;
    }
    let mut phrase = String::new();
    let mut best = None;
    let mut len = 0;
    for _ in 0..LONGEST {
        let word = text[len..].chars().take_while(|c| c.is_alphabetic());
        let word: String = word.take(LONGEST_WORD).collect();
        if word.is_empty() {
            break;
        }
        len += word.len();
        let rest = &text[len..];
        if rest.starts_with(char::is_alphanumeric) {
            break;
        }
        phrase.extend(word.chars().flat_map(char::to_lowercase));
        best = table.get(&phrase).map(|means| (len, means)).or(best);
        if !rest.starts_with([' ', '-', '\u{a0}']) {
            break;
        }
        phrase.push(' ');
        len += rest.chars().next().map_or(0, char::len_utf8);
    }
    best
}
