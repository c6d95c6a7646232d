//! The content of a text: the server's lexemes, with numbers read here.

use reground_pulse::along;
use serde::{Deserialize, Serialize};

/// A sorted set of lexemes: stemmed, stop words removed, numbers in one spelling.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<String>", into = "Vec<String>")]
pub struct Lexemes(Vec<String>);

impl Lexemes {
    /// The content of `text`, given what the server's text search configuration makes of it.
    ///
    /// Its parser cuts `1,000` in two and takes the dash of `2019-2020` for a sign, so numbers are taken from the text
    /// instead of from the lexemes.
    pub fn of(text: &str, lexemes: impl IntoIterator<Item = String>) -> Self {
        lexemes
            .into_iter()
            .filter(|lexeme| lexeme.chars().any(char::is_alphabetic))
            .chain(numbers(text))
            .collect()
    }

    /// The lexemes, ascending.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no content at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether `lexeme` is one of them.
    pub fn contains(&self, lexeme: &str) -> bool {
        self.0.binary_search_by(|l| l.as_str().cmp(lexeme)).is_ok()
    }
}

impl FromIterator<String> for Lexemes {
    fn from_iter<T: IntoIterator<Item = String>>(lexemes: T) -> Self {
        Self::from(lexemes.into_iter().collect::<Vec<_>>())
    }
}

impl From<Vec<String>> for Lexemes {
    fn from(mut lexemes: Vec<String>) -> Self {
        lexemes.sort_unstable();
        lexemes.dedup();
        Self(lexemes)
    }
}

impl From<Lexemes> for Vec<String> {
    fn from(lexemes: Lexemes) -> Self {
        lexemes.0
    }
}

/// Numbers that stand alone, thousands separators dropped: `1,234.5` is `1234.5`. Those inside words (`v2`) are left to the
/// server. Which of comma and point separates thousands differs by language; here groups of three after commas do.
pub(crate) fn numbers(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let words = text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | ',')));
    for word in along(words) {
        let word = word.trim_matches(['.', ',']);
        let is_number =
            word.contains(|c: char| c.is_ascii_digit()) && !word.contains(char::is_alphabetic);
        if !is_number {
            continue;
        }
        let mut groups = word.split(',');
        let first = groups.next().unwrap_or_default();
        let grouped = (1..=3).contains(&first.len())
            && groups.clone().count() > 0
            && groups
                .clone()
                .all(|group| group.split('.').next().map(str::len) == Some(3));
        if grouped {
            found.push(word.replace(',', ""));
        } else {
            found.push(first.to_owned());
            found.extend(groups.filter(|group| !group.is_empty()).map(str::to_owned));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Lexemes, numbers};

    #[test]
    fn numbers_in_one_spelling() {
        assert_eq!(
            numbers("1,234.5 users (2019-2020), 12.5%."),
            ["1234.5", "2019", "2020", "12.5"]
        );
        assert_eq!(numbers("in 2019,2020 and v2"), ["2019", "2020"]);
        assert_eq!(numbers("…,, . no"), Vec::<String>::new());
    }

    #[test]
    fn the_servers_numbers_are_replaced() {
        let server = ["1", "000", "-2020", "user", "v2"].map(str::to_owned);
        let content = Lexemes::of("1,000 users of v2 in 2019-2020", server);
        assert_eq!(
            content.iter().collect::<Vec<_>>(),
            ["1000", "2019", "2020", "user", "v2"]
        );
    }
}
