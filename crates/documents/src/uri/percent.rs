//! Percent-encoding in one form (RFC 3986, 2.1 and 6.2.2.2).

use reground_interrupt::Steps;

/// The part of an address that a text is, which decides the reserved characters that it may hold plainly.
#[derive(Clone, Copy)]
pub enum Part {
    User,
    Host,
    Path,
    Query,
}

impl Part {
    /// Characters beyond the unreserved ones that need no encoding here.
    fn plain(self) -> &'static [u8] {
        match self {
            Self::User => b"!$&'()*+,;=:",
            Self::Host => b"!$&'()*+,;=",
            Self::Path => b"!$&'()*+,;=:@/",
            Self::Query => b"!$&'()*+,;=:@/?",
        }
    }
}

/// A part with each character plain or percent-encoded as its kind wants: unreserved ones plain, encodings of others
/// kept with upper-case digits, and what may not stand here encoded.
pub fn encode(text: &str, part: Part) -> String {
    let mut encoded = String::with_capacity(text.len());
    let mut bytes = text.as_bytes();
    let mut steps = Steps::default();
    while let Some((&byte, rest)) = bytes.split_first() {
        steps.step();
        bytes = rest;
        let escaped = if byte == b'%' { escape(rest) } else { None };
        match escaped {
            Some(value) => {
                bytes = &rest[2..];
                if is_unreserved(value) {
                    encoded.push(char::from(value))
                } else {
                    push_encoded(&mut encoded, value)
                }
            }
            None if is_unreserved(byte) || part.plain().contains(&byte) => {
                encoded.push(char::from(byte))
            }
            None => push_encoded(&mut encoded, byte),
        }
    }
    encoded
}

/// Lower case for all but the digits of percent-encodings.
pub fn lower_plain(encoded: &str) -> String {
    let mut digits = 0u8;
    let fold = |c: char| {
        let keep = digits > 0;
        digits = if c == '%' {
            2
        } else {
            digits.saturating_sub(1)
        };
        if keep { c } else { c.to_ascii_lowercase() }
    };
    encoded.chars().map(fold).collect()
}

/// The byte that two hexadecimal digits at the start stand for.
fn escape(digits: &[u8]) -> Option<u8> {
    let [high, low, ..] = digits else { return None };
    let value = |digit: u8| char::from(digit).to_digit(16);
    u8::try_from(value(*high)? * 16 + value(*low)?).ok()
}

fn push_encoded(encoded: &mut String, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    encoded.push('%');
    encoded.push(char::from(DIGITS[usize::from(byte >> 4)]));
    encoded.push(char::from(DIGITS[usize::from(byte & 15)]));
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}
