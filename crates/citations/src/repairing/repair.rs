//! Corrects an answer: decides, edits the text, and reads it again.

use std::collections::BTreeSet;
use std::ops::Range;

use super::change::{Change, ChangeKind, RepairedAnswer};
use super::corrections::{Correction, corrections};
use super::edits::{Edit, applied, removed_sentence, removed_strings};
use super::mode::RepairMode;
use super::sentence_end::before_full_stop;
use super::unrepaired::Unrepaired;
use crate::extract;
use crate::reading::code_spans::non_prose_spans;

/// Corrects an answer.
///
/// A citation is changed only in a string that names sources and nothing else, such as `[A1, B2]`. Titles in prose, footnotes and
/// markup around a fact stay. Citations that an API returned apart from the text have no string, so nothing is changed there.
#[must_use]
pub fn repair(given: &Unrepaired<'_>, mode: RepairMode) -> RepairedAnswer {
    let mut edits = edits_of(given, mode);
    let mut repaired = applied(given.answer, &edits);
    // Another citation nearby can change how an answer is read. A correction that is not read as it is meant is given up.
    while let Some(misread) = misread(given, &repaired) {
        let all = edits.len();
        edits.retain(|edit| {
            let is_misread =
                |change: &Change| misread.contains(&(change.before.start, change.kind));
            !edit.changes.iter().any(is_misread)
        });
        if edits.len() == all {
            return RepairedAnswer::unchanged(given.answer);
        }
        repaired = applied(given.answer, &edits);
    }
    repaired
}

/// The edits of a mode.
fn edits_of(given: &Unrepaired<'_>, mode: RepairMode) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut removals = Vec::new();
    let hidden = non_prose_spans(given.answer);
    for correction in corrections(given, mode) {
        match correction {
            Correction::String {
                bytes,
                text,
                changes,
            } if text.is_empty() => removals.push((bytes, changes)),
            Correction::String {
                bytes,
                text,
                changes,
            } => edits.push(Edit {
                bytes,
                text,
                changes,
            }),
            Correction::Insert {
                sentence,
                text,
                change,
            } => edits.extend(inserted(given, &hidden, sentence, &text, change)),
            Correction::Sentence { sentence, change } => {
                edits.push(removed_sentence(given, sentence, change));
            }
        }
    }
    edits.extend(removed_strings(given, removals));
    edits
}

/// The changes that name a source, but are not read as a citation; `None` if there are none.
fn misread(given: &Unrepaired<'_>, repaired: &RepairedAnswer) -> Option<Vec<(usize, ChangeKind)>> {
    let naming = repaired
        .changes
        .iter()
        .filter(|change| change.source.is_some());
    let naming: Vec<&Change> = naming.filter(|change| !change.after.is_empty()).collect();
    if naming.is_empty() {
        return None;
    }
    let read = extract(&repaired.text, given.grammar).citations;
    let spans: BTreeSet<(usize, usize)> = read
        .iter()
        .map(|c| (c.span.bytes.start, c.span.bytes.end))
        .collect();
    let misread: Vec<_> = naming
        .into_iter()
        .filter(|change| !spans.contains(&(change.after.start, change.after.end)))
        .map(|change| (change.before.start, change.kind))
        .collect();
    (!misread.is_empty()).then_some(misread)
}

/// Adds a citation or a mark to a sentence, before its full stop; `None` within code. `hidden` is the text that is not prose.
fn inserted(
    given: &Unrepaired<'_>,
    hidden: &[Range<usize>],
    sentence: usize,
    text: &str,
    change: Change,
) -> Option<Edit> {
    let answer = given.answer;
    let span = given.extraction.sentences[sentence].clone();
    let at = span.start + before_full_stop(&answer[span.clone()]);
    let around = hidden.get(hidden.partition_point(|hidden| hidden.end < at));
    let at = match around.filter(|hidden| hidden.start < at) {
        Some(hidden) if !is_inline_code(&answer[hidden.start..at]) => {
            let prose = answer.get(span.start..hidden.start)?;
            span.start + before_full_stop(prose)
        }
        _ => at,
    };
    if answer[..at].ends_with(text) {
        return None;
    }
    let last = answer[..at].chars().next_back();
    let joined = last.is_some_and(|c| c.is_whitespace() || u32::from(c) >= 0x2E80);
    Some(Edit {
        bytes: at..at,
        text: match joined {
            true => text.to_owned(),
            false => format!(" {text}"),
        },
        changes: vec![Change {
            before: at..at,
            ..change
        }],
    })
}

/// Whether a hidden text is code within a line, which has ended.
fn is_inline_code(hidden: &str) -> bool {
    hidden.len() > 2 && hidden.starts_with('`') && hidden.ends_with('`') && !hidden.contains('\n')
}
