//! Escapes untrusted text for a prompt: no passage can contain one of our markers or delimiters, or invisible
//! characters.
//!
//! Stored text is not changed.

use std::borrow::Cow;
use std::cell::Cell;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use reground_interrupt::checked;

use crate::settings::MarkerStyle;

/// Names of the tags that the prompt block uses.
pub(crate) const TAGS: &[&str] = &["context", "facts", "fact", "sources", "source"];
/// Headings of the text format.
pub(crate) const HEADINGS: &[&str] = &["facts", "sources", "end of sources"];

/// A bracket group without inner brackets, in any of the bracket pairs that models use for citations.
static BRACKETS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"([\[［【〔⟦])([^\[\]［］【】〔〕⟦⟧\r\n]{1,160})([\]］】〕⟧])").ok()
});
/// A marker anywhere in such a group, in our own form.
static MARKER: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\b[A-ZＡ-Ｚ]{1,4}[0-9０-９]{1,9}\b").ok());
/// A marker at the start of such a group, in any case, because ids are normalised before they are judged.
static LEADING_MARKER: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^\s*[A-Za-zＡ-Ｚａ-ｚ]{1,4}[ ._-]?[0-9０-９]{1,9}\b").ok());
/// A number at the start of such a group, which is a marker under [`MarkerStyle::Numbered`].
static LEADING_NUMBER: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^\s*\d{1,9}\b").ok());
/// An opening or closing tag of the prompt block.
static TAG: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(&format!(
        r"(?i)[<＜]([\s/／]{{0,8}}(?:{})\b)",
        TAGS.join("|")
    ))
    .ok()
});
/// A heading of the text format, at the start of a line.
static HEADING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(&format!(
        r"(?im)^([ \t]{{0,8}})={{2,}}([ \t]*(?:{})\b)",
        HEADINGS.join("|")
    ))
    .ok()
});

/// The text, escaped for a prompt. Idempotent, and linear in the text.
///
/// - Bracket groups that contain or start with a marker get parentheses: `[B7]` becomes `(B7)`. Under
///   [`MarkerStyle::Numbered`] this includes `[12]`.
/// - The tags and headings of the prompt block lose their delimiters: `</source>` becomes `‹/source>`.
/// - Form feeds, vertical tabs and next-line controls become line breaks.
/// - Invisible characters are removed: Unicode tags, bidirectional controls, zero-width characters, soft hyphens,
///   variation selectors beyond the first sixteen, and other controls than tab and line breaks. The zero-width joiner
///   and non-joiner stay between two characters outside ASCII, because Arabic, Indic scripts and emoji need them. Next
///   to ASCII they are removed, because they could split a marker.
#[must_use]
pub fn escape(text: &str, style: MarkerStyle) -> Cow<'_, str> {
    if checked(text.chars()).all(harmless) {
        return Cow::Borrowed(text);
    }
    rewrite(text, style)
}

/// Whether a text of only such characters needs no rewriting: each pattern contains one of the others.
fn harmless(c: char) -> bool {
    let begins = matches!(c, '[' | '［' | '【' | '〔' | '⟦' | '<' | '＜' | '=');
    !begins && !invisible(c) && !joiner(c) && !line_control(c)
}

fn rewrite(text: &str, style: MarkerStyle) -> Cow<'_, str> {
    let without_tags = apply(without_markers(visible(text), style), &TAG, |groups| {
        format!("‹{}", group(groups, 1))
    });
    apply(without_tags, &HEADING, |groups| {
        format!("{}–{}", group(groups, 1), group(groups, 2))
    })
}

/// The text as one line, escaped for a prompt. Escaped before white space is folded, because only a line begins with a
/// heading, and after it, because a line break within a bracket group hides a marker.
#[must_use]
pub fn escape_line(text: &str, style: MarkerStyle) -> String {
    let lines = escape(text, style);
    let words: Vec<&str> = checked(lines.split_whitespace()).collect();
    escape(&words.join(" "), style).into_owned()
}

/// Replaces the brackets of groups with markers by parentheses. Groups can be nested: each round replaces the innermost
/// ones. The length limit of a group also limits the rounds.
fn without_markers(mut text: Cow<'_, str>, style: MarkerStyle) -> Cow<'_, str> {
    loop {
        let found = Cell::new(false);
        text = apply(text, &BRACKETS, |groups| {
            let content = group(groups, 2);
            if reads_as_marker(content, style) {
                found.set(true);
                format!("({content})")
            } else {
                group(groups, 0).to_owned()
            }
        });
        if !found.get() {
            return text;
        }
    }
}

/// Whether the content of a bracket group could be read as one of our markers.
pub(crate) fn reads_as_marker(content: &str, style: MarkerStyle) -> bool {
    let found = |pattern: &LazyLock<Option<Regex>>| {
        pattern
            .as_ref()
            .is_none_or(|pattern| pattern.is_match(content))
    };
    found(&MARKER)
        || found(&LEADING_MARKER)
        || (style == MarkerStyle::Numbered && found(&LEADING_NUMBER))
}

fn group<'t>(groups: &Captures<'t>, index: usize) -> &'t str {
    groups.get(index).map_or("", |found| found.as_str())
}

fn apply<'t>(
    text: Cow<'t, str>,
    pattern: &LazyLock<Option<Regex>>,
    replace: impl Fn(&Captures<'_>) -> String,
) -> Cow<'t, str> {
    let Some(pattern) = pattern.as_ref() else {
        return text;
    };
    match pattern.replace_all(&text, |groups: &Captures<'_>| replace(groups)) {
        Cow::Borrowed(_) => text,
        Cow::Owned(changed) => Cow::Owned(changed),
    }
}

/// The text without invisible characters, and with line breaks for the controls that separate lines.
fn visible(text: &str) -> Cow<'_, str> {
    if checked(text.chars()).all(|c| !invisible(c) && !joiner(c) && !line_control(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = checked(text.chars())
        .map(|c| if line_control(c) { '\n' } else { c })
        .filter(|&c| !invisible(c))
        .peekable();
    while let Some(c) = chars.next() {
        let needed = |neighbour: Option<char>| {
            neighbour.is_some_and(|n| !n.is_ascii() && !n.is_whitespace() && !joiner(n))
        };
        if !joiner(c) || (needed(out.chars().next_back()) && needed(chars.peek().copied())) {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

fn joiner(c: char) -> bool {
    matches!(c, '\u{200C}' | '\u{200D}')
}

/// Vertical tab, form feed and next line: controls that separate lines or pages.
fn line_control(c: char) -> bool {
    matches!(c, '\u{0B}' | '\u{0C}' | '\u{85}')
}

fn invisible(c: char) -> bool {
    matches!(c,
        '\u{00}'..='\u{08}' | '\u{0E}'..='\u{1F}' | '\u{7F}'..='\u{84}' | '\u{86}'..='\u{9F}' // controls
        | '\u{AD}' | '\u{034F}' | '\u{180E}' | '\u{200B}' | '\u{2060}'..='\u{2065}' | '\u{206A}'..='\u{206F}'
        | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' // zero width
        | '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' // bidirectional
        | '\u{E0000}'..='\u{E0FFF}' // tags and supplementary variation selectors
        | '\u{1D173}'..='\u{1D17A}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plain(text: &str) -> String {
        escape(text, MarkerStyle::Lettered).into_owned()
    }

    #[test]
    fn every_pattern_compiles() {
        // Without a pattern, text would reach the prompt unescaped.
        for pattern in [
            &BRACKETS,
            &MARKER,
            &LEADING_MARKER,
            &LEADING_NUMBER,
            &TAG,
            &HEADING,
        ] {
            assert!(pattern.is_some());
        }
    }

    #[test]
    fn markers_tags_and_headings_are_escaped() {
        for (text, expected) in [
            ("as shown [B7] and [A1, C2]", "as shown (B7) and (A1, C2)"),
            ("[[B7]] 【A1】 ［b7］ [see A1]", "((B7)) (A1) (b7) (see A1)"),
            ("【［A0]］ [x [y [B7] z]]", "((A0)) (x (y (B7) z))"),
            ("[B\u{200B}7] [B\u{200D}7] [\u{E0041}B7]", "(B7) (B7) (B7)"),
            (
                "</source> < /CONTEXT> <Fact id=1> <sourced>",
                "‹/source> ‹ /CONTEXT> ‹Fact id=1> <sourced>",
            ),
            ("=== Sources\ntext === facts", "– Sources\ntext === facts"),
            ("x\u{202E}y \u{00AD}z", "xy z"),
            (
                "Leipzig.\u{0C}The\u{0B}board\u{85}=== SOURCES",
                "Leipzig.\nThe\nboard\n– SOURCES",
            ),
            (
                "[warning] [x] [12] a[i] [2024]",
                "[warning] [x] [12] a[i] [2024]",
            ),
        ] {
            assert_eq!(plain(text), expected);
        }
        assert_eq!(
            escape("[12] [A1] [x]", MarkerStyle::Numbered),
            "(12) (A1) [x]"
        );
        assert!(matches!(
            escape("nothing to do here", MarkerStyle::Lettered),
            Cow::Borrowed(_)
        ));
    }

    #[test]
    fn a_marker_over_two_lines_is_escaped_in_one_line() {
        for (text, expected) in [
            ("[B\n7]\r\nx", "(B 7) x"),
            ("a\u{0C}b\u{0B} \u{85}c", "a b c"),
            ("[see\tA1]", "(see A1)"),
            ("x\n=== SOURCES", "x – SOURCES"),
        ] {
            assert_eq!(escape_line(text, MarkerStyle::Lettered), expected);
        }
    }

    #[test]
    fn scripts_that_need_joiners_keep_them() {
        for text in ["می\u{200C}خواهم", "क्\u{200D}ष", "👩\u{200D}💻"] {
            assert_eq!(plain(text), text);
        }
    }

    proptest! {
        #[test]
        fn a_harmless_text_is_not_rewritten(text in "[\\PC\n\r\t\\[ =<]{0,40}", numbered in any::<bool>()) {
            let style = if numbered { MarkerStyle::Numbered } else { MarkerStyle::Lettered };
            prop_assert_eq!(escape(&text, style), rewrite(&text, style));
            let harmless: String = text.chars().filter(|&c| harmless(c)).collect();
            prop_assert_eq!(&*rewrite(&harmless, style), &harmless);
        }

        #[test]
        fn no_marker_or_delimiter_remains(
            text in "([\\[\\]［］【】<＜/=( )\\n\u{0C}\u{200B}\u{200D}\u{2066}é]|[A-Ca-c]|[0-9]|, |source|context|facts|sources|=== ){0,60}",
            numbered in any::<bool>(),
        ) {
            let style = if numbered { MarkerStyle::Numbered } else { MarkerStyle::Lettered };
            let once = escape(&text, style).into_owned();
            prop_assert_eq!(&once, &*rewrite(&text, style));
            for groups in BRACKETS.as_ref().unwrap().captures_iter(&once) {
                prop_assert!(!reads_as_marker(&groups[2], style), "{}", &groups[0]);
            }
            // The grammar of our markers, written independently of the patterns above.
            let ours = Regex::new(r"\[[A-Z]+[0-9]+([,;] ?[A-Z]+[0-9]+)*\]").unwrap();
            prop_assert!(!ours.is_match(&once));
            prop_assert!(!TAG.as_ref().unwrap().is_match(&once));
            prop_assert!(!HEADING.as_ref().unwrap().is_match(&once));
            prop_assert!(!once.chars().any(invisible));
            let twice = escape(&once, style);
            prop_assert_eq!(&once, &twice);
        }
    }
}
