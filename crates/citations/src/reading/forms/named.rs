//! Documents by name: `Source: report.pdf, pp. 12–14`, `Source: "Smith, Jones & Co", p. 3; annex.md`, `report.pdf, p. 12`.

use std::collections::BTreeSet;

use super::cursor::Cursor;
use super::{file_names, list, position};
use crate::citation::ParsedCitation;
use crate::{Families, Form, Grammar, Malformed, Position, Reference};

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

/// Parses `Source: …`. A marker or a number may follow too; a document may have the name of the marker.
pub(super) fn read(text: &str, families: &Families) -> Option<ParsedCitation> {
    let (word, rest) = text.split_once(':')?;
    let word = word.trim().to_lowercase();
    if !WORDS.contains(&word.as_str()) {
        return None;
    }
    let rest = rest.trim();
    if let Some(found) = markers(rest, families) {
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

/// Parses markers after a word. A single one keeps its spelling, because a document may have it as its name.
fn markers(text: &str, families: &Families) -> Option<ParsedCitation> {
    let ours = families.marker.then(|| list::markers(text)).flatten();
    let mut found = ours.filter(ParsedCitation::is_plain)?;
    found.repaired = true;
    if let [Reference::Marker { name, at, .. }] = found.references.as_mut_slice() {
        let written = match *at == Position::default() {
            true => text,
            false => name_and_positions(text).0,
        };
        *name = Some(written.to_owned());
    }
    Some(found)
}

/// Parses names, each with its claimed coordinates.
pub(super) fn documents(text: &str) -> ParsedCitation {
    let mut found = ParsedCitation::new(Form::NamedSource);
    for part in split_outside_quotes(text) {
        let mut rest = part.trim();
        loop {
            let (name, claimed, more) = name_and_positions(rest);
            if name.is_empty() {
                return ParsedCitation::malformed(Form::NamedSource, Malformed::EmptyName);
            }
            push(&mut found, name, &claimed);
            if more.is_empty() {
                break;
            }
            rest = more;
        }
    }
    found
}

/// Parses names without a colon before them: `report.pdf, p. 12`, `Source report.pdf`, `Source A1`. A name must be known, quoted after a
/// word, or that of a file. Nothing else may be in the text. `placed` requires coordinates.
pub(super) fn bare(text: &str, placed: bool, grammar: &Grammar) -> Option<ParsedCitation> {
    let announced = announced(text);
    let text = announced.unwrap_or(text);
    let ours = announced.and_then(|rest| markers(rest, &grammar.families));
    if let Some(found) = ours.filter(|_| !placed) {
        return Some(found);
    }
    if !(text.contains('.') || announced.is_some() || !grammar.names.is_empty()) {
        return None;
    }
    let mut found = ParsedCitation::new(Form::NamedSource);
    for part in split_outside_quotes(text) {
        let mut rest = part.trim();
        loop {
            let quotes = announced.is_some() && quoted(rest).is_some();
            let (name, claimed, more) =
                known_name(rest, &grammar.names).unwrap_or_else(|| name_and_positions(rest));
            let known = grammar.names.contains(name);
            let file = file_names::is_one(name);
            let cites = announced.is_some() || !claimed.is_empty() || file_names::is_document(name);
            if !(known || quotes || file && cites) || placed && claimed.is_empty() {
                return None;
            }
            push(&mut found, name, &claimed);
            if more.is_empty() {
                break;
            }
            rest = more;
        }
    }
    Some(found)
}

/// Returns whether a text is the name of a source, with or without coordinates.
pub(super) fn is_known(text: &str, grammar: &Grammar) -> bool {
    known_name(text, &grammar.names).is_some()
}

/// Returns the text after a word that announces a source.
fn announced(text: &str) -> Option<&str> {
    let (word, rest) = text.split_once(' ')?;
    WORDS
        .iter()
        .any(|known| word.eq_ignore_ascii_case(known))
        .then(|| rest.trim_start())
}

/// Returns a known name that is the whole text, or all of it but its coordinates.
fn known_name<'t>(text: &'t str, names: &BTreeSet<String>) -> Option<NamedPart<'t>> {
    if names.is_empty() {
        return None;
    }
    if names.contains(text) {
        return Some((text, Vec::new(), ""));
    }
    let (name, claimed) = before_position(text)?;
    names.contains(name).then_some((name, claimed, ""))
}

/// Adds one reference for each position.
fn push(found: &mut ParsedCitation, name: &str, claimed: &[Position]) {
    let document = |at| Reference::Document {
        name: name.to_owned(),
        at,
    };
    if claimed.is_empty() {
        found.references.push(document(Position::default()));
    }
    for &at in claimed {
        found.references.push(document(at));
    }
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

/// A name, its coordinates, and the text from the next name on.
type NamedPart<'a> = (&'a str, Vec<Position>, &'a str);

/// Splits off the first name and its coordinates. Of the words after the name of a file, only coordinates and further files are
/// read.
fn name_and_positions(part: &str) -> NamedPart<'_> {
    if let Some((name, after)) = quoted(part) {
        let after = after.trim_start_matches([',', ' ', ':']);
        if after.is_empty() {
            return (name.trim(), Vec::new(), "");
        }
        if let Some(claimed) = position::whole(after) {
            return (name.trim(), claimed, "");
        }
    }
    if let Some((name, claimed)) = before_position(part) {
        // Several files, each with its pages, are not one name.
        if file_names::first(name).is_none_or(|end| end == name.len()) {
            return (name, claimed, "");
        }
    }
    match file_names::first(part) {
        Some(end) if end < part.len() => after_file(part, end),
        _ if position::whole(part).is_some() => ("", Vec::new(), ""),
        _ => (part, Vec::new(), ""),
    }
}

/// Splits a text at the first separator after which there are only coordinates. Ids may contain commas (erratum 6).
fn before_position(part: &str) -> Option<(&str, Vec<Position>)> {
    let ends = part.char_indices().filter(|(_, c)| matches!(c, ',' | ' '));
    for (end, separator) in ends {
        let tail = part[end + 1..].trim_start();
        let Some(claimed) = position::whole(tail) else {
            continue;
        };
        // `Guide line 5` may be a name.
        let paged = claimed
            .iter()
            .any(|at| at.pages.is_some() || *at == Position::default());
        if paged || separator == ',' || part[..end].ends_with(',') {
            return Some((part[..end].trim_end_matches([',', ' ']), claimed));
        }
    }
    None
}

/// Reads the text after the name of a file.
fn after_file(part: &str, end: usize) -> NamedPart<'_> {
    let (name, tail) = part.split_at(end);
    let joined = |text: &str| {
        let mut cursor = Cursor::new(text);
        let spaced = cursor.spaces();
        let signs = cursor.one_of(&[',', '&', ':']).is_some();
        cursor.spaces();
        let joins = signs || cursor.joining_word() || spaced && cursor.rest().starts_with('(');
        cursor.spaces();
        (joins, text.len() - cursor.rest().len())
    };
    let (joins, skipped) = joined(tail);
    if !joins {
        // `a.pdf v2` may be a name.
        return (part, Vec::new(), "");
    }
    let mut cursor = Cursor::new(&tail[skipped..]);
    let claimed = position::read(&mut cursor).unwrap_or_default();
    let rest = cursor.rest();
    let (joins, skipped) = match claimed.is_empty() {
        true => (true, 0),
        false => joined(rest),
    };
    let more = &rest[skipped..];
    let names_file = joins && file_names::first(more).is_some();
    (name, claimed, if names_file { more } else { "" })
}

/// Returns the quotation that begins a text, and the text after it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let open = text.chars().next()?;
    let (_, close) = QUOTES.iter().find(|(o, _)| *o == open)?;
    text[open.len_utf8()..].split_once(*close)
}
