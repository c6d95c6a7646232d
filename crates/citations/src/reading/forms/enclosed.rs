//! Parses the text that brackets, braces or tags enclose, as each form that is on.

use super::{author_year, dagger, digits, fold, labelled, list, named, short_id};
use crate::citation::ParsedCitation;
use crate::{Family, Form, Grammar, Position, Reference};

/// Longest text in a bracket that is parsed, in bytes. A list of 150 markers fits.
pub(crate) const MAX_INSIDE: usize = 1024;

/// Parses the text between square brackets. `foreign` means that the brackets are full-width.
pub(crate) fn in_brackets(
    inside: &str,
    foreign: bool,
    grammar: &Grammar,
) -> Option<ParsedCitation> {
    let families = &grammar.families;
    // Most brackets contain one number.
    if families.ordinal
        && let Some(number) = digits::plain(inside, &grammar.numbers)
    {
        return Some(ParsedCitation::number(Form::Number, number));
    }
    let folded = fold::fold(inside);
    let text = folded.trim();
    let on = |found: &ParsedCitation| families.includes(found.form.family());
    let mut found = None
        .or_else(|| dagger::read(text).filter(on))
        .or_else(|| labelled::read(text).filter(on))
        .or_else(|| named::read(text, families))
        .or_else(|| {
            let read = families.marker.then(|| list::markers(text)).flatten();
            read.filter(|found| found.is_plain() || !named::is_known(text, grammar))
        })
        .or_else(|| {
            let numbers = || list::ordinals(text, &grammar.numbers);
            families.ordinal.then(numbers).flatten()
        })
        .or_else(|| short_id::read(text, &grammar.short_ids).filter(on))
        .or_else(|| bare_names(text, false, grammar))
        .or_else(|| {
            families
                .author_year
                .then(|| author_year::read(text))
                .flatten()
        })?;
    let names_markers = found
        .references
        .iter()
        .any(|r| matches!(r, Reference::Marker { .. }));
    found.repaired = names_markers && (found.repaired || foreign || text != inside);
    Some(found)
}

/// Parses the text between round brackets. Only unambiguous forms are read.
pub(crate) fn in_parentheses(inside: &str, grammar: &Grammar) -> Option<ParsedCitation> {
    let families = &grammar.families;
    // All these forms contain a digit or a colon. This skips most parentheses.
    let may_cite = |b: u8| b.is_ascii_digit() || b == b':' || b >= 0x80;
    inside.bytes().any(may_cite).then_some(())?;
    let folded = fold::fold(inside);
    let text = folded.trim();
    let on = |found: &ParsedCitation| families.includes(found.form.family());
    None.or_else(|| labelled::read(text).filter(on))
        .or_else(|| named::read(text, families))
        .or_else(|| bare_names(text, true, grammar))
        .or_else(|| {
            families
                .author_year
                .then(|| author_year::read(text))
                .flatten()
        })
}

/// Parses names of documents without a colon before them. `placed` requires coordinates.
fn bare_names(text: &str, placed: bool, grammar: &Grammar) -> Option<ParsedCitation> {
    let on = grammar.families.document;
    on.then(|| named::bare(text, placed, grammar)).flatten()
}

/// Parses the text between double braces: a number after a label.
pub(crate) fn in_braces(inside: &str) -> Option<ParsedCitation> {
    let folded = fold::fold(inside);
    let found = labelled::read(folded.trim())?;
    (found.form.family() == Family::Labelled).then_some(found)
}

/// Parses the items of a list for the whole answer: `p1, p2`, ids of any kind.
pub(crate) fn trailing_list(inside: &str, grammar: &Grammar) -> Option<ParsedCitation> {
    if let Some(read) = in_brackets(inside, false, grammar).filter(|read| !read.repaired) {
        return Some(read);
    }
    let folded = fold::fold(inside);
    let mut found = ParsedCitation::new(Form::TrailingList);
    for item in folded.split([',', ';']) {
        let id = item.trim().trim_matches(['"', '\'', '`']);
        let spelled = |c: char| c.is_alphanumeric() || "-_.:/#".contains(c);
        let is_id = !id.is_empty() && id.len() <= 128 && id.chars().all(spelled);
        if !is_id {
            return None;
        }
        found.references.push(Reference::Id {
            id: id.to_owned(),
            at: Position::default(),
        });
    }
    Some(found)
}

/// Parses the value of a tag attribute, or the content of a plain `<cite>`: markers, numbers or a name.
pub(crate) fn enclosed_names(form: Form, text: &str) -> Option<ParsedCitation> {
    let folded = fold::fold(text);
    let text = folded.trim();
    if let Some(mut found) = list::markers(text).filter(|found| found.is_plain() && !found.repaired)
    {
        found.form = form;
        return Some(found);
    }
    let mut found = list::counted(text, form.clone())?;
    found.form = form;
    Some(found)
}
