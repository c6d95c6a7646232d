//! Pre-tokenisation: splits a text into pieces. Bytes merge only within a piece.

use std::sync::LazyLock;

use regex::Regex;

/// The published o200k_base pattern without its alternative `\s+(?!\S)`, which needs look-ahead. [`pieces`] handles that
/// alternative, so the last one here stands for both.
static PIECE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"^(?:",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"|\p{N}{1,3}",
        r"| ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"|\s*[\r\n]+",
        r"|\s+)",
    ))
    .ok()
});

/// Returns the pieces of a text in order. Their concatenation is the text.
///
/// The pattern finds each piece in one call, during which no interrupt is checked. A piece of 10 MB takes a tenth of a second.
pub fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        // The pattern matches at the start of any text, because every character is a letter, a mark, a number, white space or
        // something else. So the length is never 0, and the fallback is never used.
        let length = match PIECE.as_ref().and_then(|pattern| pattern.find(rest)) {
            Some(piece) => before_word(piece.as_str(), &rest[piece.end()..]),
            None => rest.len(),
        };
        let (piece, after) = rest.split_at(length);
        rest = after;
        Some(piece)
    })
}

/// Returns the length of a match in bytes, after applying `\s+(?!\S)`: white space before a word leaves its last character to
/// the word.
///
/// Only that alternative and `\s+` end in white space other than a line break. They are greedy, so the text after a match
/// never starts with white space.
fn before_word(piece: &str, after: &str) -> usize {
    match piece.chars().next_back() {
        Some(last)
            if last.is_whitespace()
                && last != '\r'
                && last != '\n'
                && !after.is_empty()
                && piece.len() > last.len_utf8() =>
        {
            piece.len() - last.len_utf8()
        }
        _ => piece.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_leaves_its_last_character_to_the_word() {
        let split = |text| pieces(text).collect::<Vec<_>>();
        assert_eq!(split("a   b"), ["a", "  ", " b"]);
        assert_eq!(split("a \t\n  b"), ["a", " \t\n", " ", " b"]);
        assert_eq!(split("a  "), ["a", "  "]);
        assert_eq!(split("\t1"), ["\t", "1"]);
    }
}
