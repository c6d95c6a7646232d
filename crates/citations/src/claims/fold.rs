//! White space folded to single spaces, and none left before a full stop or comma.

use reground_pulse::leap;

/// Signs that stand close to the word before them.
const CLINGING: [char; 9] = ['.', ',', ';', ':', '!', '?', '。', '，', '；'];

/// Appends a text with its white space folded. What is folded already is copied as it is.
pub(super) fn fold_into(out: &mut String, text: &str) {
    let mut rest = text;
    loop {
        let words = rest.trim_start();
        if words.len() < rest.len() && !out.is_empty() && !out.ends_with(' ') {
            out.push(' ');
        }
        let (folded, after) = words.split_at(folded_already(words));
        append(out, folded);
        if after.is_empty() {
            return;
        }
        rest = after;
    }
}

/// Appends words, a sign that clings without the space before it.
fn append(out: &mut String, words: &str) {
    if out.ends_with(' ') && words.starts_with(CLINGING) {
        out.pop();
    }
    out.push_str(words);
}

/// How much of a text that begins with a word is folded already, in bytes: up to white space that is more than one space
/// before a word.
fn folded_already(text: &str) -> usize {
    let mut at = 0;
    // Nearly every word has a space before it: to stop at each of them would take longer than the rest.
    while let Some(step) = leap(&text.as_bytes()[at..], may_fold) {
        at += step;
        match text[at..].chars().next() {
            Some(c) if !c.is_whitespace() => at += c.len_utf8(),
            _ => return at,
        }
    }
    text.len()
}

/// Whether white space that has to be folded may begin with a byte, by the byte after it.
#[inline]
fn may_fold(byte: u8, next: u8) -> bool {
    let word = (next | 0x20).wrapping_sub(b'a') < 26;
    let number = next.wrapping_sub(b'0') < 10;
    let space = (byte == b' ') & !(word | number);
    let control = byte.wrapping_sub(b'\t') < 5;
    // First bytes of white space of several: the last three are E1, E2 and E3.
    let wide = (byte == 0xC2) | (byte.wrapping_sub(0xE1) < 3);
    space | control | wide
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_space_is_looked_at() {
        for c in (0..=u32::from(char::MAX)).filter_map(char::from_u32) {
            let mut bytes = [0; 4];
            let first = c.encode_utf8(&mut bytes).as_bytes()[0];
            assert!(may_fold(first, 0) || !c.is_whitespace(), "{c:?}");
        }
    }

    /// The same sign by sign.
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
        fn folding_in_bulk_is_folding_by_sign(pieces in prop::collection::vec("[aé。 ,.\n\u{a0}\u{3000}b1“]{0,12}|( ?[a-z,]{1,4}){0,24}", 1..5)) {
            let (mut bulk, mut by_sign) = (String::new(), String::new());
            for piece in &pieces {
                fold_into(&mut bulk, piece);
                folded(&mut by_sign, piece);
            }
            prop_assert_eq!(bulk, by_sign);
        }
    }
}
