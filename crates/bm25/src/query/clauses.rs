//! The syntax of a query: words, `"phrases"`, `+required` and `-excluded`.
//!
//! Clauses are separated by spaces. Everything between double quotes is text; outside of them, characters that have a meaning in the
//! syntax of other search engines raise an error, so that nothing is silently ignored.

use thiserror::Error;

/// Whether the texts that a query finds have a clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// They may have it; it counts in the score.
    Optional,
    /// They have it.
    Required,
    /// They do not have it.
    Excluded,
}

/// A part of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clause<'a> {
    /// Whether the texts have it.
    pub demand: Demand,
    /// A word, or the text between the quotes of a phrase.
    pub text: &'a str,
}

/// A query that does not follow the syntax.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SyntaxError {
    /// A quote has no partner.
    #[error("a double quote has no partner")]
    OpenPhrase,
    /// Nothing is between two quotes.
    #[error("a phrase is empty")]
    EmptyPhrase,
    /// A quote within a word, or a word directly after a phrase.
    #[error("there is no space before or after a phrase")]
    NoSpace,
    /// A sign without a word.
    #[error("no word follows the sign \"{0}\"")]
    LoneSign(char),
    /// A character that other search engines interpret.
    #[error("the character \"{0}\" has no meaning outside double quotes")]
    Character(char),
    /// An operator of other search engines.
    #[error("\"{0}\" is no operator")]
    Operator(String),
    /// No clause can find a text.
    #[error("every word is excluded")]
    OnlyExcluded,
}

impl SyntaxError {
    /// How to write the query.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Operator(_) => {
                "Words are optional. Write +word for a required and -word for an excluded one, and put a word in double quotes to search for it."
            }
            Self::OnlyExcluded => "Add a word that the texts have.",
            _ => {
                "Write words, \"phrases\", +required and -excluded; put other text in double quotes."
            }
        }
    }
}

/// Characters that other search engines interpret, and quotes other than the double quote.
const RESERVED: &str = "*?~^:|&!()[]{}\\\u{201c}\u{201d}\u{201e}\u{201f}\u{ab}\u{bb}\u{2039}\u{203a}\u{ff02}\u{300c}\u{300d}\u{300e}\u{300f}";
/// Characters that look like a sign or a quote before a word: dashes, wide signs, single quotes, and invisible characters. Within a word
/// they can be an apostrophe or a hyphen.
const RESERVED_FIRST: &str = "\u{2010}\u{2011}\u{2012}\u{2013}\u{2014}\u{2015}\u{2212}\u{fe63}\u{ff0d}\u{fe62}\u{ff0b}\u{2018}\u{201a}\u{201b}\u{200b}\u{200c}\u{200d}\u{200e}\u{200f}\u{2060}\u{feff}";
/// Words that other search engines interpret.
const OPERATORS: [&str; 4] = ["AND", "OR", "NOT", "NEAR"];

/// Returns the clauses of a query, in order. A query without clauses finds nothing.
///
/// # Errors
/// A query that does not follow the syntax.
pub fn clauses(query: &str) -> Result<Vec<Clause<'_>>, SyntaxError> {
    let mut found = Vec::new();
    let mut rest = query.trim_start();
    while let Some(first) = rest.chars().next() {
        let (demand, text) = match first {
            '+' => (Demand::Required, &rest[1..]),
            '-' => (Demand::Excluded, &rest[1..]),
            _ => (Demand::Optional, rest),
        };
        let (clause, after) = match text.strip_prefix('"') {
            Some(quoted) => phrase(quoted)?,
            None => word(text)?,
        };
        let is_signed = demand != Demand::Optional;
        if clause.is_empty()
            || is_signed && clause.starts_with(['+', '-']) && !text.starts_with('"')
        {
            return Err(SyntaxError::LoneSign(first));
        }
        // A phrase without a sign would count like its single words.
        let demand = match (demand, text.starts_with('"')) {
            (Demand::Optional, true) => Demand::Required,
            (demand, _) => demand,
        };
        found.push(Clause {
            demand,
            text: clause,
        });
        rest = after.trim_start();
    }
    let is_excluded = |clause: &Clause<'_>| clause.demand == Demand::Excluded;
    match !found.is_empty() && found.iter().all(is_excluded) {
        true => Err(SyntaxError::OnlyExcluded),
        false => Ok(found),
    }
}

/// Splits the text of a phrase, after its first quote, from the rest of the query.
fn phrase(text: &str) -> Result<(&str, &str), SyntaxError> {
    let (phrase, after) = text.split_once('"').ok_or(SyntaxError::OpenPhrase)?;
    if phrase.trim().is_empty() {
        return Err(SyntaxError::EmptyPhrase);
    }
    match after.chars().next() {
        Some(next) if !next.is_whitespace() => Err(SyntaxError::NoSpace),
        _ => Ok((phrase, after)),
    }
}

/// Splits a word from the rest of the query.
fn word(text: &str) -> Result<(&str, &str), SyntaxError> {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (word, after) = text.split_at(end);
    if word.contains('"') {
        return Err(SyntaxError::NoSpace);
    }
    let first = word.chars().next();
    let first = first.filter(|first| RESERVED_FIRST.contains(*first));
    let mut reserved = word
        .chars()
        .filter(|character| RESERVED.contains(*character));
    if let Some(reserved) = first.or_else(|| reserved.next()) {
        return Err(SyntaxError::Character(reserved));
    }
    // In `red,-blue` the sign is not before a word.
    let mut pairs = word.chars().zip(word.chars().skip(1));
    if let Some((_, sign)) = pairs.find(|(one, next)| ",;".contains(*one) && "+-".contains(*next)) {
        return Err(SyntaxError::Character(sign));
    }
    match OPERATORS.contains(&word) {
        true => Err(SyntaxError::Operator(word.to_owned())),
        false => Ok((word, after)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(query: &str) -> Result<Vec<(char, &str)>, SyntaxError> {
        let sign = |demand| match demand {
            Demand::Optional => ' ',
            Demand::Required => '+',
            Demand::Excluded => '-',
        };
        let each = clauses(query)?.into_iter();
        Ok(each
            .map(|clause| (sign(clause.demand), clause.text))
            .collect())
    }

    #[test]
    fn clauses_have_a_sign_and_a_text() {
        assert_eq!(
            parsed(" red +shoes\t-\"patent leather\" \"running shoes\" +\"a+b (c)\" -x "),
            Ok(vec![
                (' ', "red"),
                ('+', "shoes"),
                ('-', "patent leather"),
                ('+', "running shoes"),
                ('+', "a+b (c)"),
                ('-', "x")
            ])
        );
        // Signs have a meaning before a word only.
        assert_eq!(
            parsed("foo_bar c++ e-mail don't don\u{2019}t and 3.5 1,000 +1"),
            Ok(vec![
                (' ', "foo_bar"),
                (' ', "c++"),
                (' ', "e-mail"),
                (' ', "don't"),
                (' ', "don\u{2019}t"),
                (' ', "and"),
                (' ', "3.5"),
                (' ', "1,000"),
                ('+', "1")
            ])
        );
        assert_eq!(parsed(" "), Ok(vec![]));
    }

    #[test]
    fn other_syntax_is_an_error() {
        use SyntaxError::{
            Character, EmptyPhrase, LoneSign, NoSpace, OnlyExcluded, OpenPhrase, Operator,
        };
        for (query, error) in [
            ("red \"shoes", OpenPhrase),
            ("red \"shoes\" \"", OpenPhrase),
            ("red \" \"", EmptyPhrase),
            ("+\"\"", EmptyPhrase),
            ("\"red shoes\"~2", NoSpace),
            ("5\" screen\"", NoSpace),
            ("red + shoes", LoneSign('+')),
            ("red -", LoneSign('-')),
            ("sho*", Character('*')),
            ("title:red", Character(':')),
            ("(red shoes)", Character('(')),
            ("red^2", Character('^')),
            ("\u{201c}red shoes\u{201d}", Character('\u{201c}')),
            ("red \u{2013}blue", Character('\u{2013}')),
            ("red \u{ff0d}blue", Character('\u{ff0d}')),
            ("red \u{200b}-blue", Character('\u{200b}')),
            ("red,-blue", Character('-')),
            ("\u{2018}red shoes\u{2019}", Character('\u{2018}')),
            ("red --blue", LoneSign('-')),
            ("red +-blue", LoneSign('+')),
            ("red OR blue", Operator("OR".to_owned())),
            ("red +AND blue", Operator("AND".to_owned())),
            ("-red -\"blue shoes\"", OnlyExcluded),
        ] {
            assert_eq!(parsed(query), Err(error), "{query}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_rejected(query in "[-+\"a-b *\u{e4}\u{3000}]{0,12}|\\PC{0,20}") {
            if let Ok(clauses) = clauses(&query) {
                for clause in clauses {
                    prop_assert!(!clause.text.trim().is_empty());
                    prop_assert!(query.contains(clause.text));
                }
            }
        }

        #[test]
        fn written_clauses_are_read(words in prop::collection::vec(("[+-]?", prop::bool::ANY, "[a-z_0-9]{1,6}( [a-z]{1,3})?"), 1..6)) {
            let texts: Vec<String> = words.iter().map(|(sign, quoted, text)| match *quoted || text.contains(' ') {
                true => format!("{sign}\"{text}\""),
                false => format!("{sign}{text}"),
            }).collect();
            let query = texts.join("  ");
            let all_excluded = words.iter().all(|(sign, ..)| sign == "-");
            match parsed(&query) {
                Err(error) => prop_assert!(all_excluded && error == SyntaxError::OnlyExcluded),
                Ok(read) => {
                    prop_assert!(!all_excluded);
                    let texts: Vec<&str> = read.iter().map(|(_, text)| *text).collect();
                    let written: Vec<&str> = words.iter().map(|(.., text)| text.as_str()).collect();
                    prop_assert_eq!(texts, written);
                }
            }
        }
    }
}
