//! Lists of markers or numbers: `A1`, `A1, B2`, `A1-A3`, `1, 4-6`, `A1, p. 12`.

use super::{cursor::Cursor, position};
use crate::citation::ParsedCitation;
use crate::reading::bracket_numbers::BracketNumbers;
use crate::{Form, Malformed, Position, Reference};

/// Longest range that is expanded. No context has more sources.
const MAX_RANGE: u32 = 64;
/// Largest number of letters of a marker: ZZZ is the 18,278th document of a conversation.
const MAX_LETTERS: usize = 3;
/// Largest number of digits of a marker.
const MAX_DIGITS: usize = 5;

/// Parses a list of markers and nothing else. A text that is clearly meant as one is malformed.
pub(super) fn markers(text: &str) -> Option<ParsedCitation> {
    if is_hyphenated(text) {
        return Some(ParsedCitation::malformed(
            Form::Marker,
            Malformed::BadMarker,
        ));
    }
    let mut cursor = Cursor::new(text);
    let mut found = ParsedCitation::new(Form::Marker);
    loop {
        let Some(first) = marker(&mut cursor) else {
            return unfinished(&found);
        };
        found.repaired |= first.repaired;
        let last = match range_end(&mut cursor, Some(first.letters), MAX_DIGITS) {
            Some(last) => last,
            None => first.number,
        };
        let range = match expanded(first.number, last) {
            Ok(range) => range,
            Err(why) => return Some(ParsedCitation::malformed(Form::Marker, why)),
        };
        let claimed = claimed_position(&mut cursor);
        let letters = first.letters.to_ascii_uppercase();
        push(&mut found, range, &claimed, |number, at| {
            Reference::Marker {
                marker: format!("{letters}{number}"),
                name: None,
                at,
            }
        });
        match separator(&mut cursor) {
            Separator::End => return Some(found),
            Separator::Trailing => {
                return Some(ParsedCitation::malformed(
                    Form::Marker,
                    Malformed::TrailingSeparator,
                ));
            }
            // `[A1 A3]` is a list, `[a1 is best]` is prose.
            Separator::Space if first.lower => return None,
            Separator::Space | Separator::Sign => {}
            Separator::None => return unfinished(&found),
        }
        if matches!(cursor.rest().chars().next(), Some(c) if !c.is_ascii_alphabetic()) {
            return unfinished(&found);
        }
    }
}

/// Parses a list of numbers and nothing else.
pub(super) fn ordinals(text: &str, numbers: &BracketNumbers) -> Option<ParsedCitation> {
    of_numbers(text, Form::Number, numbers)
}

/// Parses a list of numbers of a form and nothing else.
pub(super) fn counted(text: &str, form: Form) -> Option<ParsedCitation> {
    of_numbers(text, form, &BracketNumbers::default())
}

fn of_numbers(text: &str, form: Form, numbers: &BracketNumbers) -> Option<ParsedCitation> {
    // A Markdown writer may escape the bracket: `\[4\]`.
    let mut cursor = Cursor::new(text.strip_suffix('\\').unwrap_or(text));
    let mut found = ParsedCitation::new(form);
    loop {
        // A number with leading zeros is part of a larger one.
        let first = cursor.number(numbers.digits())?;
        let last = range_end(&mut cursor, None, numbers.digits()).unwrap_or(first.value);
        if first.has_leading_zero() || !numbers.read(first.value) || !numbers.read(last) {
            return None;
        }
        let claimed = claimed_position(&mut cursor);
        // `[12:45]` is a time, `[24/7]` a fraction.
        let sign = cursor.rest().trim_start().chars().next();
        if matches!(sign, Some(':' | '/' | '|')) {
            return None;
        }
        let follows = separator(&mut cursor);
        match expanded(first.value, last) {
            Ok(range) => {
                let form = found.form.clone();
                push(&mut found, range, &claimed, |written, at| {
                    Reference::Ordinal {
                        number: form.counted_from_one(written),
                        at,
                    }
                });
            }
            Err(why) if matches!(follows, Separator::End) => {
                return Some(ParsedCitation::malformed(found.form, why));
            }
            Err(_) => return None,
        }
        match follows {
            Separator::End => return Some(found),
            Separator::Sign => {}
            // Numbers with only spaces between them are a matrix row.
            Separator::Space | Separator::Trailing | Separator::None => return None,
        }
    }
}

/// Returns the length in bytes of a marker after an open bracket without a closing one.
pub(crate) fn unclosed_marker(text: &str) -> Option<usize> {
    let letters = text.find(|c: char| !c.is_ascii_uppercase())?;
    // Several letters are usually the key of a bibliography: `[VV85, local search [Sch99`.
    if letters != 1 {
        return None;
    }
    let digits = text[letters..]
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len() - letters);
    let end = letters + digits;
    let follows = text[end..].chars().next();
    let stands_alone = !follows.is_some_and(|c| c.is_alphanumeric() || c == '-' || c == '_');
    (digits > 0 && digits <= 3 && stands_alone).then_some(end)
}

struct Marker<'a> {
    letters: &'a str,
    number: u32,
    lower: bool,
    repaired: bool,
}

fn marker<'a>(cursor: &mut Cursor<'a>) -> Option<Marker<'a>> {
    let mut ahead = *cursor;
    let letters = ahead.take_while(|c| c.is_ascii_alphabetic());
    let lower = letters.chars().all(|c| c.is_ascii_lowercase());
    let upper = letters.chars().all(|c| c.is_ascii_uppercase());
    // Lower-case text in brackets is usually a word, so lower-case markers must be shorter.
    let most = if lower { MAX_LETTERS - 1 } else { MAX_LETTERS };
    if letters.is_empty() || letters.len() > most || !(lower || upper) {
        return None;
    }
    // `[A 1]` is a misspelled marker, `[EU 27]` and `[in 2019]` are not.
    let spaced = ahead.spaces();
    if spaced && letters.len() > 1 {
        return None;
    }
    let number = ahead.number(if lower { 3 } else { MAX_DIGITS })?;
    // `[E41AC2D]` is an id of another system.
    if ahead.rest().starts_with(char::is_alphanumeric) {
        return None;
    }
    *cursor = ahead;
    Some(Marker {
        letters,
        number: number.value,
        lower,
        repaired: lower || spaced || number.has_leading_zero(),
    })
}

/// Reads the number after a dash. The letters of a marker may be repeated, but must be equal.
fn range_end(cursor: &mut Cursor<'_>, letters: Option<&str>, digits: usize) -> Option<u32> {
    let mut ahead = *cursor;
    ahead.spaces();
    ahead.one_of(&['-'])?;
    ahead.spaces();
    if let Some(letters) = letters {
        let mut again = ahead;
        if again.take_while(|c| c.is_ascii_alphabetic()) == letters {
            ahead = again;
        }
    }
    let last = ahead.number(digits)?;
    *cursor = ahead;
    Some(last.value)
}

pub(super) fn expanded(first: u32, last: u32) -> Result<std::ops::RangeInclusive<u32>, Malformed> {
    if last < first {
        Err(Malformed::DescendingRange)
    } else if last - first >= MAX_RANGE {
        Err(Malformed::RangeTooLong)
    } else {
        Ok(first..=last)
    }
}

fn claimed_position(cursor: &mut Cursor<'_>) -> Vec<Position> {
    let mut ahead = *cursor;
    ahead.spaces();
    ahead.one_of(&[',', ':']);
    ahead.spaces();
    match position::read(&mut ahead) {
        Some(claimed) => {
            *cursor = ahead;
            claimed
        }
        None => Vec::new(),
    }
}

/// Adds one reference for each number and each position.
fn push(
    found: &mut ParsedCitation,
    numbers: std::ops::RangeInclusive<u32>,
    claimed: &[Position],
    reference: impl Fn(u32, Position) -> Reference,
) {
    for number in numbers {
        if claimed.is_empty() {
            found
                .references
                .push(reference(number, Position::default()));
        }
        for &at in claimed {
            found.references.push(reference(number, at));
        }
    }
}

enum Separator {
    /// The end of the text.
    End,
    /// A separator, and text after it.
    Sign,
    /// A separator at the end of the text.
    Trailing,
    /// White space only.
    Space,
    /// Any other text.
    None,
}

fn separator(cursor: &mut Cursor<'_>) -> Separator {
    let spaced = cursor.spaces();
    if cursor.at_end() {
        return Separator::End;
    }
    let sign = cursor.one_of(&[',', ';', '&', '/', '|', ':']).is_some();
    cursor.spaces();
    let word = cursor.joining_word();
    cursor.spaces();
    match (sign || word, cursor.at_end()) {
        (true, true) => Separator::Trailing,
        (true, false) => Separator::Sign,
        (false, _) if spaced => Separator::Space,
        (false, _) => Separator::None,
    }
}

/// A list that is cut off after its first item is malformed, if that item is spelled like a marker.
fn unfinished(found: &ParsedCitation) -> Option<ParsedCitation> {
    (!found.references.is_empty() && !found.repaired)
        .then(|| ParsedCitation::malformed(Form::Marker, Malformed::UnexpectedText))
}

fn is_hyphenated(text: &str) -> bool {
    text.split_once('-').is_some_and(|(letters, digits)| {
        matches!(letters.len(), 1..=2)
            && letters.bytes().all(|b| b.is_ascii_uppercase())
            && matches!(digits.len(), 1..=3)
            && digits.bytes().all(|b| b.is_ascii_digit())
    })
}
