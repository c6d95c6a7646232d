//! A cursor over folded text, with the steps that the forms need.

/// A reader that only moves forward.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    rest: &'a str,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { rest: text }
    }

    /// Returns the text that has not been read.
    pub(super) fn rest(&self) -> &'a str {
        self.rest
    }

    pub(super) fn at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// Reads characters while `pleases` returns true.
    pub(super) fn take_while(&mut self, pleases: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !pleases(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    /// Skips spaces and returns whether there were any.
    pub(super) fn spaces(&mut self) -> bool {
        !self.take_while(|c| c == ' ').is_empty()
    }

    /// Reads one character if it is in `these`.
    pub(super) fn one_of(&mut self, these: &[char]) -> Option<char> {
        let first = self.rest.chars().next().filter(|c| these.contains(c))?;
        self.rest = &self.rest[first.len_utf8()..];
        Some(first)
    }

    /// Reads `word` in any case, if no letter follows.
    pub(super) fn word(&mut self, word: &str) -> bool {
        self.one_word_of(&[word])
    }

    /// Reads a word of letters if it is in `these`, in any case.
    pub(super) fn one_word_of(&mut self, these: &[&str]) -> bool {
        let mut ahead = *self;
        let word = ahead.take_while(char::is_alphabetic);
        let known = these.iter().any(|known| word.eq_ignore_ascii_case(known));
        if known {
            *self = ahead;
        }
        known
    }

    /// Reads a word that joins two items of a list.
    pub(super) fn joining_word(&mut self) -> bool {
        self.one_word_of(&["and", "und", "et", "y", "e", "en", "и", "和", "と"])
    }

    /// Reads an ASCII number of at most `most` digits. Nothing is read if it is longer.
    pub(super) fn number(&mut self, most: usize) -> Option<Number<'a>> {
        let mut ahead = *self;
        let digits = ahead.take_while(|c| c.is_ascii_digit());
        if digits.is_empty() || digits.len() > most {
            return None;
        }
        *self = ahead;
        // Only a page can have so many digits, and no document has so many pages.
        let value = digits.parse().unwrap_or(u32::MAX);
        Some(Number { value, digits })
    }
}

/// A number and its digits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number<'a> {
    pub(super) value: u32,
    pub(super) digits: &'a str,
}

impl Number<'_> {
    /// Returns whether the number has leading zeros.
    pub(super) fn has_leading_zero(self) -> bool {
        self.digits.len() > 1 && self.digits.starts_with('0')
    }
}
