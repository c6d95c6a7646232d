//! Claimed coordinates: `p. 12`, `pp. 12–14, 20`, `page 3, para. 2`, `lines 4-5`, `S. 7`, `第12页`.

use super::cursor::Cursor;
use crate::{Interval, Position};

/// Words for pages, without the dot.
const PAGES: [&str; 12] = [
    "pp", "p", "pages", "page", "pgs", "pg", "seiten", "seite", "s", "páginas", "página", "стр",
];
/// Words for paragraphs, without the dot.
const PARAGRAPHS: [&str; 8] = [
    "paragraphs",
    "paragraph",
    "paras",
    "para",
    "absätze",
    "absatz",
    "abs",
    "párrafo",
];
/// Words for lines, without the dot.
const LINES: [&str; 7] = ["lines", "line", "zeilen", "zeile", "lignes", "ligne", "ll"];

/// Reads coordinates at the cursor. If there are none, the cursor does not move.
///
/// Several pages, paragraphs or lines are several positions. Paragraphs belong to the last page, lines to the last paragraph.
pub(super) fn read(cursor: &mut Cursor<'_>) -> Option<Vec<Position>> {
    let mut found: Vec<Position> = Vec::new();
    add(&mut found, pages(cursor), |position| &mut position.pages);
    let paragraphs = following(cursor, !found.is_empty(), paragraphs);
    add(&mut found, paragraphs, |position| &mut position.paragraphs);
    let lines = following(cursor, !found.is_empty(), |cursor| {
        announced(cursor, &LINES)
    });
    add(&mut found, lines, |position| &mut position.lines);
    if found.is_empty() && without_number(cursor) {
        return Some(vec![Position::default()]);
    }
    (!found.is_empty()).then_some(found)
}

/// Adds finer coordinates to the last position, one position for each interval.
fn add(
    found: &mut Vec<Position>,
    intervals: Option<Vec<Interval>>,
    level: impl Fn(&mut Position) -> &mut Option<Interval>,
) {
    let Some(intervals) = intervals else {
        return;
    };
    let base = found.pop().unwrap_or_default();
    found.extend(intervals.into_iter().map(|interval| {
        let mut position = base;
        *level(&mut position) = Some(interval);
        position
    }));
}

/// Reads finer coordinates, which a separator precedes if there are others before them.
fn following(
    cursor: &mut Cursor<'_>,
    separated: bool,
    read: impl Fn(&mut Cursor<'_>) -> Option<Vec<Interval>>,
) -> Option<Vec<Interval>> {
    let mut ahead = *cursor;
    if separated {
        ahead.spaces();
        ahead.one_of(&[',', ':']);
        ahead.spaces();
    }
    let found = read(&mut ahead)?;
    *cursor = ahead;
    Some(found)
}

fn pages(cursor: &mut Cursor<'_>) -> Option<Vec<Interval>> {
    let mut ahead = *cursor;
    let found = counted(&mut ahead).or_else(|| {
        ahead = *cursor;
        announced(&mut ahead, &PAGES)
    })?;
    *cursor = ahead;
    Some(found)
}

fn paragraphs(cursor: &mut Cursor<'_>) -> Option<Vec<Interval>> {
    let mut ahead = *cursor;
    if ahead.one_of(&['¶']).is_none() {
        return announced(cursor, &PARAGRAPHS);
    }
    ahead.one_of(&['¶']);
    ahead.spaces();
    let found = intervals(&mut ahead)?;
    *cursor = ahead;
    Some(found)
}

/// Reads a word for pages that ends the text: the writer had no number. The dot is required, because a name may end in a
/// word.
fn without_number(cursor: &mut Cursor<'_>) -> bool {
    let mut ahead = *cursor;
    let bare = ahead.one_word_of(&PAGES) && ahead.one_of(&['.']).is_some() && ahead.at_end();
    if bare {
        *cursor = ahead;
    }
    bare
}

/// Parses a text that is pages, with or without the word: `12`, `p. 12`, `12–14`.
pub(crate) fn claimed(text: &str) -> Option<Position> {
    let folded = super::fold::fold(text);
    let text = folded.trim();
    if let Some(found) = whole(text) {
        return found.first().copied();
    }
    let mut cursor = Cursor::new(text);
    let found = interval(&mut cursor)?;
    cursor.at_end().then_some(Some(found).into())
}

/// Parses a text that is coordinates with their words, and nothing else. It may be in round brackets.
pub(super) fn whole(text: &str) -> Option<Vec<Position>> {
    let text = text.trim();
    let enclosed = text.strip_prefix('(').and_then(|t| t.strip_suffix(')'));
    let mut cursor = Cursor::new(enclosed.unwrap_or(text).trim());
    let found = read(&mut cursor)?;
    cursor.at_end().then_some(found)
}

/// Reads a word and the numbers after it. Nothing is read if there are no numbers.
fn announced(cursor: &mut Cursor<'_>, words: &[&str]) -> Option<Vec<Interval>> {
    let mut ahead = *cursor;
    if !ahead.one_word_of(words) {
        return None;
    }
    ahead.one_of(&['.']);
    ahead.spaces();
    let found = intervals(&mut ahead)?;
    *cursor = ahead;
    Some(found)
}

fn intervals(cursor: &mut Cursor<'_>) -> Option<Vec<Interval>> {
    let mut found = vec![interval(cursor)?];
    loop {
        let mut ahead = *cursor;
        ahead.spaces();
        if ahead.one_of(&[',', '&']).is_none() && !ahead.word("and") {
            return Some(found);
        }
        ahead.spaces();
        match interval(&mut ahead) {
            Some(interval) => found.push(interval),
            None => return Some(found),
        }
        *cursor = ahead;
    }
}

/// Reads pages in the Chinese and Japanese order: ordinal sign, number, the word for page.
fn counted(cursor: &mut Cursor<'_>) -> Option<Vec<Interval>> {
    cursor.one_of(&['第']);
    let pages = interval(cursor)?;
    cursor.spaces();
    cursor.one_of(&['页', '頁'])?;
    Some(vec![pages])
}

fn interval(cursor: &mut Cursor<'_>) -> Option<Interval> {
    let first = cursor.number(usize::MAX)?;
    let mut ahead = *cursor;
    ahead.spaces();
    if ahead.one_of(&['-']).is_some() {
        ahead.one_of(&['-']);
        ahead.spaces();
        if let Some(last) = ahead.number(usize::MAX) {
            *cursor = ahead;
            return Some(Interval::new(
                first.value,
                completed(first.digits, last.digits),
            ));
        }
    }
    // `12a` and `12.5` are not pages.
    let follows = cursor.rest().chars().next();
    (!follows.is_some_and(|c| c.is_ascii_alphabetic()))
        .then(|| Interval::new(first.value, first.value))
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
    use crate::{Interval, Position};

    #[test]
    fn pages_in_all_notations() {
        let pages = |a, b| Position::from(Some(Interval::new(a, b)));
        let one = |a, b| Some(vec![pages(a, b)]);
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
            Some(vec![pages(3, 3), pages(5, 6), pages(9, 9)])
        );
    }

    #[test]
    fn paragraphs_and_lines() {
        let at = |pages: Option<u32>, paragraph: Option<u32>, lines: Option<(u32, u32)>| Position {
            pages: pages.map(|page| Interval::new(page, page)),
            paragraphs: paragraph.map(|number| Interval::new(number, number)),
            lines: lines.map(|(start, end)| Interval::new(start, end)),
        };
        for (text, expected) in [
            ("p. 7, para 1", at(Some(7), Some(1), None)),
            ("p. 7 para. 1", at(Some(7), Some(1), None)),
            ("page 7, ¶ 1", at(Some(7), Some(1), None)),
            ("page 7, lines 1-2", at(Some(7), None, Some((1, 2)))),
            ("(p. 7, line 3)", at(Some(7), None, Some((3, 3)))),
            (
                "S. 7, Absatz 2, Zeilen 3-4",
                at(Some(7), Some(2), Some((3, 4))),
            ),
            ("paragraph 12", at(None, Some(12), None)),
            ("ll. 112-14", at(None, None, Some((112, 114)))),
            ("p.", Position::default()),
        ] {
            assert_eq!(whole(text), Some(vec![expected]), "{text}");
        }
        assert_eq!(
            whole("p. 2, 7, lines 1, 4-5"),
            Some(vec![
                at(Some(2), None, None),
                at(Some(7), None, Some((1, 1))),
                at(Some(7), None, Some((4, 5))),
            ])
        );
        for text in ["para", "line", "lines a", "p. 7, table 1", "parade 3"] {
            assert_eq!(whole(text), None, "{text}");
        }
    }

    #[test]
    fn texts_that_are_not_pages() {
        for text in [
            "",
            "p",
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
