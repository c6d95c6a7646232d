//! Author and year: `Smith et al., 2020`, `Smith & Jones, 2019b; van der Berg, 2021, p. 4`.
//!
//! These citations are reported but never resolved, because no document id can be derived from a surname.

use super::{cursor::Cursor, position};
use crate::citation::ParsedCitation;
use crate::{Form, Reference};

/// Words before a citation that are not part of it.
const LEADS: [&str; 6] = ["see also", "see", "e.g.,", "e.g.", "cf.", "i.e.,"];
/// Small words inside surnames.
const PARTICLES: [&str; 17] = [
    "van", "von", "der", "den", "de", "del", "della", "di", "da", "dos", "du", "la", "le", "el",
    "al", "bin", "ter",
];
/// Capitalised words before a year that are not authors.
const DATES: [&str; 16] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "spring",
    "summer",
    "autumn",
    "winter",
];
/// Largest number of authors. Longer lists are printed as `et al.`.
const MAX_AUTHORS: usize = 8;

/// Parses a list of author–year citations and nothing else.
pub(super) fn read(text: &str) -> Option<ParsedCitation> {
    // Every such citation contains a digit. This skips most brackets.
    text.bytes().any(|b| b.is_ascii_digit()).then_some(())?;
    let references = text
        .split(';')
        .map(|part| one(part.trim()))
        .collect::<Option<Vec<_>>>()?;
    Some(ParsedCitation {
        references,
        ..ParsedCitation::new(Form::AuthorYear)
    })
}

fn one(part: &str) -> Option<Reference> {
    let text = LEADS
        .iter()
        .find_map(|lead| part.strip_prefix(lead).filter(|rest| rest.starts_with(' ')))
        .unwrap_or(part)
        .trim();
    let mut cursor = Cursor::new(text);
    let several = authors(&mut cursor)?;
    let comma = cursor.one_of(&[',']).is_some();
    // `(Paris 2020)` is a place. With a single name the comma is required.
    if !cursor.spaces() || !(comma || several) {
        return None;
    }
    year(&mut cursor)?;
    while cursor.one_of(&[',', ':']).is_some() {
        cursor.spaces();
        year(&mut cursor).or_else(|| position::read(&mut cursor).map(|_| ()))?;
    }
    cursor
        .at_end()
        .then(|| Reference::AuthorYear(text.to_owned()))
}

/// Reads the authors and returns whether there are several.
fn authors(cursor: &mut Cursor<'_>) -> Option<bool> {
    name(cursor)?;
    for count in 1..MAX_AUTHORS {
        let mut ahead = *cursor;
        let comma = ahead.one_of(&[',']).is_some();
        let spaced = ahead.spaces();
        let mut et_al = ahead;
        if et_al.word("et") && et_al.spaces() && et_al.word("al") {
            et_al.one_of(&['.']);
            *cursor = et_al;
            return Some(true);
        }
        let joined = spaced && (ahead.one_of(&['&']).is_some() || ahead.word("and"));
        ahead.spaces();
        if !(comma || joined) || name(&mut ahead).is_none() {
            return Some(count > 1);
        }
        *cursor = ahead;
    }
    Some(true)
}

fn name(cursor: &mut Cursor<'_>) -> Option<()> {
    let mut ahead = *cursor;
    while ahead.one_word_of(&PARTICLES) {
        ahead.spaces();
    }
    // Initials before the surname.
    loop {
        let mut initial = ahead;
        let letter = initial.take_while(char::is_uppercase);
        if letter.chars().count() != 1 || initial.one_of(&['.']).is_none() {
            break;
        }
        initial.spaces();
        ahead = initial;
    }
    let surname = ahead.take_while(|c| c.is_alphabetic() || matches!(c, '-' | '\'' | '’'));
    let first = surname.chars().next()?;
    if !first.is_uppercase() || surname.chars().count() < 2 {
        return None;
    }
    if DATES.iter().any(|date| surname.eq_ignore_ascii_case(date)) {
        return None;
    }
    *cursor = ahead;
    Some(())
}

fn year(cursor: &mut Cursor<'_>) -> Option<()> {
    let mut ahead = *cursor;
    let number = ahead.number(4)?;
    if !(1500..2200).contains(&number.value) {
        return None;
    }
    let letter = ahead.take_while(|c| c.is_ascii_lowercase());
    if letter.len() > 1 {
        return None;
    }
    *cursor = ahead;
    Some(())
}
