//! What a language says no with, and how it writes numbers: rows `(language, kind, cue)`.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What a cue tells about a claim or a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SupportCue {
    /// A word that denies: `not`. With an apostrophe, the end of a word and what follows it: `n't`. In a script without
    /// spaces, any string.
    Negation,
    /// A longer string that begins with a negation and denies nothing: `not only`, 不同 (different).
    NoNegation,
    /// What separates the decimals of a number, `.` or `,`; the other one groups thousands.
    Decimal,
}

/// The built-in rows: language, kind, cues separated by spaces; a space within one is written `_`.
#[rustfmt::skip]
pub const SUPPORT_CUES: &[(&str, SupportCue, &str)] = &[
    ("en", SupportCue::Negation, "not no never none nor neither without cannot nobody nothing nowhere hardly scarcely rarely \
        unable fail fails failed lack lacks lacking n't"),
    ("en", SupportCue::NoNegation, "not_only not_just not_merely no_more_than no_less_than no_fewer_than no_later_than no_doubt none_other_than"),
    ("en", SupportCue::Decimal, "."),
    ("de", SupportCue::Negation, "nicht kein keine keinen keinem keiner keines nie niemals niemand nichts nirgends weder ohne kaum"),
    ("de", SupportCue::NoNegation, "nicht_nur nicht_bloß nicht_mehr_als nicht_weniger_als"),
    ("de", SupportCue::Decimal, ","),
    ("fr", SupportCue::Negation, "pas jamais aucun aucune rien personne sans ni nulle guère"),
    ("fr", SupportCue::NoNegation, "pas_seulement pas_plus_de pas_moins_de"),
    ("fr", SupportCue::Decimal, ","),
    ("es", SupportCue::Negation, "no nunca jamás ningún ninguno ninguna nadie nada ni sin tampoco"),
    ("es", SupportCue::NoNegation, "no_solo no_sólo no_más_de no_menos_de"),
    ("es", SupportCue::Decimal, ","),
    ("it", SupportCue::Negation, "non mai nessun nessuno nessuna niente nulla né senza neanche nemmeno neppure"),
    ("it", SupportCue::Decimal, ","),
    ("pt", SupportCue::Negation, "não nunca jamais nenhum nenhuma ninguém nada nem sem tampouco"),
    ("pt", SupportCue::Decimal, ","),
    ("nl", SupportCue::Negation, "niet geen nooit niemand niets nergens noch zonder nauwelijks"),
    ("nl", SupportCue::Decimal, ","),
    ("ru", SupportCue::Negation, "не нет ни никогда никто ничто ничего нигде без нельзя"),
    ("ru", SupportCue::Decimal, ","),
    ("zh", SupportCue::Negation, "不 没 沒 未 无 無 并非 並非 否认 否認"),
    ("zh", SupportCue::NoNegation, "不同 不仅 不僅 不但 不断 不斷 不过 不過 不管 不论 不論 不少 不久 不禁 差不多 未来 未來 无论 無論"),
    ("zh", SupportCue::Decimal, "."),
    ("ja", SupportCue::Negation, "ない なかっ ません 不 未 無 非"),
    ("ja", SupportCue::NoNegation, "少ない 非常 未来 不思議 かもしれない かもしれません"),
    ("ja", SupportCue::Decimal, "."),
];

/// The names that PostgreSQL gives text search configurations of languages that have built-in rows.
const CONFIGURATIONS: [(&str, &str); 8] = [
    ("english", "en"),
    ("german", "de"),
    ("french", "fr"),
    ("spanish", "es"),
    ("italian", "it"),
    ("portuguese", "pt"),
    ("dutch", "nl"),
    ("russian", "ru"),
];

/// The cues of one language, ready to be looked for.
///
/// Of one and not of all at once: `no` denies in English and means "in the" in Portuguese.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cues {
    language: Option<String>,
    words: BTreeSet<String>,
    /// Around an apostrophe: how the piece before it ends, and the piece after it.
    contractions: Vec<(String, String)>,
    strings: Vec<String>,
    harmless: Vec<String>,
    decimal: char,
}

impl SupportCue {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Negation, Self::NoNegation, Self::Decimal];

    /// The stable text that is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Negation => "negation",
            Self::NoNegation => "no_negation",
            Self::Decimal => "decimal",
        }
    }
}

impl Cues {
    /// No cues of any language: negation is not looked at, and numbers are read as English writes them.
    pub const LANGUAGE_FREE: Self = Self {
        language: None,
        words: BTreeSet::new(),
        contractions: Vec::new(),
        strings: Vec::new(),
        harmless: Vec::new(),
        decimal: '.',
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
        let name = language.trim().to_lowercase();
        let name = name.strip_prefix("pg_catalog.").unwrap_or(&name);
        if let Some((_, code)) = CONFIGURATIONS.iter().find(|(known, _)| *known == name) {
            return (*code).to_owned();
        }
        // `en-US`, `zh_Hant`: the language is what comes first.
        match name.split_once(['-', '_']) {
            Some((language, part)) if language.len() == 2 && (2..=4).contains(&part.len()) => {
                language.to_owned()
            }
            _ => name.to_owned(),
        }
    }

    /// The cues that rows give a language. One that no row negates in is [`Cues::LANGUAGE_FREE`].
    pub fn of<'a>(
        language: &str,
        rows: impl IntoIterator<Item = (&'a str, SupportCue, &'a str)>,
    ) -> Self {
        let code = Self::code(language);
        let mut cues = Self::LANGUAGE_FREE;
        for (_, kind, cue) in rows.into_iter().filter(|(of, ..)| *of == code.as_str()) {
            cues.add(kind, &cue.to_lowercase());
        }
        if cues.words.is_empty() && cues.strings.is_empty() {
            return Self::LANGUAGE_FREE;
        }
        cues.language = Some(code);
        cues
    }

    fn add(&mut self, kind: SupportCue, cue: &str) {
        match kind {
            SupportCue::Decimal => self.decimal = if cue == "," { ',' } else { '.' },
            SupportCue::NoNegation => self.harmless.push(cue.to_owned()),
            SupportCue::Negation => {
                if let Some((before, after)) = cue.split_once('\'') {
                    self.contractions
                        .push((before.to_owned(), after.to_owned()));
                } else if cue.chars().any(super::words::is_unspaced) {
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
