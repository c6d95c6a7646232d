//! Folds white space to single spaces and removes it before punctuation.

use reground_interrupt::{Block, between, find, one_of};

/// Punctuation that follows a word without a space.
const CLINGING: [char; 13] = [
    '.', ',', ';', ':', '!', '?', '。', '，', '；', '！', '？', '：', '、',
];

/// Appends a text with folded white space. Text that is already folded is copied at once.
pub(super) fn fold_into(out: &mut String, text: &str) {
    let mut rest = text;
    loop {
        let words = rest.trim_start();
        if words.len() < rest.len() && !out.is_empty() && !out.ends_with(' ') {
            out.push(' ');
        }
        let (folded, after) = words.split_at(folded_prefix(words));
        append(out, folded);
        if after.is_empty() {
            return;
        }
        rest = after;
    }
}

/// Appends words, and removes the space before punctuation.
fn append(out: &mut String, words: &str) {
    if out.ends_with(' ') && words.starts_with(CLINGING) {
        out.pop();
    }
    out.push_str(words);
}

/// Returns the length in bytes of the folded beginning of a text that begins with a word. It ends at white space that
/// is not a single space before a word.
fn folded_prefix(text: &str) -> usize {
    let mut at = 0;
    // Nearly every word has a space before it. Stopping at each would take most of the time.
    while let Some(step) = find(&text.as_bytes()[at..], may_fold) {
        at += step;
        match text[at..].chars().next() {
            Some(c) if !c.is_whitespace() => at += c.len_utf8(),
            _ => return at,
        }
    }
    text.len()
}

/// Finds white space that may need folding: all except a space before an ASCII letter or digit.
#[inline]
fn may_fold(block: Block, next: Block) -> Block {
    let letter = between(next | Block::splat(0x20), b'a', b'z');
    let word = letter | between(next, b'0', b'9');
    let space = one_of(block, *b" ") & !word;
    // White space of several bytes begins with C2, E1, E2 or E3.
    space | between(block, b'\t', b'\r') | one_of(block, [0xC2]) | between(block, 0xE1, 0xE3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn may_fold_finds_all_white_space() {
        for c in (0..=u32::from(char::MAX)).filter_map(char::from_u32) {
            let mut bytes = [0; 4];
            let sign = c.encode_utf8(&mut bytes).as_bytes();
            assert!(
                find(sign, may_fold) == Some(0) || !c.is_whitespace(),
                "{c:?}"
            );
        }
    }

    /// The reference implementation, one character at a time.
    fn folded(out: &mut String, text: &str) {
        for c in text.chars() {
            if c.is_whitespace() {
                if !out.is_empty() && !out.ends_with(' ') {
                    out.push(' ');
                }
                continue;
            }
            if CLINGING.contains(&c) && out.ends_with(' ') {
                out.pop();
            }
            out.push(c);
        }
    }

    proptest! {
        #[test]
        fn fold_into_equals_the_reference(pieces in prop::collection::vec("[aé。 ,.\n\u{a0}\u{3000}b1“]{0,12}|( ?[a-z,]{1,4}){0,24}", 1..5)) {
            let (mut bulk, mut by_sign) = (String::new(), String::new());
            for piece in &pieces {
                fold_into(&mut bulk, piece);
                folded(&mut by_sign, piece);
            }
            prop_assert_eq!(bulk, by_sign);
        }
    }
}
