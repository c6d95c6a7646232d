//! Circled and superscript numbers. They can also be list items, powers or charges.

use super::scanner::Scanner;
use crate::citation::ParsedCitation;
use crate::reading::forms;
use crate::{Family, Form, Position, Reference};

/// Longest run of superscripts, in bytes.
const MAX_RUN: usize = 64;
/// Shortest word before a note, in letters. Shorter ones are units and variables: `km²`, `R²`, `sin²`.
const SHORTEST_WORD: usize = 4;
/// Longer words that are often squared or cubed.
const SQUARED: [&str; 31] = [
    "meter",
    "meters",
    "metre",
    "metres",
    "kilometer",
    "kilometers",
    "kilometre",
    "kilometres",
    "centimeter",
    "centimeters",
    "centimetre",
    "centimetres",
    "millimeter",
    "millimeters",
    "millimetre",
    "millimetres",
    "feet",
    "foot",
    "inch",
    "inches",
    "mile",
    "miles",
    "yard",
    "yards",
    "second",
    "seconds",
    "height",
    "radius",
    "velocity",
    "sigma",
    "alpha",
];

impl Scanner<'_> {
    /// Reads the circled number at `at`. Returns the position to continue at.
    pub(super) fn circled(&mut self, at: usize, limit: usize) -> usize {
        let mut signs = self.text[at..limit].chars();
        let Some((sign, number)) = signs.next().and_then(|c| Some((c, forms::circled(c)?))) else {
            return at + 2;
        };
        let end = at + sign.len_utf8();
        if !self.is_on(Family::Raised) || !self.is_note(at, signs.next()) {
            return end;
        }
        self.push(at..end, ParsedCitation::number(Form::CircledNumber, number))
    }

    /// Returns whether a circled number is a note to the text before it, not the number of a list item.
    fn is_note(&self, at: usize, after: Option<char>) -> bool {
        if self.taken() == at && self.found.last().is_some_and(is_circled) {
            return true;
        }
        let Some(before) = self.text[..at].chars().next_back() else {
            return false;
        };
        let ends = after.is_none_or(|c| {
            c == '\n'
                || c == '\r'
                || matches!(
                    c,
                    '.' | ',' | ';' | '。' | '，' | '；' | '！' | '？' | ')' | '）'
                )
        });
        let goes_on = after.is_some_and(|c| c.is_whitespace() || forms::circled(c).is_some());
        match before {
            ' ' => ends,
            ':' | '：' | ';' | '；' | ',' | '，' | '、' | '(' | '（' | '\n' | '\t' => false,
            // Within a sentence it is a note only if spaces separate words. Elsewhere it numbers the parts of a
            // title.
            _ => ends || goes_on && before.is_ascii(),
        }
    }

    /// Reads the superscript at `at`. Returns the position to continue at.
    pub(super) fn superscript(&mut self, at: usize, limit: usize) -> usize {
        let rest = &self.text[at..limit];
        let separates = |c: char| matches!(c, ',' | '˒' | '⁻');
        let length = rest
            .find(|c| forms::raised(c).is_none() && !separates(c))
            .unwrap_or(rest.len());
        let run = rest[..length].trim_end_matches(',');
        let end = at + run.len();
        let next = at + length.max(2);
        if run.len() > MAX_RUN || !self.is_on(Family::Raised) || !self.may_carry_note(at) {
            return next;
        }
        // A charge or an exponent continues: `Ca²⁺`, `xⁿ`.
        let follows = self.text[end..limit].chars().next();
        if follows
            .is_some_and(|c| c.is_alphanumeric() || matches!(c, '⁺' | '⁻' | '⁼' | '⁽' | 'ⁿ' | '/'))
        {
            return next;
        }
        match numbers(run) {
            Some(read) => self.push(at..end, read),
            None => next,
        }
    }

    /// Returns whether a superscript may be a note: it follows a long enough word, or the end of a sentence or
    /// quotation.
    fn may_carry_note(&self, at: usize) -> bool {
        let before = &self.text[..at];
        let Some(last) = before.chars().next_back() else {
            return false;
        };
        if matches!(
            last,
            '.' | ',' | ';' | '!' | '?' | '。' | '，' | '！' | '？' | '"' | '”' | '»' | '」' | '’'
        ) {
            let mut earlier = before.chars().rev().skip(1);
            return earlier
                .next()
                .is_some_and(|c| !c.is_ascii_digit() && !c.is_whitespace());
        }
        let longest = SQUARED.iter().map(|word| word.len()).max().unwrap_or(0) + 1;
        let letters = before
            .chars()
            .rev()
            .take(longest)
            .take_while(|c| c.is_alphabetic() && c.is_ascii() == last.is_ascii());
        let word: String = letters.collect();
        let forward: String = word.chars().rev().collect::<String>().to_lowercase();
        forward.chars().count() >= SHORTEST_WORD && !SQUARED.contains(&forward.as_str())
    }
}

fn is_circled(found: &super::found::FoundCitation) -> bool {
    found.parsed.form == Form::CircledNumber
}

/// Parses the numbers of a run: `¹²`, `¹,²`, `¹⁻³`.
fn numbers(run: &str) -> Option<ParsedCitation> {
    let mut found = ParsedCitation::new(Form::Superscript);
    for item in run.split([',', '˒']) {
        let (first, last) = match item.split_once('⁻') {
            Some((first, last)) => (number(first)?, number(last)?),
            None => (number(item)?, number(item)?),
        };
        if last < first || last - first > 64 {
            return None;
        }
        for number in first..=last {
            found.references.push(Reference::Ordinal {
                number,
                at: Position::default(),
            });
        }
    }
    Some(found)
}

fn number(digits: &str) -> Option<u32> {
    if digits.is_empty() || digits.chars().count() > 3 || digits.starts_with('⁰') {
        return None;
    }
    digits
        .chars()
        .try_fold(0, |sum, c| Some(sum * 10 + forms::raised(c)?))
}
