//! Numbers after a label: `ID:3`, `citation:1`, `web:1, web:2`, `cite: 1, 2`, `doc1`, `ref3`, `Source 1`.

use super::{cursor::Cursor, list::expanded};
use crate::citation::ParsedCitation;
use crate::{Form, Malformed, Position, Reference};

/// Largest number of items of a list in prose, which no bracket limits.
const MOST: usize = 64;

/// The separator of a label and its number.
#[derive(Clone, Copy, PartialEq)]
enum LabelSeparator {
    Colon,
    /// Nothing, or a space.
    Close,
    Space,
}

/// Labels in lower case, their separators and forms.
static LABELS: [(&str, LabelSeparator, Form); 15] = [
    ("id", LabelSeparator::Colon, Form::RagflowId),
    ("ref", LabelSeparator::Close, Form::RagflowRef),
    ("cite", LabelSeparator::Colon, Form::GeminiCite),
    ("citation", LabelSeparator::Colon, Form::LabelledNumber),
    ("web", LabelSeparator::Colon, Form::LabelledNumber),
    ("attached_file", LabelSeparator::Colon, Form::LabelledNumber),
    ("file", LabelSeparator::Colon, Form::LabelledNumber),
    ("source", LabelSeparator::Colon, Form::LabelledNumber),
    ("sources", LabelSeparator::Colon, Form::LabelledNumber),
    ("doc", LabelSeparator::Colon, Form::LabelledNumber),
    ("document", LabelSeparator::Colon, Form::LabelledNumber),
    ("doc", LabelSeparator::Close, Form::DocNumber),
    ("document", LabelSeparator::Space, Form::DocNumber),
    ("source", LabelSeparator::Space, Form::SourceNumber),
    ("sources", LabelSeparator::Space, Form::SourceNumber),
];

/// Parses a list of numbers after one label and nothing else. The label may be repeated before each number.
pub(super) fn read(text: &str) -> Option<ParsedCitation> {
    if !text.as_bytes().first().is_some_and(u8::is_ascii_alphabetic) {
        return None;
    }
    let mut cursor = Cursor::new(text);
    let (word, separator, form) = label(&mut cursor)?;
    let mut found = ParsedCitation::new(form);
    loop {
        if let Err(why) = number(&mut cursor, &mut found)? {
            return cursor
                .at_end()
                .then(|| ParsedCitation::malformed(found.form, why));
        }
        let spaced = cursor.spaces();
        if cursor.at_end() {
            return Some(found);
        }
        let sign = cursor.one_of(&[',', ';', '&', '/']).is_some();
        cursor.spaces();
        let joined = cursor.joining_word();
        if !(sign || spaced && joined) {
            return None;
        }
        cursor.spaces();
        let mut again = cursor;
        if again.word_before_digit(word) && again.separator(separator) {
            cursor = again;
        }
    }
}

/// Parses `ref3` as a word in prose. Returns its length in bytes.
pub(crate) fn refs(text: &str) -> Option<(usize, ParsedCitation)> {
    let mut cursor = Cursor::new(text);
    let number = cursor.number(3).filter(|n| !n.has_leading_zero())?;
    let ends = ends_word(cursor.rest());
    ends.then(|| {
        let inside = ParsedCitation::number(Form::RagflowRef, number.value);
        (text.len() - cursor.rest().len(), inside)
    })
}

/// Parses the numbers after `Source ` or `Sources ` in prose. Returns their length in bytes.
pub(crate) fn source_numbers(text: &str, several: bool) -> Option<(usize, ParsedCitation)> {
    let mut cursor = Cursor::new(text);
    let mut found = ParsedCitation::new(Form::SourceNumber);
    number(&mut cursor, &mut found)?.ok()?;
    while several && found.references.len() < MOST {
        let mut ahead = cursor;
        let sign = ahead.one_of(&[',', '&']).is_some();
        let spaced = ahead.spaces();
        let joined = ahead.joining_word() || ahead.one_of(&['&']).is_some();
        ahead.spaces();
        if !(sign || spaced && joined) || !matches!(number(&mut ahead, &mut found), Some(Ok(()))) {
            break;
        }
        cursor = ahead;
    }
    ends_word(cursor.rest()).then(|| (text.len() - cursor.rest().len(), found))
}

/// Returns whether a number ends here. It continues in `2.0`, `3rd`, `4-fold`, `5%` and `10,000`.
fn ends_word(rest: &str) -> bool {
    let mut follows = rest.chars();
    match follows.next() {
        None => true,
        Some('.' | ',' | ':') => !follows.next().is_some_and(|c| c.is_ascii_digit()),
        Some(c) => !c.is_alphanumeric() && !matches!(c, '-' | '_' | '%' | '/' | '(' | '['),
    }
}

fn label<'a>(cursor: &mut Cursor<'a>) -> Option<(&'a str, LabelSeparator, Form)> {
    let mut word = *cursor;
    let spelled = word.take_while(|c| c.is_ascii_alphabetic() || c == '_');
    LABELS.iter().find_map(|(label, separator, form)| {
        let mut ahead = word;
        if !spelled.eq_ignore_ascii_case(label) || !ahead.separator(*separator) {
            return None;
        }
        *cursor = ahead;
        Some((spelled, *separator, form.clone()))
    })
}

/// Reads a number or a range.
fn number(cursor: &mut Cursor<'_>, found: &mut ParsedCitation) -> Option<Result<(), Malformed>> {
    let mut ahead = *cursor;
    let first = ahead.number(4).filter(|n| !n.has_leading_zero())?;
    let mut last = first.value;
    let mut range = ahead;
    range.spaces();
    if range.one_of(&['-']).is_some() {
        range.spaces();
        if let Some(end) = range.number(4) {
            last = end.value;
            ahead = range;
        }
    }
    *cursor = ahead;
    let numbers = match expanded(first.value, last) {
        Ok(numbers) => numbers,
        Err(why) => return Some(Err(why)),
    };
    for number in numbers {
        let number = found.form.counted_from_one(number);
        found.references.push(Reference::Ordinal {
            number,
            at: Position::default(),
        });
    }
    Some(Ok(()))
}

impl Cursor<'_> {
    fn separator(&mut self, separator: LabelSeparator) -> bool {
        let spaced = self.spaces();
        match separator {
            LabelSeparator::Space => spaced && self.begins_with_digit(),
            LabelSeparator::Close => self.begins_with_digit(),
            LabelSeparator::Colon => {
                let colon = self.one_of(&[':']).is_some();
                self.spaces();
                colon && self.begins_with_digit()
            }
        }
    }

    fn begins_with_digit(&self) -> bool {
        self.rest()
            .as_bytes()
            .first()
            .is_some_and(u8::is_ascii_digit)
    }

    fn word_before_digit(&mut self, word: &str) -> bool {
        self.take_while(|c| c.is_ascii_alphabetic() || c == '_')
            .eq_ignore_ascii_case(word)
    }
}
