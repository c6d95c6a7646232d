//! Canonical percent-encoding (RFC 3986, 2.1 and 6.2.2.2).

use reground_interrupt::Steps;

/// A part of an address. It determines which reserved characters need no encoding.
#[derive(Clone, Copy)]
pub enum Part {
    User,
    Host,
    Path,
    Query,
}

impl Part {
    /// Returns the characters that need no encoding in this part, besides the unreserved ones.
    fn plain(self) -> &'static [u8] {
        match self {
            Self::User => b"!$&'()*+,;=:",
            Self::Host => b"!$&'()*+,;=",
            Self::Path => b"!$&'()*+,;=:@/",
            Self::Query => b"!$&'()*+,;=:@/?",
        }
    }
}

/// Returns a part in canonical form: unreserved characters are decoded, other encodings keep their value and get upper-case
/// digits, and characters that are not allowed are encoded.
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

/// Returns the text in lower case, except the digits of percent-encodings.
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

/// Returns the byte that the first two hexadecimal digits encode.
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
