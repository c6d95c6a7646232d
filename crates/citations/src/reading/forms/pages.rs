//! Claimed pages: `p. 12`, `pp. 12–14, 20`, `page 3`, `S. 7`, `第12页`.

use super::cursor::Cursor;
use crate::Pages;

/// Words for pages, without the dot.
const WORDS: [&str; 12] = [
    "pp", "p", "pages", "page", "pgs", "pg", "seiten", "seite", "s", "páginas", "página", "стр",
];

/// Reads pages at the cursor. If there are none, the cursor does not move.
pub(super) fn read(cursor: &mut Cursor<'_>) -> Option<Vec<Pages>> {
    let mut ahead = *cursor;
    let found = counted(&mut ahead).or_else(|| {
        ahead = *cursor;
        announced(&mut ahead)
    })?;
    *cursor = ahead;
    Some(found)
}

/// Parses a text that is pages, with or without the word: `12`, `p. 12`, `12–14`.
pub(crate) fn claimed(text: &str) -> Option<Pages> {
    let folded = super::fold::fold(text);
    let text = folded.trim();
    if let Some(found) = whole(text) {
        return found.first().copied();
    }
    let mut cursor = Cursor::new(text);
    let found = interval(&mut cursor)?;
    cursor.at_end().then_some(found)
}

/// Parses a text that is pages with the word, and nothing else.
pub(super) fn whole(text: &str) -> Option<Vec<Pages>> {
    let mut cursor = Cursor::new(text.trim());
    let found = read(&mut cursor)?;
    cursor.at_end().then_some(found)
}

fn announced(cursor: &mut Cursor<'_>) -> Option<Vec<Pages>> {
    if !cursor.one_word_of(&WORDS) {
        return None;
    }
    cursor.one_of(&['.']);
    cursor.spaces();
    let mut found = vec![interval(cursor)?];
    loop {
        let mut ahead = *cursor;
        ahead.spaces();
        if ahead.one_of(&[',', '&']).is_none() && !ahead.word("and") {
            return Some(found);
        }
        ahead.spaces();
        match interval(&mut ahead) {
            Some(pages) => found.push(pages),
            None => return Some(found),
        }
        *cursor = ahead;
    }
}

/// Reads pages in the Chinese and Japanese order: ordinal sign, number, the word for page.
fn counted(cursor: &mut Cursor<'_>) -> Option<Vec<Pages>> {
    cursor.one_of(&['第']);
    let pages = interval(cursor)?;
    cursor.spaces();
    cursor.one_of(&['页', '頁'])?;
    Some(vec![pages])
}

fn interval(cursor: &mut Cursor<'_>) -> Option<Pages> {
    let first = cursor.number(usize::MAX)?;
    let mut ahead = *cursor;
    ahead.spaces();
    if ahead.one_of(&['-']).is_some() {
        ahead.one_of(&['-']);
        ahead.spaces();
        if let Some(last) = ahead.number(usize::MAX) {
            *cursor = ahead;
            return Some(Pages::new(
                first.value,
                completed(first.digits, last.digits),
            ));
        }
    }
    // `12a` and `12.5` are not pages.
    let follows = cursor.rest().chars().next();
    (!follows.is_some_and(|c| c.is_ascii_alphabetic()))
        .then(|| Pages::new(first.value, first.value))
}

/// Returns the second number of an interval, with its omitted digits: 112–14 ends at page 114.
fn completed(first: &str, last: &str) -> u32 {
    let plain = last.parse().unwrap_or(u32::MAX);
    if last.len() >= first.len() {
        return plain;
    }
    let prefix = &first[..first.len() - last.len()];
    format!("{prefix}{last}").parse().unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::whole;
    use crate::Pages;

    #[test]
    fn pages_in_all_notations() {
        let one = |a, b| Some(vec![Pages::new(a, b)]);
        assert_eq!(whole("p. 12"), one(12, 12));
        assert_eq!(whole("p.12"), one(12, 12));
        assert_eq!(whole("Pages 12-14"), one(12, 14));
        assert_eq!(whole("pp. 14-12"), one(12, 14));
        assert_eq!(whole("pp. 112-14"), one(112, 114));
        assert_eq!(whole("S. 7"), one(7, 7));
        assert_eq!(whole("第12页"), one(12, 12));
        assert_eq!(whole("page 0"), one(0, 0));
        assert_eq!(whole("p. 99999999999"), one(u32::MAX, u32::MAX));
        assert_eq!(
            whole("pp. 3, 5-6 and 9"),
            Some(vec![Pages::new(3, 3), Pages::new(5, 6), Pages::new(9, 9)])
        );
    }

    #[test]
    fn texts_that_are_not_pages() {
        for text in [
            "",
            "p",
            "p.",
            "pages",
            "12",
            "paper 12",
            "p. 12 ff of",
            "p. x",
            "p. 12a",
        ] {
            assert_eq!(whole(text), None, "{text}");
        }
    }
}
