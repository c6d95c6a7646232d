//! Finds the tokens of a text that need no parser.
//!
//! PostgreSQL's default parser looks for addresses, file names, numbers and markup at each character. Most words have none of these
//! around them: runs of ASCII letters or digits between blanks and common punctuation. The parser returns each such run as it is, so
//! only the rest of a text is parsed. A part for the parser begins where a token has ended, and ends after a blank. A blank ends every
//! token but markup, so the parser returns the same tokens for the parts as for the whole text. A text with `<` or `://` is one part.

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// A token of ASCII letters.
    Word(&'a str),
    /// A token of digits.
    Number(&'a str),
    /// Text for the parser.
    Other(&'a str),
}

/// Returns the parts of a text in order, without the blanks and the punctuation between them. Together they have the tokens that
/// PostgreSQL's default parser returns for the text, blanks excepted.
pub fn parts(text: &str) -> impl Iterator<Item = Part<'_>> {
    // Markup reaches over blanks, and a protocol changes how the next token is read.
    let whole = text.contains('<') || text.contains("://");
    let mut at = 0;
    std::iter::from_fn(move || {
        if whole {
            let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
            at = text.len();
            return Some(Part::Other(rest));
        }
        let start = after_separators(text, at);
        if start == text.len() {
            return None;
        }
        if let Some(part) = plain(text, start) {
            at = start + length(part);
            return Some(part);
        }
        let end = end_of_other(text, start);
        let other = text.get(at..end)?;
        at = end;
        Some(Part::Other(other))
    })
}

/// The end of a part for the parser that has the byte at `at`: after a blank that a plain token follows, or at the end of the text.
fn end_of_other(text: &str, mut at: usize) -> usize {
    while let Some(rest) = text.as_bytes().get(at..) {
        let Some(blank) = rest.iter().position(|byte| is_blank(*byte)) else {
            break;
        };
        let blank = at + blank;
        let next = after_separators(text, blank);
        if plain(text, next).is_some() {
            return blank + 1;
        }
        // The blanks up to there have the same next token. Trying each would take quadratic time.
        at = next.max(blank + 1);
    }
    text.len()
}

fn length(part: Part<'_>) -> usize {
    match part {
        Part::Word(token) | Part::Number(token) | Part::Other(token) => token.len(),
    }
}

/// The plain token that begins at `start`, which follows a separator, a token, or nothing.
fn plain(text: &str, start: usize) -> Option<Part<'_>> {
    let rest = text.as_bytes().get(start..)?;
    let run = |belongs: fn(&u8) -> bool| {
        let length = rest.iter().take_while(|byte| belongs(byte)).count();
        let end = start + length;
        let is_token = length > 0 && (end == text.len() || is_separator(text.as_bytes(), end));
        text.get(start..end).filter(|_| is_token)
    };
    let word = run(u8::is_ascii_alphabetic).map(Part::Word);
    word.or_else(|| run(u8::is_ascii_digit).map(Part::Number))
}

/// The first position from `at` on that has no separator.
fn after_separators(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    (at..bytes.len())
        .find(|&at| !is_separator(bytes, at))
        .unwrap_or(bytes.len())
}

/// Whether the byte at a position ends every word or number before it, and begins no token. A full stop or a colon does so if no token
/// can follow it directly.
fn is_separator(bytes: &[u8], at: usize) -> bool {
    match bytes.get(at) {
        Some(b'.' | b':') => bytes.get(at + 1).is_none_or(|&next| ends_token(next)),
        Some(&byte) => ends_token(byte),
        None => false,
    }
}

fn ends_token(byte: u8) -> bool {
    is_blank(byte) || b",;!?()[]{}\"'%$*=|".contains(&byte)
}

fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Part::{Number, Other, Word};
    use super::*;

    fn of(text: &str) -> Vec<Part<'_>> {
        parts(text).collect()
    }

    #[test]
    fn words_and_numbers_between_blanks_and_punctuation_are_plain() {
        assert_eq!(
            of("In 1998, the (red) fox's den: \"closed\"."),
            [
                Word("In"),
                Number("1998"),
                Word("the"),
                Word("red"),
                Word("fox"),
                Word("s"),
                Word("den"),
                Word("closed"),
            ]
        );
        assert_eq!(of(""), []);
        assert_eq!(of(" .\n"), []);
    }

    #[test]
    fn the_rest_begins_after_a_token_and_ends_after_a_blank() {
        assert_eq!(
            of("see a.b/c or x-y 3.5 kg"),
            [
                Word("see"),
                Other(" a.b/c "),
                Word("or"),
                Other(" x-y 3.5 "),
                Word("kg"),
            ]
        );
        assert_eq!(of("naïve idea"), [Other("naïve "), Word("idea")]);
        assert_eq!(of("an .5"), [Word("an"), Other(" .5")]);
        assert_eq!(of("end.of"), [Other("end.of")]);
        assert_eq!(of("wait... no"), [Other("wait... "), Word("no")]);
    }

    #[test]
    fn a_text_with_markup_or_a_protocol_is_parsed_as_a_whole() {
        assert_eq!(of("a <b c> d"), [Other("a <b c> d")]);
        assert_eq!(of("a http://b c"), [Other("a http://b c")]);
    }

    proptest! {
        /// The parts are in the text in order, and only separators are left out.
        #[test]
        fn only_separators_are_left_out(text in "([a-z0-9.:,'/@<&_é-]{0,6} ?){0,8}") {
            let mut at = 0;
            for part in parts(&text) {
                if !matches!(part, Other(_)) {
                    at = after_separators(&text, at);
                }
                let (Word(token) | Number(token) | Other(token)) = part;
                prop_assert!(text[at..].starts_with(token));
                at += token.len();
            }
            prop_assert_eq!(after_separators(&text, at), text.len());
        }
    }
}
