//! How a language says numbers: its words for them, for what multiplies them and for what they measure.

use std::collections::BTreeMap;

use super::support_cue::SupportCue;
use crate::support::pieces::is_unspaced;
use crate::text::WordSet;

/// Words of one phrase at most: `half a dozen`.
const LONGEST: usize = 3;

/// Characters of one word that are looked at.
const LONGEST_WORD: usize = 24;

/// The words of a language, in lower case, each with what it means.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Numerals {
    /// With the number, or nothing for one that joins two.
    numbers: BTreeMap<String, String>,
    /// Words that one of them begins with.
    first: WordSet,
    scales: BTreeMap<String, u64>,
    measures: BTreeMap<String, String>,
}

/// What multiplies the number before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scale {
    /// Its bytes, and those between the number and it.
    pub len: usize,
    pub factor: u64,
    /// Whether it is a word of its own.
    pub is_word: bool,
    /// Whether it cannot be anything else: one letter can.
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

    /// Adds a word in lower case and what it means; nothing where that is no number and should be one.
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

    /// Whether a number may begin with a word, given in lower case.
    pub fn begin_with(&self, word: &str) -> bool {
        self.first.contains(word)
    }

    /// The number that a text begins with, in bytes and as it is written in digits; of several the longest.
    pub fn number_at(&self, text: &str) -> Option<(usize, &str)> {
        let (len, number) = longest(&self.numbers, text)?;
        (!number.is_empty()).then_some((len, number))
    }

    /// The number that goes on with what came before: after a space or a hyphen, and whether a word joins them.
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

    /// What multiplies the number that a text follows.
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
        // What stands apart is a word, what stands close is not: `5 m`, `5 bn` of no currency, `5million`.
        (letters > 1 || !is_word).then_some(Scale {
            len: text.len() - rest.len() + len,
            factor: *factor,
            is_word,
            is_sure: letters > 1,
        })
    }

    /// What is measured in the words that a text begins with, and their bytes.
    pub fn measure_at(&self, text: &str) -> Option<(usize, &str)> {
        let (len, of) = longest(&self.measures, text)?;
        Some((len, of))
    }
}

/// The longest phrase of a table that a text begins with, and its bytes. Words end where letters do; letter case is free.
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
