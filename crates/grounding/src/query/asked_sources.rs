//! The sources that a question names: by marker ("What was in A1 again?"), by number, or by place ("the second source").
//!
//! A name counts only if the conversation has bound it, which the caller checks. So "A4" as a paper size is no marker of a
//! conversation that has none of this name.

use crate::begin::assign_markers::bind;
use crate::memory::{BoundMarker, ContextSource, RememberedSource};
use crate::query::cues::{Cues, Kind};
use crate::query::words::words;

/// Maximum number of names that are read from a question.
const MAX_NAMES: usize = 8;
/// Maximum letters and digits of a marker.
const MARKER_LETTERS: usize = 3;
const MARKER_DIGITS: usize = 4;
/// Words for a source, in English and German.
const NOUNS: &[&str] = &[
    "source",
    "reference",
    "citation",
    "quelle",
    "quellenangabe",
    "zitat",
];
/// Words between such a word and its number.
const NUMBER_WORDS: &[&str] = &["number", "no", "nr", "nummer"];
/// Words after "the second source" that make it something else: "the second source of income".
const OWNERS: &[&str] = &["of", "for", "von", "des", "für"];
/// Ordinal numbers from 1.
const ENGLISH: &[&str] = &[
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
];
const ENGLISH_SHORT: &[&str] = &[
    "1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th", "9th", "10th",
];
/// Stems of German ordinal numbers; the endings are those of adjectives.
const GERMAN: &[&str] = &[
    "erst", "zweit", "dritt", "viert", "fünft", "sechst", "siebt", "acht", "neunt", "zehnt",
];
const GERMAN_ENDINGS: &[&str] = &["e", "en", "er", "em"];

/// A source that a question names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AskedSource {
    /// By its marker.
    Marker(String),
    /// By a number after a word for a source: the numbered marker, else the place.
    Number(usize),
    /// By its place among the sources of the previous turn, from 1.
    Place(usize),
    /// The last source of the previous turn.
    Last,
}

/// A name of a source in a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The name.
    pub source: AskedSource,
    /// Whether the name can be nothing else. A bare marker beside a content word can: "vitamin A1", "an A1 form". Such a
    /// source is shown, but the question is judged by its words.
    pub is_certain: bool,
}

/// The sources that a question names, each once, in order of mention; at most eight.
#[must_use]
pub fn asked_sources(query: &str) -> Vec<Asked> {
    let words = words(query);
    let brackets = brackets(query);
    let mut asked: Vec<Asked> = Vec::new();
    for (at, (start, word)) in words.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| words.get(at));
        let is_noun = |found: Option<&(usize, String)>| {
            found.is_some_and(|(_, word)| NOUNS.contains(&word.as_str()))
        };
        let introduced = is_noun(before)
            || before.is_some_and(|(_, word)| NUMBER_WORDS.contains(&word.as_str()))
                && is_noun(at.checked_sub(2).and_then(|at| words.get(at)));
        let bracketed = brackets
            .iter()
            .any(|(from, to)| (*from..*to).contains(start));
        let followed = || {
            is_noun(words.get(at + 1))
                && words
                    .get(at + 2)
                    .is_none_or(|(_, word)| !OWNERS.contains(&word.as_str()))
        };
        let written = query.get(*start..start + word.len()).unwrap_or_default();
        let found =
            named(written, bracketed, introduced).or_else(|| place(word).filter(|_| followed()));
        let Some(source) = found else {
            continue;
        };
        let is_certain = bracketed
            || introduced
            || !matches!(source, AskedSource::Marker(_))
            || !beside_content(query, &words, at);
        let known = asked.iter_mut().find(|other| other.source == source);
        if let Some(known) = known {
            known.is_certain |= is_certain;
        } else if asked.len() < MAX_NAMES {
            asked.push(Asked { source, is_certain });
        }
    }
    asked
}

/// Whether only spaces separate a word from a content word. The first word of a question does not count: it is the verb
/// of "Explain A1".
fn beside_content(query: &str, words: &[(usize, String)], at: usize) -> bool {
    let cues = Cues::built_in();
    let touch = |left: usize| {
        let (Some((from, left)), Some((to, _))) = (words.get(left), words.get(left + 1)) else {
            return false;
        };
        let between = query.get(from + left.len()..*to);
        between.is_some_and(|between| between.chars().all(char::is_whitespace))
    };
    let is_content = |at: usize| {
        let word = words.get(at).map(|(_, word)| word.as_str());
        word.is_some_and(|word| !cues.is(word, Kind::Stop))
    };
    let before = at.checked_sub(1).filter(|before| *before > 0);
    before.is_some_and(|before| is_content(before) && touch(before))
        || is_content(at + 1) && touch(at)
}

/// A source of the conversation that a question names.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedSource {
    /// Its marker, with the range and the hash of the text that the conversation has seen under it.
    pub bound: BoundMarker,
    /// The source, as memory holds an active one.
    pub source: RememberedSource,
    /// Whether the name can be nothing else.
    pub is_certain: bool,
}

/// The markers of the sources that a question certainly names.
#[must_use]
pub fn certain_markers(named: &[NamedSource]) -> Vec<String> {
    let certain = named.iter().filter(|named| named.is_certain);
    certain.map(|named| named.bound.marker.clone()).collect()
}

/// The names under which markers can be bound.
#[must_use]
pub fn marker_names(asked: &[Asked]) -> Vec<String> {
    let name = |asked: &Asked| match &asked.source {
        AskedSource::Marker(name) => Some(name.clone()),
        AskedSource::Number(number) => Some(number.to_string()),
        AskedSource::Place(_) | AskedSource::Last => None,
    };
    asked.iter().filter_map(name).collect()
}

/// Whether a source is named by its place in the previous context.
#[must_use]
pub fn needs_context(asked: &[Asked]) -> bool {
    let by_marker = |asked: &Asked| matches!(asked.source, AskedSource::Marker(_));
    !asked.iter().all(by_marker)
}

/// The named sources that the conversation has, each once. `bound` are its markers with the [`marker_names`], `shown` is the context
/// of the previous turn in prompt order. Passages that the application added are in no corpus and are left out.
#[must_use]
pub fn resolve(
    asked: &[Asked],
    bound: &[BoundMarker],
    shown: &[ContextSource],
) -> Vec<NamedSource> {
    let mut named: Vec<NamedSource> = Vec::new();
    for Asked { source, is_certain } in asked {
        let found = match source {
            AskedSource::Marker(name) => by_marker(name, bound),
            AskedSource::Number(number) => by_marker(&number.to_string(), bound)
                .or_else(|| at_place(number.checked_sub(1)?, shown)),
            AskedSource::Place(place) => at_place(place.saturating_sub(1), shown),
            AskedSource::Last => at_place(shown.len().saturating_sub(1), shown),
        };
        let Some(bound) = found.filter(|bound| !bound.corpus.is_empty()) else {
            continue;
        };
        match named
            .iter_mut()
            .find(|other| other.bound.marker == bound.marker)
        {
            Some(other) => other.is_certain |= is_certain,
            None => named.push(NamedSource {
                source: active(&bound),
                bound,
                is_certain: *is_certain,
            }),
        }
    }
    named
}

fn by_marker(name: &str, bound: &[BoundMarker]) -> Option<BoundMarker> {
    bound.iter().find(|bound| bound.marker == name).cloned()
}

fn at_place(place: usize, shown: &[ContextSource]) -> Option<BoundMarker> {
    let shown = shown.get(place)?;
    Some(bind(&shown.candidate.passage, shown.marker.clone()))
}

/// Without a hash: that of a marker can be of a merged text, which is no change of the passage.
fn active(bound: &BoundMarker) -> RememberedSource {
    RememberedSource {
        corpus: bound.corpus.clone(),
        doc_id: bound.doc_id.clone(),
        chunk_id: bound.chunk_id.clone(),
        carry_score: 1.0,
        inactive_turns: 0,
        pinned: false,
        pin_order: None,
        cited: false,
        content_hash: None,
    }
}

/// The byte ranges within brackets. A bracket without an end, or with another one inside, is none.
fn brackets(query: &str) -> Vec<(usize, usize)> {
    let mut ranges = Vec::new();
    let mut open = None;
    for (at, byte) in query.bytes().enumerate() {
        match byte {
            b'[' => open = Some(at),
            b']' => ranges.extend(open.take().map(|from| (from, at))),
            _ => {}
        }
    }
    ranges
}

/// The marker or number that a word is. Digits alone count only in brackets or after a word for a source, and small letters too.
fn named(word: &str, bracketed: bool, introduced: bool) -> Option<AskedSource> {
    let word = word.split(['\'', '’']).next().unwrap_or_default();
    let digits_at = word.find(|c: char| c.is_ascii_digit())?;
    let (letters, digits) = word.split_at(digits_at);
    if digits.len() > MARKER_DIGITS
        || digits.starts_with('0')
        || !digits.bytes().all(|byte| byte.is_ascii_digit())
    {
        return None;
    }
    if letters.is_empty() {
        return match (bracketed, introduced) {
            (true, _) => Some(AskedSource::Marker(digits.to_owned())),
            (false, true) => digits.parse().ok().map(AskedSource::Number),
            (false, false) => None,
        };
    }
    let is_marker = letters.len() <= MARKER_LETTERS
        && letters.bytes().all(|byte| byte.is_ascii_alphabetic())
        && (bracketed || introduced || letters.bytes().all(|byte| byte.is_ascii_uppercase()));
    is_marker.then(|| AskedSource::Marker(word.to_ascii_uppercase()))
}

/// The place that an ordinal number names.
fn place(word: &str) -> Option<AskedSource> {
    let german = || {
        GERMAN.iter().position(|stem| {
            word.strip_prefix(stem)
                .is_some_and(|ending| GERMAN_ENDINGS.contains(&ending))
        })
    };
    let english = |names: &[&str]| names.iter().position(|name| *name == word);
    let found = english(ENGLISH)
        .or_else(|| english(ENGLISH_SHORT))
        .or_else(german);
    let last = || {
        let ending = word.strip_prefix("letzt");
        word == "last" || ending.is_some_and(|ending| GERMAN_ENDINGS.contains(&ending))
    };
    found
        .map(|at| AskedSource::Place(at + 1))
        .or_else(|| last().then_some(AskedSource::Last))
}

#[cfg(test)]
mod tests {
    use super::AskedSource::{Last, Number, Place};
    use super::*;
    use proptest::prelude::*;

    fn marker(name: &str) -> AskedSource {
        AskedSource::Marker(name.into())
    }

    #[test]
    fn names_of_sources_are_read() {
        for (query, expected) in [
            ("What was in A1 again?", vec![marker("A1")]),
            ("and [B2]?", vec![marker("B2")]),
            ("and [b2, A1]?", vec![marker("B2"), marker("A1")]),
            ("What does source A1 say?", vec![marker("A1")]),
            ("source a1", vec![marker("A1")]),
            ("Is A1's date right? A1 is old.", vec![marker("A1")]),
            ("What about [3]?", vec![marker("3")]),
            ("Source 3, please", vec![Number(3)]),
            ("Was steht in Quelle Nr. 2?", vec![Number(2)]),
            ("Tell me about the second source", vec![Place(2)]),
            ("What does the 3rd source say?", vec![Place(3)]),
            ("Was sagt die zweite Quelle?", vec![Place(2)]),
            ("Steht das in der ersten Quelle?", vec![Place(1)]),
            ("the last reference", vec![Last]),
        ] {
            let found: Vec<_> = asked_sources(query)
                .into_iter()
                .map(|asked| asked.source)
                .collect();
            assert_eq!(found, expected, "{query}");
        }
        for query in [
            "What is the second source of income?",
            "the a1 motorway in 2024",
            "version 3 of the standard",
            "Who came first?",
            "MP3 and COVID19",
            "[0] [A0] [ABCD1] [A12345]",
            "the second question",
            "[",
        ] {
            let found = asked_sources(query);
            let bound = |asked: &Asked| asked.source != marker("MP3");
            assert!(!found.iter().any(bound), "{query}: {found:?}");
        }
    }

    #[test]
    fn a_marker_beside_a_content_word_is_uncertain() {
        for (query, is_certain) in [
            ("What was in A1 again?", true),
            ("Explain A1", true),
            ("Compare A1 and B2", true),
            ("Was stand in A1?", true),
            ("Is A1's date right?", true),
            ("Does [A1] mention costs?", true),
            ("Which costs does source A1 mention?", true),
            ("How much vitamin A1 is healthy?", false),
            ("Vitamin A1, and what foods?", true),
            ("Is there an A1 form?", false),
            ("the iPhone A1 and others", false),
            ("vitamin A1? A1 is what I mean", true),
        ] {
            let asked = asked_sources(query);
            assert!(asked[0].is_certain == is_certain, "{query}: {asked:?}");
        }
    }

    #[test]
    fn names_are_resolved_to_sources_of_the_conversation() {
        let bound = |marker: &str, corpus: &str, chunk_id: &str| BoundMarker {
            marker: marker.into(),
            corpus: corpus.into(),
            doc_id: "d".into(),
            chunk_id: chunk_id.into(),
            version: None,
            pages: None,
            chars: None,
            locator: None,
            content_hash: String::new(),
        };
        let markers = [
            bound("A1", "c", "k1"),
            bound("B1", "", "added"),
            bound("7", "c", "k7"),
        ];
        let asked = [
            marker("A1"),
            marker("A1"),
            marker("B1"),
            marker("Z1"),
            Number(7),
            Number(0),
            Place(1),
            Last,
        ];
        let asked = asked.map(|source| Asked {
            source,
            is_certain: true,
        });
        assert_eq!(marker_names(&asked), ["A1", "A1", "B1", "Z1", "7", "0"]);
        let named = resolve(&asked, &markers, &[]);
        let keys: Vec<_> = named
            .iter()
            .map(|named| (named.bound.marker.as_str(), named.source.chunk_id.as_str()))
            .collect();
        assert_eq!(keys, [("A1", "k1"), ("7", "k7")]);
        assert!(!needs_context(&asked[..4]) && needs_context(&asked));
    }

    proptest! {
        #[test]
        fn any_text_has_few_names(query in "(\\PC|\\[|\\]|A1|İ|source | 2|zweite Quelle){0,200}") {
            let found = asked_sources(&query);
            prop_assert!(found.len() <= MAX_NAMES);
            for (at, one) in found.iter().enumerate() {
                prop_assert!(!found[..at].contains(one));
            }
        }
    }
}
