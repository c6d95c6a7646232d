//! Splits a text into words, numbers, and pairs of characters in scripts without spaces. The server's parser is not
//! used, because it returns no offsets, treats a Chinese phrase as one word and splits `1,000`.

use reground_interrupt::Steps;
use std::ops::Range;

/// The kind of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A word, or a part of one before or after an apostrophe.
    Word,
    /// Digits with points and commas between them.
    Number,
    /// Two neighbouring characters of a script without spaces, or a single one.
    Unspaced,
}

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub kind: Kind,
    pub bytes: Range<usize>,
    pub chars: Range<usize>,
    /// Whether it begins a sentence or a line, where a capital has no meaning.
    pub opens: bool,
    /// Whether an apostrophe joins it to the previous piece.
    pub joined: bool,
}

/// Returns whether a character belongs to a script without spaces between words: Chinese, Japanese, Thai, Lao, Khmer,
/// Burmese.
pub(crate) fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x3005..=0x3007 | 0x3040..=0x30FF | 0x31F0..=0x31FF
        | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

/// Returns the pieces of a text, in order, in linear time.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = Piece> {
    let mut rest = text.chars().peekable();
    let (mut byte, mut char) = (0, 0);
    let (mut opens, mut joined) = (true, false);
    let mut pair: Option<char> = None;
    let mut steps = Steps::default();
    std::iter::from_fn(move || {
        while let Some(c) = rest.next() {
            steps.step();
            let start = (byte, char);
            byte += c.len_utf8();
            char += 1;
            let run = Run::of(c);
            if run == Run::Other {
                opens |= matches!(c, '.' | '!' | '?' | '\n' | '。' | '！' | '？');
                joined = is_apostrophe(c) && !joined && start.0 > 0;
                pair = None;
                continue;
            }
            if run == Run::Unspaced {
                let first = pair.replace(c);
                let next = rest.peek().is_some_and(|next| Run::of(*next) == run);
                let (bytes, chars) = match first {
                    Some(first) => (start.0 - first.len_utf8()..byte, start.1 - 1..char),
                    // A pair begins at the second character.
                    None if next => continue,
                    None => (start.0..byte, start.1..char),
                };
                let kind = Kind::Unspaced;
                return Some(Piece {
                    kind,
                    bytes,
                    chars,
                    opens: std::mem::take(&mut opens),
                    joined: false,
                });
            }
            pair = None;
            let letters = c.is_alphabetic();
            let mut last = c;
            while let Some(&next) = rest.peek() {
                // `15th` and `10km` are a number and a word.
                let goes_on = match Run::of(next) {
                    Run::Word => letters || !next.is_alphabetic(),
                    _ if letters || !matches!(next, '.' | ',') || !last.is_ascii_digit() => false,
                    _ => rest.clone().nth(1).is_some_and(|c| c.is_ascii_digit()),
                };
                if !goes_on {
                    break;
                }
                steps.step();
                last = next;
                byte += next.len_utf8();
                char += 1;
                rest.next();
            }
            return Some(Piece {
                kind: if letters { Kind::Word } else { Kind::Number },
                bytes: start.0..byte,
                chars: start.1..char,
                opens: std::mem::take(&mut opens),
                joined: std::mem::take(&mut joined),
            });
        }
        None
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Run {
    Word,
    Unspaced,
    Other,
}

impl Run {
    fn of(c: char) -> Self {
        match c {
            _ if !c.is_alphanumeric() => Self::Other,
            _ if is_unspaced(c) => Self::Unspaced,
            _ => Self::Word,
        }
    }
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’' | 'ʼ')
}

#[cfg(test)]
mod tests {
    use super::{Kind, pieces};
    use proptest::prelude::*;

    fn cut(text: &str) -> Vec<&str> {
        pieces(text).map(|piece| &text[piece.bytes]).collect()
    }

    #[test]
    fn words_numbers_and_pairs() {
        assert_eq!(
            cut("In 1,234.5 days, Smith's v2 (2019-2020)."),
            ["In", "1,234.5", "days", "Smith", "s", "v2", "2019", "2020"]
        );
        assert_eq!(
            cut("2022年6月的会议"),
            ["2022", "年", "6", "月的", "的会", "会议"]
        );
        assert_eq!(
            cut("1. Don't run 10km"),
            ["1", "Don", "t", "run", "10", "km"]
        );
    }

    #[test]
    fn sentence_starts_and_joined_pieces() {
        let text = "He met Ada. She left";
        let opens: Vec<&str> = pieces(text)
            .filter(|piece| piece.opens)
            .map(|piece| &text[piece.bytes])
            .collect();
        assert_eq!(opens, ["He", "She"]);
        let joined: Vec<bool> = pieces("Don't go").map(|piece| piece.joined).collect();
        assert_eq!(joined, [false, true, false]);
    }

    proptest! {
        #[test]
        fn pieces_cover_all_letters_with_correct_offsets(text in "(\\PC|[a-z1,.' 的一\n]){0,60}") {
            let mut covered = vec![false; text.len()];
            let mut last = 0;
            for piece in pieces(&text) {
                let before = text[..piece.bytes.start].chars().count();
                let within = text[piece.bytes.clone()].chars().count();
                prop_assert_eq!(piece.chars, before..before + within);
                prop_assert!(last <= piece.bytes.start);
                last = piece.bytes.start;
                prop_assert!(piece.kind != Kind::Unspaced || within <= 2);
                covered[piece.bytes].fill(true);
            }
            for (at, c) in text.char_indices() {
                prop_assert!(covered[at] || !c.is_alphanumeric(), "{c:?} at {at}");
            }
        }
    }
}
