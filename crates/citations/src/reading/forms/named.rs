//! Documents by name: `Source: report.pdf, pp. 12–14`, `Source: "Smith, Jones & Co", p. 3; annex.md`.

use super::{list, pages};
use crate::citation::ParsedCitation;
use crate::{Families, Form, Malformed, Pages, Reference};

/// Words that introduce a name if a colon follows.
const WORDS: [&str; 14] = [
    "source",
    "sources",
    "src",
    "document",
    "documents",
    "doc",
    "reference",
    "references",
    "ref",
    "citation",
    "cite",
    "quelle",
    "fuente",
    "来源",
];

/// Opening quotation marks and their closing marks.
const QUOTES: [(char, char); 7] = [
    ('"', '"'),
    ('\'', '\''),
    ('“', '”'),
    ('„', '“'),
    ('‘', '’'),
    ('«', '»'),
    ('`', '`'),
];

/// Parses `Source: …`. A marker or a number may follow too.
pub(super) fn read(text: &str, families: &Families) -> Option<ParsedCitation> {
    let (word, rest) = text.split_once(':')?;
    let word = word.trim().to_lowercase();
    if !WORDS.contains(&word.as_str()) {
        return None;
    }
    let rest = rest.trim();
    let ours = families.marker.then(|| list::markers(rest)).flatten();
    if let Some(mut found) = ours.filter(ParsedCitation::is_plain) {
        found.repaired = true;
        return Some(found);
    }
    let form = if word == "cite" {
        Form::GeminiCite
    } else {
        Form::LabelledNumber
    };
    let on = families.includes(form.family());
    let numbers = on.then(|| list::counted(rest, form)).flatten();
    if let Some(found) = numbers.filter(ParsedCitation::is_plain) {
        return Some(found);
    }
    families.document.then(|| documents(rest))
}

/// Parses names, each with its claimed pages.
pub(super) fn documents(text: &str) -> ParsedCitation {
    let mut found = ParsedCitation::new(Form::NamedSource);
    for part in split_outside_quotes(text) {
        let (name, claimed) = name_and_pages(part.trim());
        if name.is_empty() {
            return ParsedCitation::malformed(Form::NamedSource, Malformed::EmptyName);
        }
        let document = |pages| Reference::Document {
            name: name.to_owned(),
            pages,
        };
        if claimed.is_empty() {
            found.references.push(document(None));
        }
        for pages in claimed {
            found.references.push(document(Some(pages)));
        }
    }
    found
}

/// Splits a text at semicolons outside quotation marks. An unmatched quotation mark has no effect.
fn split_outside_quotes(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let starts_part = text[start..at].trim().is_empty();
        if let Some((_, after)) = quoted(&text[at..]).filter(|_| starts_part) {
            at = text.len() - after.len();
            continue;
        }
        at += c.len_utf8();
        if c == ';' {
            parts.push(&text[start..at - 1]);
            start = at;
        }
    }
    // A semicolon at the end is ignored.
    if parts.is_empty() || !text[start..].trim().is_empty() {
        parts.push(&text[start..]);
    }
    parts
}

fn name_and_pages(part: &str) -> (&str, Vec<Pages>) {
    if let Some((name, after)) = quoted(part) {
        let after = after.trim_start_matches([',', ' ', ':']);
        if after.is_empty() {
            return (name.trim(), Vec::new());
        }
        if let Some(claimed) = pages::whole(after) {
            return (name.trim(), claimed);
        }
    }
    // Ids may contain commas (erratum 6). A name ends where the whole rest is pages.
    let ends = part.char_indices().filter(|(_, c)| matches!(c, ',' | ' '));
    for (end, _) in ends {
        let tail = part[end + 1..].trim_start();
        if let Some(claimed) = pages::whole(tail) {
            return (part[..end].trim_end_matches([',', ' ']), claimed);
        }
    }
    match pages::whole(part) {
        Some(_) => ("", Vec::new()),
        None => (part, Vec::new()),
    }
}

/// Returns the quotation that begins a text, and the text after it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let open = text.chars().next()?;
    let (_, close) = QUOTES.iter().find(|(o, _)| *o == open)?;
    text[open.len_utf8()..].split_once(*close)
}
