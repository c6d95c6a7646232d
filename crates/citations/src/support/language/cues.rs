//! What a language says no with, and how it writes numbers: rows `(language, kind, cue)`.

use super::cue_rows::SUPPORT_CUES;
use super::languages;
use super::numerals::Numerals;
use super::support_cue::SupportCue;
use crate::support::pieces::is_unspaced;
use crate::text::WordSet;

/// The cues of one language, ready to be looked for.
///
/// Of one and not of all at once: `no` denies in English and means "in the" in Portuguese.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cues {
    language: Option<String>,
    words: WordSet,
    /// Around an apostrophe: how the piece before it ends, and the piece after it.
    contractions: Vec<(String, String)>,
    strings: Vec<String>,
    harmless: Vec<String>,
    decimal: char,
    numerals: Numerals,
}

impl Cues {
    /// No cues of any language: negation is not looked at, and numbers are read as English writes them.
    pub const LANGUAGE_FREE: Self = Self {
        language: None,
        words: WordSet::EMPTY,
        contractions: Vec::new(),
        strings: Vec::new(),
        harmless: Vec::new(),
        decimal: '.',
        numerals: Numerals::NONE,
    };

    /// The built-in cues of a language, by its code (`de`) or the name of its text search configuration (`german`,
    /// `pg_catalog.german`).
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

    /// The code that rows name a language by, from that code or from the name of its text search configuration.
    pub fn code(language: &str) -> String {
        languages::code(language)
    }

    /// The cues that rows give a language. Where no row negates in it, [`Cues::language`] is none: denials are not looked at.
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

    /// The language, where it is known.
    pub fn language(&self) -> Option<&str> {
        self.language.as_deref()
    }

    /// What separates decimals.
    pub(crate) fn decimal(&self) -> char {
        self.decimal
    }

    /// How it says numbers.
    pub(crate) fn numerals(&self) -> &Numerals {
        &self.numerals
    }

    /// Whether a lower-case word denies, after what stands before its apostrophe, if it has one.
    pub(crate) fn denies(&self, before: Option<&str>, word: &str) -> bool {
        self.words.contains(word)
            || before.is_some_and(|before| {
                let mut contractions = self.contractions.iter();
                contractions.any(|(end, after)| word == after && before.ends_with(end.as_str()))
            })
    }

    /// Whether a text begins with a longer string that only looks like a denial. Letter case is free.
    pub(crate) fn is_harmless(&self, text: &str) -> bool {
        self.harmless.iter().any(|cue| {
            let mut rest = text.chars().flat_map(char::to_lowercase);
            cue.chars().all(|c| rest.next() == Some(c))
                && !rest.next().is_some_and(char::is_alphanumeric)
        })
    }

    /// How many bytes at the start of `text`, in a script without spaces, are one thing to say, and whether it denies;
    /// `None` where no cue starts.
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
    fn numbers_are_read_where_nothing_is_known_of_denials() {
        let rows = [
            ("eo", SupportCue::Decimal, ","),
            ("eo", SupportCue::Number, "dek=10"),
        ];
        let esperanto = Cues::of("eo", rows);
        assert_eq!((esperanto.language(), esperanto.decimal()), (None, ','));
        assert_eq!(esperanto.numerals().number_at("dek homoj"), Some((3, "10")));
    }

    #[test]
    fn cues_of_words_contractions_and_strings() {
        let english = Cues::built_in("en");
        assert!(english.denies(Some("don"), "t") && !english.denies(Some("it"), "t"));
        let chinese = Cues::built_in("zh");
        assert_eq!(chinese.starts("不是"), Some((3, true)));
        assert_eq!(chinese.starts("不同的"), Some((6, false)));
        assert_eq!(chinese.starts("是"), None);
    }

    #[test]
    fn users_add_languages() {
        let rows = [("sv", SupportCue::Negation, "inte")];
        assert!(Cues::of("sv", rows).denies(None, "inte"));
    }
}
