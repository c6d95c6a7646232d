//! The content of a text: the lexemes of the server, and numbers that are read here.

use reground_interrupt::check_interrupt;
use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::WordSet;

/// A sorted set of lexemes: stemmed, without stop words, with numbers in one spelling.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<String>", into = "Vec<String>")]
pub struct Lexemes(WordSet);

impl Lexemes {
    /// Returns the content of `text`. `lexemes` are those of the server's text search configuration.
    ///
    /// The parser of PostgreSQL splits `1,000` and reads the dash in `2019-2020` as a sign. So numbers are read from
    /// the text, not taken from the lexemes.
    pub fn of(text: &str, lexemes: impl IntoIterator<Item = String>) -> Self {
        lexemes
            .into_iter()
            .filter(|lexeme| lexeme.chars().any(char::is_alphabetic))
            .chain(numbers(text))
            .collect()
    }

    /// The lexemes, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.as_slice().iter().map(String::as_str)
    }

    /// The number of lexemes.
    pub fn len(&self) -> usize {
        self.0.as_slice().len()
    }

    /// Returns whether there is no content.
    pub fn is_empty(&self) -> bool {
        self.0.as_slice().is_empty()
    }

    /// Returns whether `lexeme` is in the set.
    pub fn contains(&self, lexeme: &str) -> bool {
        self.0.contains(lexeme)
    }

    /// Returns the lexeme of a word of the same text. The word must be in lower case. `None` for a stop word.
    ///
    /// The lexeme is found by its prefix: it is the longest lexeme that the word begins with, or one that differs
    /// only in its last letter (`happy`, `happi`; `making`, `make`). Some stemmers remove accents (`canción`,
    /// `cancion`), so a word that is not found is searched for again without accents.
    pub(crate) fn stem_of(&self, word: &str) -> Option<&str> {
        self.begins(word).or_else(|| {
            let bare = || word.nfd().filter(|c| !is_combining_mark(*c));
            (!word.is_ascii())
                .then(|| self.begins(&bare().collect::<String>()))
                .flatten()
        })
    }

    fn begins(&self, word: &str) -> Option<&str> {
        let all = self.0.as_slice();
        let mut at = self.0.up_to(word);
        let mut nearly = all.get(at).filter(|next| nearly_begins(next, word));
        // A lexeme that is a prefix of the word sorts before the word, and before the common prefix of the word and
        // every other lexeme.
        while let Some(before) = at.checked_sub(1).and_then(|at| all.get(at)) {
            let alike = shared(before, word);
            if alike == before.len() {
                let whole = before.len() >= 3 || word.len() <= before.len() + 2;
                return if whole {
                    Some(before)
                } else {
                    nearly.map(String::as_str)
                };
            }
            nearly = nearly.or(Some(before).filter(|before| nearly_begins(before, word)));
            if alike == 0 {
                break;
            }
            at = self.0.up_to(&word[..alike]).min(at);
        }
        nearly.map(String::as_str)
    }
}

/// Returns whether a word begins with a lexeme except for the lexeme's last letter, which stemmers change.
fn nearly_begins(lexeme: &str, word: &str) -> bool {
    let Some((last, _)) = lexeme.char_indices().next_back() else {
        return false;
    };
    let letters = lexeme.chars().count();
    last > 0
        && word.starts_with(&lexeme[..last])
        // The inflected form of a short word is longer than its lexeme: `use` is the lexeme of `using`, not of `us`.
        && (letters > 4 || (letters > 2 && word.chars().count() > letters))
}

impl FromIterator<String> for Lexemes {
    fn from_iter<T: IntoIterator<Item = String>>(lexemes: T) -> Self {
        Self::from(lexemes.into_iter().collect::<Vec<_>>())
    }
}

impl From<Vec<String>> for Lexemes {
    fn from(lexemes: Vec<String>) -> Self {
        Self(lexemes.into())
    }
}

impl From<Lexemes> for Vec<String> {
    fn from(lexemes: Lexemes) -> Self {
        lexemes.0.into()
    }
}

/// Returns the separate numbers of a text without thousands separators: `1,234.5` is `1234.5`. Numbers inside words
/// (`v2`) come from the server. Languages differ in the thousands separator; here it is a comma before groups of
/// three digits.
pub(crate) fn numbers(text: &str) -> Vec<String> {
    let is_inside = |c: char| c.is_alphanumeric() || matches!(c, '.' | ',');
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(step) = text.as_bytes()[at..].iter().position(u8::is_ascii_digit) {
        check_interrupt(1 + step);
        let digit = at + step;
        let start = text[at..digit].trim_end_matches(is_inside).len() + at;
        let rest = &text[digit..];
        let end = digit + rest.find(|c| !is_inside(c)).unwrap_or(rest.len());
        let word = &text[start..end];
        let (bare, word) = (word.starts_with('.'), word.trim_matches(['.', ',']));
        if !word.contains(char::is_alphabetic) {
            found.extend(spellings(word, bare));
        }
        at = end;
    }
    found
}

/// Returns the numbers that a run of digits, points and commas can stand for: one if commas group thousands,
/// otherwise one for each part between commas. `bare` means that a decimal point precedes it: `.5`.
pub(crate) fn spellings(word: &str, bare: bool) -> Vec<String> {
    if bare && word.bytes().all(|byte| byte.is_ascii_digit()) {
        return vec![canonical(&format!("0.{word}"))];
    }
    let mut groups = word.split(',');
    let first = groups.next().unwrap_or_default();
    let grouped = (1..=3).contains(&first.len())
        && groups.clone().count() > 0
        && groups
            .clone()
            .all(|group| group.split('.').next().map(str::len) == Some(3));
    if grouped {
        return vec![canonical(&word.replace(',', ""))];
    }
    let rest = groups.filter(|group| !group.is_empty());
    std::iter::once(first).chain(rest).map(canonical).collect()
}

/// Returns the normal form of a number: `007`, `7.0` and `7` are equal. A number with two points is a version and
/// stays unchanged.
pub(crate) fn canonical(number: &str) -> String {
    let (whole, fraction) = match number.split_once('.') {
        Some((_, rest)) if rest.contains('.') => return number.to_owned(),
        Some((whole, fraction)) => (whole, fraction.trim_end_matches('0')),
        None => (number, ""),
    };
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    if fraction.is_empty() {
        whole.to_owned()
    } else {
        format!("{whole}.{fraction}")
    }
}

/// Returns the length of the common prefix in bytes, on a character boundary.
fn shared(a: &str, b: &str) -> usize {
    let bytes = a.bytes().zip(b.bytes());
    let alike = bytes.take_while(|(a, b)| a == b).count();
    a.floor_char_boundary(alike)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Lexemes, numbers, spellings};

    #[test]
    fn numbers_in_normal_form() {
        assert_eq!(
            numbers("1,234.5 users (2019-2020), 12.5%."),
            ["1234.5", "2019", "2020", "12.5"]
        );
        assert_eq!(numbers("in 2019,2020 and v2"), ["2019", "2020"]);
        assert_eq!(numbers("…,, . no"), Vec::<String>::new());
        assert_eq!(
            numbers("$10.00, 0.50, .5, 03 May 2021-05-03, 1,250.00, 1.2.30, 0"),
            [
                "10", "0.5", "0.5", "3", "2021", "5", "3", "1250", "1.2.30", "0"
            ]
        );
    }

    #[test]
    fn words_find_their_lexemes() {
        let lexemes = ["cancion", "happi", "make", "relat", "use", "relay", "b"];
        let lexemes = Lexemes::from(Vec::from(lexemes.map(str::to_owned)));
        for (word, lexeme) in [
            ("happiness", Some("happi")),
            ("happy", Some("happi")),
            ("making", Some("make")),
            ("relations", Some("relat")),
            ("relays", Some("relay")),
            ("using", Some("use")),
            ("canciones", Some("cancion")),
            ("canción", Some("cancion")),
            ("b", Some("b")),
            ("us", None),
            ("banker", None),
            ("", None),
        ] {
            assert_eq!(lexemes.stem_of(word), lexeme, "{word}");
        }
    }

    #[test]
    fn numbers_of_the_server_are_replaced() {
        let server = ["1", "000", "-2020", "user", "v2"].map(str::to_owned);
        let content = Lexemes::of("1,000 users of v2 in 2019-2020", server);
        assert_eq!(
            content.iter().collect::<Vec<_>>(),
            ["1000", "2019", "2020", "user", "v2"]
        );
    }

    proptest! {
        #[test]
        fn numbers_equal_those_of_words_with_digits(text in "[a1.,é ٣-]{0,30}") {
            let words = text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | ',')));
            let expected: Vec<String> = words
                .filter(|word| word.contains(|c: char| c.is_ascii_digit()))
                .filter(|word| !word.trim_matches(['.', ',']).contains(char::is_alphabetic))
                .flat_map(|word| spellings(word.trim_matches(['.', ',']), word.starts_with('.')))
                .collect();
            prop_assert_eq!(numbers(&text), expected);
        }
    }
}
