//! Pre-tokenisation: text → pieces, inside which alone bytes merge.

use std::sync::LazyLock;

use regex::Regex;

/// The published o200k_base pattern without `\s+(?!\S)`, the only alternative that looks ahead; [`pieces`] makes up
/// for it. The last alternative therefore stands for both.
static PIECE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"|\p{N}{1,3}",
        r"| ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"|\s*[\r\n]+",
        r"|\s+",
    ))
    .ok()
});

/// The pieces of a text in order; together they are the text.
///
/// The pattern finds a piece in one go, however long: 10 MB of one letter take it a tenth of a second, during which no interrupt is checked.
pub fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        // The pattern matches at the start of any text: every character is a letter, a mark, a number, white space or
        // something else. So the length is never 0, and the fallback serves only to make that plain to the reader.
        let length = match PIECE.as_ref().and_then(|pattern| pattern.find(rest)) {
            Some(piece) => before_word(piece.as_str(), &rest[piece.end()..]),
            None => rest.len(),
        };
        let (piece, after) = rest.split_at(length);
        rest = after;
        Some(piece)
    })
}

/// Length in bytes of a match once `\s+(?!\S)` has had its say: a run of white space before a word leaves its last
/// character to the word.
///
/// Only that alternative and `\s+` end in white space other than a line break, and as they are greedy, what follows
/// is never white space.
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
