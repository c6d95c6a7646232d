//! The words of a language that deny, and its notation of numbers, from rows `(language, kind, cue)`.

use super::cue_rows::SUPPORT_CUES;
use super::languages;
use super::numerals::Numerals;
use super::support_cue::SupportCue;
use crate::support::pieces::is_unspaced;
use crate::text::WordSet;

/// The cues of one language.
///
/// Languages are kept apart, because a word can differ in meaning: `no` denies in English, and means "in the" in
/// Portuguese.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cues {
    language: Option<String>,
    words: WordSet,
    /// For words with an apostrophe: the end of the piece before it, and the piece after it.
    contractions: Vec<(String, String)>,
    strings: Vec<String>,
    harmless: Vec<String>,
    decimal: char,
    numerals: Numerals,
}

impl Cues {
    /// No cues: negation is not detected, and numbers are read in the English notation.
    pub const LANGUAGE_FREE: Self = Self {
        language: None,
        words: WordSet::EMPTY,
        contractions: Vec::new(),
        strings: Vec::new(),
        harmless: Vec::new(),
        decimal: '.',
        numerals: Numerals::NONE,
    };

    /// Returns the built-in cues of a language, by its code (`de`) or the name of its text search configuration
    /// (`german`, `pg_catalog.german`).
    pub fn built_in(language: &str) -> Self {
        let rows = SUPPORT_CUES.iter().flat_map(|(language, kind, cues)| {
            cues.split_whitespace()
                .map(move |cue| (*language, *kind, cue.replace('_', " ")))
        });
        let rows: Vec<_> = rows.collect();
        let rows = rows
            .iter()
            .map(|(of, kind, cue)| (*of, *kind, cue.as_str()));
        Self::of(language, rows)
    }

    /// Returns the code of a language in cue rows, from the code or from the name of its text search configuration.
    pub fn code(language: &str) -> String {
        languages::code(language)
    }

    /// Builds the cues of a language from rows. If the language has no negation row, [`Cues::language`] is `None` and
    /// negation is not detected.
    pub fn of<'a>(
        language: &str,
        rows: impl IntoIterator<Item = (&'a str, SupportCue, &'a str)>,
    ) -> Self {
        let code = Self::code(language);
        let mut cues = Self::LANGUAGE_FREE;
        for (_, kind, cue) in rows.into_iter().filter(|(of, ..)| *of == code.as_str()) {
            cues.add(kind, cue);
        }
        let words = cues.words.as_slice();
        let denies = !(words.is_empty() && cues.strings.is_empty() && cues.contractions.is_empty());
        cues.language = denies.then_some(code);
        cues
    }

    fn add(&mut self, kind: SupportCue, cue: &str) {
        let lower = cue.to_lowercase();
        if let (SupportCue::Number | SupportCue::Scale | SupportCue::Measure, Some((word, _))) =
            (kind, lower.split_once('='))
        {
            let means = cue.split_once('=').map_or("", |(_, means)| means);
            return self.numerals.add(kind, word, means);
        }
        let cue = lower.as_str();
        match kind {
            SupportCue::Number | SupportCue::Scale | SupportCue::Measure => {}
            SupportCue::Decimal => self.decimal = if cue == "," { ',' } else { '.' },
            SupportCue::NoNegation => self.harmless.push(cue.to_owned()),
            SupportCue::Negation => {
                if let Some((before, after)) = cue.split_once('\'') {
                    self.contractions
                        .push((before.to_owned(), after.to_owned()));
                } else if cue.chars().any(is_unspaced) {
                    self.strings.push(cue.to_owned());
                } else if !cue.is_empty() {
                    self.words.insert(cue.to_owned());
                }
            }
        }
    }

    /// The language, if it is known.
    pub fn language(&self) -> Option<&str> {
        self.language.as_deref()
    }

    /// Returns whether a capital within a sentence marks a name. German capitalises all nouns; other languages that are not known may.
    pub(crate) fn capitals_mark_names(&self) -> bool {
        self.language.as_deref().is_some_and(|code| code != "de")
    }

    /// The decimal separator.
    pub(crate) fn decimal(&self) -> char {
        self.decimal
    }

    /// The numerals of the language.
    pub(crate) fn numerals(&self) -> &Numerals {
        &self.numerals
    }

    /// Returns whether a lower-case word denies. `before` is the piece before its apostrophe, if it has one.
    pub(crate) fn denies(&self, before: Option<&str>, word: &str) -> bool {
        self.words.contains(word)
            || before.is_some_and(|before| {
                let mut contractions = self.contractions.iter();
                contractions.any(|(end, after)| word == after && before.ends_with(end.as_str()))
            })
    }

    /// Returns whether a text begins with a phrase that only looks like a denial, in any case.
    pub(crate) fn is_harmless(&self, text: &str) -> bool {
        self.harmless.iter().any(|cue| {
            let mut rest = text.chars().flat_map(char::to_lowercase);
            cue.chars().all(|c| rest.next() == Some(c))
                && !rest.next().is_some_and(char::is_alphanumeric)
        })
    }

    /// Returns the length in bytes of the cue that `text` begins with, in a script without spaces, and whether it
    /// denies; `None` if it begins with no cue.
    pub(crate) fn starts(&self, text: &str) -> Option<(usize, bool)> {
        let longest = |cues: &[String]| {
            let held = cues.iter().filter(|cue| text.starts_with(cue.as_str()));
            held.map(String::len).max()
        };
        match longest(&self.harmless) {
            Some(len) => Some((len, false)),
            None => longest(&self.strings).map(|len| (len, true)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Cues, SupportCue};

    #[test]
    fn languages_by_code_and_configuration() {
        let german = Cues::built_in("pg_catalog.german");
        assert_eq!((german.language(), german.decimal()), (Some("de"), ','));
        assert_eq!(german, Cues::built_in("DE"));
        assert_eq!(german, Cues::built_in("de-AT"));
        assert_eq!(Cues::built_in("my_own"), Cues::LANGUAGE_FREE);
        assert!(german.denies(None, "kein") && !german.denies(None, "not"));
        assert_eq!(Cues::built_in("simple"), Cues::LANGUAGE_FREE);
    }

    #[test]
    fn numbers_are_read_without_negation_cues() {
        let rows = [
            ("eo", SupportCue::Decimal, ","),
            ("eo", SupportCue::Number, "dek=10"),
        ];
        let esperanto = Cues::of("eo", rows);
        assert_eq!((esperanto.language(), esperanto.decimal()), (None, ','));
        assert_eq!(esperanto.numerals().number_at("dek homoj"), Some((3, "10")));
    }

    #[test]
    fn cues_are_words_contractions_or_strings() {
        let english = Cues::built_in("en");
        assert!(english.denies(Some("don"), "t") && !english.denies(Some("it"), "t"));
        let chinese = Cues::built_in("zh");
        assert_eq!(chinese.starts("不是"), Some((3, true)));
        assert_eq!(chinese.starts("不同的"), Some((6, false)));
        assert_eq!(chinese.starts("是"), None);
    }

    #[test]
    fn languages_can_be_added() {
        let rows = [("sv", SupportCue::Negation, "inte")];
        assert!(Cues::of("sv", rows).denies(None, "inte"));
    }
}
