//! Words at the end of an unfinished answer that may become part of a citation.

use crate::reading::reference_lists::is_label;
use crate::{Family, Grammar};

/// Longest run of words that is waited for, in bytes.
const MAX_WORDS: usize = 1024;
/// Longest stretch that patterns, locators and titles are looked for in at once, in bytes.
const CHECK_INTERVAL: usize = 2048;
/// What stands before the numbers of sources in prose, and between them.
const SOURCES: [&str; 3] = ["Source", "Sources", "SOURCE"];

/// Where the words at the end begin, in the prose that begins at `prose`, that more text may turn into a citation, or change the meaning of:
///
/// - the last run of signs without white space: half of `ref12`, `turn0search0` or `¹,²` is another citation or none;
/// - before it, `Source 1, 2 and`;
/// - a list on the last line that would be for the whole answer, if nothing followed;
/// - where a corpus adds patterns, places or titles, the line: these may begin with any word and go on to its end.
pub(super) fn open_words(text: &str, prose: usize, grammar: &Grammar) -> usize {
    let near = text.floor_char_boundary(text.len().saturating_sub(MAX_WORDS));
    let from = near.max(prose);
    let recent = &text[from..];
    let run = recent.trim_end_matches(|c: char| {
        c.is_ascii_graphic() || c.is_alphanumeric() && !is_wide(c) || matches!(c, '⁻' | '˒')
    });
    // What is longer than anything that cites is let go.
    let word = if run.is_empty() && from > prose {
        text.len()
    } else {
        from + run.len()
    };
    let mut open = word.min(open_sources(text, from));
    if let Some(list) = last_list(text) {
        open = open.min(list);
    }
    if reads_words(grammar) {
        open = open.min(open_stretch(text));
    }
    open
}

/// Whether scripts of this letter put no white space between words.
fn is_wide(c: char) -> bool {
    c.is_alphabetic() && u32::from(c) >= 0x2E80
}

/// `Source 1, 2 and` at the end of a text.
fn open_sources(text: &str, from: usize) -> usize {
    let mut open = text.len();
    let mut end = text.len();
    for word in text[from..].rsplit([' ', ',', '&', '-', '–', ';', '/']) {
        let start = end - word.len();
        // `and`, in any language.
        let joins = word.chars().count() <= 3;
        let counts = joins || word.bytes().all(|b| b.is_ascii_digit());
        if let Some(name) = SOURCES.iter().find(|name| word.ends_with(*name)) {
            open = end - name.len();
        }
        if !counts {
            break;
        }
        end = text[..start]
            .char_indices()
            .next_back()
            .map_or(0, |(at, _)| at);
    }
    open
}

/// The bracket of `Citation: [p1, p2]` on the last line that is not blank. Whether it is that list is known once another line or
/// bracket follows.
fn last_list(text: &str) -> Option<usize> {
    let body = text.trim_end();
    let line = body.rfind('\n').map_or(0, |newline| newline + 1);
    let (label, rest) = body[line..].split_once(['[', '【'])?;
    let announced = label.contains([':', '：']) && is_label(label);
    (announced && !rest.contains(['[', '【'])).then_some(line + label.len())
}

/// Whether anything is looked for that begins as any word does.
fn reads_words(grammar: &Grammar) -> bool {
    let on = |family| grammar.families.includes(family);
    (!grammar.patterns.is_empty() && on(Family::Custom))
        || (grammar.locators.is_some() && on(Family::Locator))
        || (grammar.mentions.is_some() && on(Family::Mention))
}

/// Where the stretch begins that the text ends in: a line, or the last piece of a long one.
fn open_stretch(text: &str) -> usize {
    let mut start = text.rfind('\n').map_or(0, |newline| newline + 1);
    while text.len() - start > CHECK_INTERVAL {
        let rest = &text[start..];
        let window = &rest[..rest.floor_char_boundary(CHECK_INTERVAL)];
        start += window.rfind(' ').map_or(window.len(), |space| space + 1);
    }
    start
}
