//! Near twins: two texts that make the same statements in almost the same words.
//!
//! Most words of a documentation or of a news text that was edited stay the same. But texts that differ in few words can
//! also be statements about different things: the limits of two plans, the same manual for two products. So a difference
//! counts by what differs, and a doubt keeps both texts.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::LazyLock;

use reground_citations::{SUPPORT_CUES, SupportCue};
use reground_interrupt::checked;
use unicode_segmentation::UnicodeSegmentation;

use crate::query::cues::{Cues, Kind};
use crate::query::query_words::QueryWords;
use crate::query::words::{key_of, unspaced};

/// Words of the shortest text that can be a near twin.
const FEWEST_WORDS: usize = 20;
/// Share of words, in hundredths of the longer text, that near twins have in common.
const COMMON: usize = 95;
/// English words that change a statement and are no negations.
const QUALIFIERS: &[&str] = &[
    "above", "after", "all", "any", "before", "below", "each", "every", "except", "fewer", "first",
    "input", "largest", "last", "least", "less", "may", "max", "maximum", "min", "minimum", "more",
    "most", "must", "only", "optional", "output", "over", "required", "smallest", "some", "under",
];
/// Prefixes of opposites: *enabled*, *disabled*; *include*, *exclude*; *upload*, *download*.
const PREFIXES: &[&str] = &[
    "", "anti", "de", "dis", "down", "en", "ex", "il", "im", "in", "ir", "mis", "non", "out", "re",
    "un", "up",
];

/// Words that deny, and names of numbers and units, in all languages.
static CUES: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let kinds = [
        SupportCue::Negation,
        SupportCue::Number,
        SupportCue::Scale,
        SupportCue::Measure,
    ];
    SUPPORT_CUES
        .iter()
        .filter(|(_, kind, _)| kinds.contains(kind))
        .flat_map(|(.., cues)| cues.split_whitespace())
        .filter(|cue| !cue.contains('_') && !cue.ends_with('='))
        .flat_map(|cue| cue.split(['=', '\'']))
        // Some signs of units are words, such as "in".
        .filter(|word| word.len() > 1 && !["in", "mi"].contains(word))
        .collect()
});

/// A text, prepared for comparisons.
pub struct ComparedText<'a> {
    text: &'a str,
    /// Hashes of the words in lower case, sorted, to reject most pairs.
    hashes: Vec<u64>,
    words: OnceCell<TextWords>,
}

impl<'a> ComparedText<'a> {
    /// Prepares a text.
    #[must_use]
    pub fn of(text: &'a str) -> Self {
        let mut hashes = Vec::new();
        let mut word = None;
        for c in checked(text.chars()) {
            if c.is_alphanumeric() {
                let begun = word.unwrap_or(EMPTY);
                word = Some(match c.is_ascii() {
                    true => fnv_1a(begun, c.to_ascii_lowercase()),
                    false => c.to_lowercase().fold(begun, fnv_1a),
                });
            } else {
                hashes.extend(word.take());
            }
        }
        hashes.extend(word);
        hashes.sort_unstable();
        Self {
            text,
            hashes,
            words: OnceCell::new(),
        }
    }

    /// Whether both texts have at least 95 % of their words in common, and differ in no word that can change a
    /// statement. These are numbers, units and dates, names (capitalised words), denials and other qualifiers, opposites,
    /// words of the query, and words that one text has several times, because the subject of parallel texts repeats.
    /// Words of scripts without capital letters are all counted as names.
    #[must_use]
    pub fn near_twin(&self, other: &Self, query: &QueryWords) -> bool {
        let longer = self.hashes.len().max(other.hashes.len());
        let shorter = self.hashes.len().min(other.hashes.len());
        shorter >= FEWEST_WORDS
            && have_in_common(&self.hashes, &other.hashes, (longer * COMMON).div_ceil(100))
            && self.words().near_twin(other.words(), query)
    }

    fn words(&self) -> &TextWords {
        self.words.get_or_init(|| TextWords::of(self.text))
    }
}

/// The FNV-1a hash of no character.
const EMPTY: u64 = 0xCBF2_9CE4_8422_2325;

/// FNV-1a: the hash with one more character.
fn fnv_1a(hash: u64, c: char) -> u64 {
    (hash ^ u64::from(c)).wrapping_mul(0x0000_0100_0000_01B3)
}

/// Whether two sorted lists have at least `wanted` elements in common. Ends as soon as the first one lacks too many: most texts have
/// little in common, and each is compared with all others.
fn have_in_common(one: &[u64], other: &[u64], wanted: usize) -> bool {
    let Some(mut spare) = one.len().checked_sub(wanted) else {
        return false;
    };
    let mut other = other.iter().peekable();
    for element in one {
        while other.next_if(|before| *before < element).is_some() {}
        if other.next_if_eq(&element).is_none() {
            match spare.checked_sub(1) {
                Some(rest) => spare = rest,
                None => return false,
            }
        }
    }
    true
}

/// The words of a text.
struct TextWords {
    /// The words in lower case, and whether each is spelled as a name, in text order.
    words: Vec<(String, bool)>,
    counts: BTreeMap<String, usize>,
}

impl TextWords {
    fn of(text: &str) -> Self {
        let words = text
            .unicode_words()
            .map(|word| (word.to_lowercase(), is_name(word)));
        let words: Vec<(String, bool)> = checked(words).collect();
        let mut counts = BTreeMap::new();
        for (word, _) in &words {
            *counts.entry(word.clone()).or_default() += 1;
        }
        Self { words, counts }
    }

    fn near_twin(&self, other: &Self, query: &QueryWords) -> bool {
        let (here, there) = (self.missing_in(other), other.missing_in(self));
        let differing: BTreeSet<&str> = here.keys().chain(there.keys()).copied().collect();
        let asked: BTreeSet<&str> = query.weights().map(|(key, _)| key).collect();
        let cues = Cues::built_in();
        let mut lacking = here.iter().chain(&there);
        let repeated = lacking.any(|(word, &count)| count > 1 && !cues.is(word, Kind::Stop));
        let changes = |word: &&str| changes_statements(word) || asked.contains(key_of(word));
        let opposites = || {
            let mut pairs = here
                .keys()
                .flat_map(|one| there.keys().map(move |other| (*one, *other)));
            pairs.any(|(one, other)| are_opposites(one, other))
        };
        !repeated
            && !differing.iter().any(changes)
            && !opposites()
            && self.names_with(other) == other.names_with(self)
    }

    /// The words of this text that the other one lacks, with the number of missing ones.
    fn missing_in(&self, other: &Self) -> BTreeMap<&str, usize> {
        let missing = self.counts.iter().filter_map(|(word, count)| {
            let there = other.counts.get(word).copied().unwrap_or_default();
            Some((
                word.as_str(),
                count.checked_sub(there).filter(|more| *more > 0)?,
            ))
        });
        missing.collect()
    }

    /// The numbers and names of either text, in the order of this one. Texts that exchange two names differ.
    fn names_with(&self, other: &Self) -> Vec<&str> {
        let cues = Cues::built_in();
        let words = self.words.iter().chain(&other.words);
        let names: BTreeSet<&str> = words
            .filter(|(lower, is_name)| *is_name && !cues.is(lower, Kind::Stop))
            .map(|(lower, _)| lower.as_str())
            .collect();
        let own = self.words.iter().map(|(lower, _)| lower.as_str());
        own.filter(|word| names.contains(word)).collect()
    }
}

/// Whether a word is a number, or is capitalised, or could not be.
fn is_name(word: &str) -> bool {
    let mut cased = word.chars().filter(|c| c.is_alphabetic());
    word.chars().any(char::is_numeric)
        || cased.any(|c| c.is_uppercase() || !c.is_lowercase())
        || word.chars().any(unspaced)
}

/// Whether a lower-case word that only one of two texts has can make it another statement.
fn changes_statements(word: &str) -> bool {
    is_name(word)
        || QUALIFIERS.contains(&word)
        || word.ends_with("n't")
        || word.ends_with("n’t")
        || CUES.contains(word)
}

/// Whether two words differ by their prefixes only.
fn are_opposites(one: &str, other: &str) -> bool {
    PREFIXES.iter().any(|prefix| {
        one.strip_prefix(prefix).is_some_and(|rest| {
            let mut others = PREFIXES.iter();
            rest.len() > 2 && others.any(|prefix| other.strip_prefix(prefix) == Some(rest))
        })
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::query::plan::SubQuery;

    proptest! {
        #[test]
        fn lists_have_in_common_what_a_count_finds(
            one in prop::collection::vec(0_u64..12, 0..20),
            other in prop::collection::vec(0_u64..12, 0..20),
            wanted in 0_usize..22,
        ) {
            let occurrences = |list: &[u64], of: u64| list.iter().filter(|element| **element == of).count();
            let common: usize = (0..12).map(|of| occurrences(&one, of).min(occurrences(&other, of))).sum();
            let [mut one, mut other] = [one.clone(), other.clone()];
            one.sort_unstable();
            other.sort_unstable();
            prop_assert_eq!(have_in_common(&one, &other, wanted), common >= wanted);
        }

        #[test]
        fn a_word_has_one_hash_in_any_case(words in prop::collection::vec("[a-zA-Zßéİ0-9]{1,6}", 0..12)) {
            let text = words.join(" ");
            let of = |text: &str| ComparedText::of(text).hashes;
            let lower = words.iter().map(|word| word.chars().flat_map(char::to_lowercase));
            let mut expected: Vec<u64> = lower.map(|word| word.fold(EMPTY, fnv_1a)).collect();
            expected.sort_unstable();
            prop_assert_eq!(&of(&text), &expected);
            prop_assert_eq!(&of(&text.to_ascii_uppercase()), &expected);
        }
    }

    const TEXT: &str = "Administrators can change the limit of uploads in the settings of a workspace. The limit is 5 MB \
        for every file, and it is checked when a member adds the file to a page. Larger files are stored in the archive \
        of the workspace, where members find them under the name of the page. The archive keeps them for 30 days.";

    fn near(change: &[(&str, &str)], query: &str) -> bool {
        let mut other = TEXT.to_owned();
        for (from, to) in change {
            assert!(other.contains(from), "{from}");
            other = other.replacen(from, to, 1);
        }
        let query = QueryWords::of(&[SubQuery {
            text: query.into(),
            ..SubQuery::default()
        }]);
        let (one, other) = (ComparedText::of(TEXT), ComparedText::of(&other));
        assert_eq!(one.near_twin(&other, &query), other.near_twin(&one, &query));
        one.near_twin(&other, &query)
    }

    #[test]
    fn edited_texts_are_near_twins() {
        assert!(near(&[], ""));
        assert!(near(&[("keeps them", "stores them")], ""));
        assert!(near(&[("where members", "in which members")], ""));
        assert!(near(&[(". The limit", "; the limit")], ""));
        assert!(near(
            &[("the settings of a workspace", "settings of the workspace")],
            "limit?"
        ));
    }

    #[test]
    fn texts_that_state_something_else_are_kept() {
        for (from, to) in [
            ("5 MB", "50 MB"),
            ("5 MB", "5 GB"),
            ("30 days", "30 hours"),
            ("can change", "cannot change"),
            ("can change", "can't change"),
            ("The archive keeps", "The archive never keeps"),
            ("Administrators", "Owners"),
            ("Larger files", "Only larger files"),
            ("every file", "every other Berlin file"),
            ("are stored", "are restored"),
            ("is checked when", "is unchecked when"),
            ("for every file, and", "for every file after"),
        ] {
            assert!(!near(&[(from, to)], ""), "{to}");
        }
        // The difference is what the query is about.
        assert!(!near(
            &[("keeps them", "stores them")],
            "Where are they stored?"
        ));
        // Parallel texts repeat their subject.
        assert!(!near(
            &[("a page", "a board"), ("the page", "the board")],
            ""
        ));
        // Names that are exchanged.
        let names = |one: &str, other: &str| format!("{} {one} wrote to {other}.", TEXT);
        let (one, other) = (names("Ann", "Bob"), names("Bob", "Ann"));
        let near =
            ComparedText::of(&one).near_twin(&ComparedText::of(&other), &QueryWords::default());
        assert!(!near);
    }

    #[test]
    fn near_twins_have_95_percent_of_their_words_in_common() {
        // 5 % of 39 words is less than two words, of 40 words it is two.
        for (words, differing, expected) in
            [(39, 1, true), (39, 2, false), (40, 2, true), (40, 3, false)]
        {
            let text = |first: &str| {
                let letter = |number: usize| char::from(b'a' + u8::try_from(number % 26).unwrap());
                let word = |number: usize| {
                    let start = if number < differing { first } else { "same" };
                    format!("{start}{}{}", letter(number), letter(number / 26))
                };
                (0..words).map(word).collect::<Vec<_>>().join(" ")
            };
            let (one, other) = (text("keep"), text("store"));
            let near =
                ComparedText::of(&one).near_twin(&ComparedText::of(&other), &QueryWords::default());
            assert_eq!(near, expected, "{differing} of {words}");
        }
    }

    #[test]
    fn scripts_without_capitals_and_short_texts_are_kept() {
        let text = "管理员可以在工作区的设置中更改上传限制并且每个文件都会在添加到页面时被检查较大的文件存储在工作区的存档中";
        let other = text.replace("可以", "不能");
        let none = QueryWords::default();
        let near = |one: &str, other: &str| {
            ComparedText::of(one).near_twin(&ComparedText::of(other), &none)
        };
        assert!(!near(text, &other));
        assert!(!near("The limit is large.", "The limit is huge."));
        assert!(!near("", ""));
    }
}
