//! Digits of all scripts, circled numbers and superscripts.

use crate::reading::bracket_numbers::BracketNumbers;

/// The zero of each script whose decimal digits (general category Nd) are contiguous, for scripts that models write.
const ZEROS: [char; 22] = [
    '\u{660}', '\u{6f0}', '\u{7c0}', '\u{966}', '\u{9e6}', '\u{a66}', '\u{ae6}', '\u{b66}',
    '\u{be6}', '\u{c66}', '\u{ce6}', '\u{d66}', '\u{de6}', '\u{e50}', '\u{ed0}', '\u{f20}',
    '\u{1040}', '\u{1090}', '\u{17e0}', '\u{1810}', '\u{1946}', '\u{19d0}',
];

/// Parses ASCII digits without a leading zero, if the number is read as a citation.
pub(super) fn plain(text: &str, numbers: &BracketNumbers) -> Option<u32> {
    let digits = text.as_bytes();
    let fits = (1..=numbers.digits()).contains(&digits.len())
        && digits.iter().all(u8::is_ascii_digit)
        && (digits.len() == 1 || digits[0] != b'0');
    let value = || {
        let digits = digits.iter().map(|b| u32::from(b - b'0'));
        digits.fold(0, |sum, digit| sum * 10 + digit)
    };
    fits.then(value).filter(|&number| numbers.read(number))
}

/// Returns the ASCII digit for a decimal digit of another script.
pub(super) fn ascii(c: char) -> Option<char> {
    let value = ZEROS.iter().find_map(|&zero| {
        let value = u32::from(c).checked_sub(u32::from(zero))?;
        (value < 10).then_some(value)
    });
    value
        .or_else(|| raised(c))
        .and_then(|value| char::from_digit(value, 10))
}

/// Returns the value of a circled number, 1 to 50.
pub(crate) fn circled(c: char) -> Option<u32> {
    match c {
        '①'..='⑳' => Some(u32::from(c) - u32::from('①') + 1),
        '㉑'..='㉟' => Some(u32::from(c) - u32::from('㉑') + 21),
        '㊱'..='㊿' => Some(u32::from(c) - u32::from('㊱') + 36),
        _ => None,
    }
}

/// Returns the value of a superscript digit.
pub(crate) fn raised(c: char) -> Option<u32> {
    match c {
        '⁰' => Some(0),
        '¹' => Some(1),
        '²' => Some(2),
        '³' => Some(3),
        '⁴'..='⁹' => Some(u32::from(c) - u32::from('⁰')),
        _ => None,
    }
}

/// Parses a text that is one circled number.
pub(crate) fn single(text: &str) -> Option<u32> {
    let mut signs = text.chars();
    circled(signs.next()?).filter(|_| signs.next().is_none())
}
