//! Finds the words at the end of an unfinished answer that may become part of a citation.

use crate::reading::reference_lists::is_label;
use crate::{Family, Grammar};

/// Longest run of words that is held back, in bytes.
const MAX_WORDS: usize = 1024;
/// Longest part of a text that is searched at once for patterns, locators and titles, in bytes.
const CHECK_INTERVAL: usize = 2048;
/// Words before the numbers of sources in prose.
const SOURCES: [&str; 3] = ["Source", "Sources", "SOURCE"];

/// Returns the start of the words at the end that later text may change into a citation, or whose meaning it may
/// change. The last prose begins at `prose`. These words are:
///
/// - the last run of characters without white space: half of `ref12`, `turn0search0` or `¹,²` is a different citation
///   or none;
/// - before it, `Source 1, 2 and`;
/// - a list on the last line that would be for the whole answer if nothing followed;
/// - the line, if the grammar has patterns, locators or titles: these may begin with any word and continue to the end
///   of the line.
pub(super) fn open_words(text: &str, prose: usize, grammar: &Grammar) -> usize {
    let near = text.floor_char_boundary(text.len().saturating_sub(MAX_WORDS));
    let from = near.max(prose);
    let recent = &text[from..];
    let run = recent.trim_end_matches(|c: char| {
        c.is_ascii_graphic() || c.is_alphanumeric() && !is_wide(c) || matches!(c, '⁻' | '˒')
    });
    // A run that is longer than any citation is not held back.
    let word = if run.is_empty() && from > prose {
        text.len()
    } else {
        from + run.len()
    };
    let mut open = word.min(open_sources(text, from));
    if let Some(list) = last_list(text) {
        open = open.min(list);
    }
    if has_custom_forms(grammar) {
        open = open.min(open_stretch(text));
    }
    open
}

/// Returns whether a letter belongs to a script without white space between words.
fn is_wide(c: char) -> bool {
    c.is_alphabetic() && u32::from(c) >= 0x2E80
}

/// Returns the start of `Source 1, 2 and` at the end of a text, otherwise the end.
fn open_sources(text: &str, from: usize) -> usize {
    let mut open = text.len();
    let mut end = text.len();
    for word in text[from..].rsplit([' ', ',', '&', '-', '–', ';', '/']) {
        let start = end - word.len();
        // `and` in any language.
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

/// Returns the bracket of `Citation: [p1, p2]` on the last line that is not blank. Another line or bracket decides
/// whether it is such a list.
fn last_list(text: &str) -> Option<usize> {
    let body = text.trim_end();
    let line = body.rfind('\n').map_or(0, |newline| newline + 1);
    let (label, rest) = body[line..].split_once(['[', '【'])?;
    let announced = label.contains([':', '：']) && is_label(label);
    (announced && !rest.contains(['[', '【'])).then_some(line + label.len())
}

/// Returns whether the grammar has anything that may begin with any word.
fn has_custom_forms(grammar: &Grammar) -> bool {
    let on = |family| grammar.families.includes(family);
    (!grammar.patterns.is_empty() && on(Family::Custom))
        || (grammar.locators.is_some() && on(Family::Locator))
        || (grammar.mentions.is_some() && on(Family::Mention))
}

/// Returns the start of the last searched part of the text: a line, or the last part of a long line.
fn open_stretch(text: &str) -> usize {
    let mut start = text.rfind('\n').map_or(0, |newline| newline + 1);
    while text.len() - start > CHECK_INTERVAL {
        let rest = &text[start..];
        let window = &rest[..rest.floor_char_boundary(CHECK_INTERVAL)];
        start += window.rfind(' ').map_or(window.len(), |space| space + 1);
    }
    start
}
