//! Folds full-width and typographic characters to ASCII.

use std::borrow::Cow;

use super::digits;

/// Returns the text with ASCII in place of full-width characters, digits of other scripts, separators, and special
/// spaces and dashes.
pub(crate) fn fold(text: &str) -> Cow<'_, str> {
    let plain = |b: u8| matches!(b, b' '..=b'~');
    if text.bytes().all(plain) || text.chars().all(|c| folded(c) == c) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.chars().map(folded).collect())
    }
}

fn folded(c: char) -> char {
    match c {
        // The full-width block has the ASCII characters from `!` to `~` at a fixed distance.
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(u32::from(c) - 0xFEE0).unwrap_or(c),
        '、' | '،' => ',',
        '؛' => ';',
        '‐' | '‑' | '‒' | '–' | '—' | '−' => '-',
        c if c != ' ' && c.is_whitespace() => ' ',
        c if c.is_ascii() => c,
        c => digits::ascii(c).unwrap_or(c),
    }
}

#[cfg(test)]
mod tests {
    use super::fold;

    #[test]
    fn full_width_is_folded_to_ascii() {
        assert_eq!(fold("٣، ४"), "3, 4");
        assert_eq!(fold("Ａ１，\u{3000}Ｂ２；C–3"), "A1, B2;C-3");
        assert!(matches!(fold("A1, B2"), std::borrow::Cow::Borrowed(_)));
    }
}
