//! Markdown links after a bracket.

use std::ops::Range;

/// Longest address of a Markdown link, in bytes.
const MAX_ADDRESS: usize = 2048;

/// Returns the end of the `(address)` or `(address "title")` that makes a bracket a Markdown link.
pub(super) fn address(bytes: &[u8], start: usize, limit: usize) -> Option<usize> {
    if start >= limit || bytes[start] != b'(' {
        return None;
    }
    let mut depth = 0_u32;
    let mut titled = false;
    for at in start..limit.min(start + MAX_ADDRESS) {
        match bytes[at] {
            // An address contains at most one pair of brackets. Deeper nesting would make the look-ahead quadratic.
            b'(' if depth == 2 => return None,
            b'(' => depth += 1,
            b')' if depth == 1 => return (at > start + 1).then_some(at + 1),
            b')' => depth -= 1,
            b'\n' => return None,
            // Only a title may follow a space.
            b' ' if !titled => match bytes.get(at + 1) {
                Some(b'"' | b'\'') => titled = true,
                Some(b')') => {}
                _ => return None,
            },
            _ => {}
        }
    }
    None
}

/// Returns the end of the line of a Markdown link definition, `[1]: https://…`. It is not a citation.
pub(super) fn definition(bytes: &[u8], span: Range<usize>, limit: usize) -> Option<usize> {
    let line_starts = bytes[..span.start]
        .iter()
        .rev()
        .take(4)
        .find(|b| **b != b' ')
        .is_none_or(|b| *b == b'\n');
    let rest = bytes[span.end..limit].strip_prefix(b":")?;
    let target = rest.trim_ascii_start();
    let addresses: [&[u8]; 6] = [b"http", b"www.", b"<", b"/", b"#", b"mailto:"];
    // The text of a footnote is not searched for citations.
    let note = bytes[span.start..].starts_with(b"[^");
    if !line_starts || !(note || addresses.iter().any(|a| target.starts_with(a))) {
        return None;
    }
    let end = bytes[span.end..limit].iter().position(|b| *b == b'\n');
    Some(end.map_or(limit, |n| span.end + n))
}
