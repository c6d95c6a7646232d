//! Tokens of text in scripts that are written without spaces, for use without a dictionary of words.
//!
//! A run of Chinese, Japanese, Thai or a similar script is cut into overlapping pairs of characters. Two texts that share
//! words also share pairs. Korean has spaces, but particles are attached to its words, so it is cut into pairs too. Everything
//! else is cut into words of letters and digits.

use std::ops::Range;

use reground_interrupt::Steps;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Letters and digits of a script with spaces.
    Word,
    /// Two neighbouring characters of a script without spaces, or a single such character that stands alone.
    Pair,
}

/// Returns whether the script of a character is cut into pairs.
fn is_paired(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1100..=0x11FF | 0x1780..=0x17FF | 0x3005..=0x3007 | 0x3040..=0x30FF | 0x3130..=0x318F
        | 0x31F0..=0x31FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

/// Returns whether a character is a combining mark, which belongs to the word of the letter before it.
fn is_mark(c: char) -> bool {
    matches!(u32::from(c), 0x0300..=0x036F | 0x0483..=0x0487 | 0x0591..=0x05C7 | 0x064B..=0x065F | 0x0900..=0x0DFF | 0x200C..=0x200D | 0x20D0..=0x20FF)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Run {
    Word,
    Paired,
    Other,
}

fn run(c: char, word: bool) -> Run {
    match c {
        _ if is_paired(c) => Run::Paired,
        _ if c.is_alphanumeric() || (word && is_mark(c)) => Run::Word,
        _ => Run::Other,
    }
}

/// Returns the tokens of a text in order, each with its byte range. Pairs overlap. Takes linear time.
pub fn tokens(text: &str) -> impl Iterator<Item = (Kind, Range<usize>)> {
    let mut rest = text.char_indices().peekable();
    // Start of the previous character, if that one belongs to a paired script.
    let mut before: Option<usize> = None;
    let mut steps = Steps::default();
    std::iter::from_fn(move || {
        while let Some((start, c)) = rest.next() {
            steps.step();
            let mut end = start + c.len_utf8();
            match run(c, false) {
                Run::Other => before = None,
                Run::Word => {
                    before = None;
                    while let Some((at, c)) = rest.next_if(|(_, c)| run(*c, true) == Run::Word) {
                        steps.step();
                        end = at + c.len_utf8();
                    }
                    return Some((Kind::Word, start..end));
                }
                Run::Paired => {
                    let goes_on = rest.peek().is_some_and(|(_, c)| is_paired(*c));
                    match before.replace(start) {
                        Some(first) => return Some((Kind::Pair, first..end)),
                        // The next character completes the pair.
                        None if goes_on => {}
                        None => return Some((Kind::Pair, start..end)),
                    }
                }
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::{Kind, tokens};
    use proptest::prelude::*;

    fn cut(text: &str) -> Vec<&str> {
        tokens(text).map(|(_, bytes)| &text[bytes]).collect()
    }

    #[test]
    fn pairs_and_words() {
        assert_eq!(
            cut("借书证有效期为1年，WP-7型。"),
            [
                "借书", "书证", "证有", "有效", "效期", "期为", "1", "年", "WP", "7", "型"
            ]
        );
        assert_eq!(
            cut("東京タワーへ行く"),
            ["東京", "京タ", "タワ", "ワー", "ーへ", "へ行", "行く"]
        );
        assert_eq!(
            cut("도서관은 10시에"),
            ["도서", "서관", "관은", "10", "시에"]
        );
        assert_eq!(cut("Größe über 3,5 m²"), ["Größe", "über", "3", "5", "m²"]);
        assert_eq!(cut("e\u{301}te\u{301}"), ["e\u{301}te\u{301}"]);
        assert!(cut(" 。！？").is_empty());
    }

    proptest! {
        #[test]
        fn tokens_cover_all_letters_and_digits(text in "(\\PC|[a-z1 .]|[的一是不了]|[アイ]|[가나]){0,60}") {
            let mut covered = vec![false; text.len()];
            let mut last = 0;
            for (kind, bytes) in tokens(&text) {
                prop_assert!(last <= bytes.start && bytes.start < bytes.end);
                last = bytes.start;
                prop_assert!(kind != Kind::Pair || text[bytes.clone()].chars().count() <= 2);
                covered[bytes].fill(true);
            }
            for (at, c) in text.char_indices() {
                prop_assert!(covered[at] || !c.is_alphanumeric(), "{c:?} at {at}");
            }
        }
    }
}
