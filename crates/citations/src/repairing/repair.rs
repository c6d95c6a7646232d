//! Corrects an answer: decides, edits the text, and reads it again.

use std::ops::Range;

use super::applied::{Applied, Edit};
use super::change::{Change, RepairedAnswer};
use super::corrections::{Correction, corrections};
use super::edits::{removed_sentence, removed_strings};
use super::misread::misread;
use super::mode::RepairMode;
use super::sentence_end::before_full_stop;
use super::unrepaired::Unrepaired;
use crate::reading::code_spans::non_prose_spans;

/// Corrects an answer.
///
/// A citation is changed only in a string that names sources and nothing else, such as `[A1, B2]`. Titles in prose, footnotes and
/// markup around a fact stay. Citations that an API returned apart from the text have no string, so nothing is changed there.
#[must_use]
pub fn repair(given: &Unrepaired<'_>, mode: RepairMode) -> RepairedAnswer {
    let mut edits = edits_of(given, mode);
    // An edit that changes how the rest is read is given up.
    loop {
        let applied = Applied::of(given.answer, &edits);
        let misread = misread(given, &applied);
        if misread.is_empty() {
            return applied.into_repaired();
        }
        edits.retain(|edit| misread.binary_search(&edit.bytes.start).is_err());
    }
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
                // A marker has no comma.
                citations: text.split(',').count(),
                text,
                changes,
            }),
            Correction::Insert {
                sentence,
                text,
                change,
            } => edits.extend(inserted(given, &hidden, sentence, &text, change)),
            Correction::Sentence { sentence, change } => {
                let removed = removed_sentence(given, sentence, change);
                edits.extend(removed.filter(|edit| !cuts(&hidden, &edit.bytes)));
            }
        }
    }
    edits.extend(removed_strings(given, removals));
    edits
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
        citations: usize::from(change.source.is_some()),
        changes: vec![Change {
            before: at..at,
            ..change
        }],
    })
}

/// Whether a part begins or ends within code or reasoning. If it is removed, the rest would become prose.
fn cuts(hidden: &[Range<usize>], part: &Range<usize>) -> bool {
    let inside = |at: usize| {
        let around = hidden.get(hidden.partition_point(|hidden| hidden.end <= at));
        around.is_some_and(|hidden| hidden.start < at)
    };
    inside(part.start) || inside(part.end)
}

/// Whether a hidden text is code within a line, which has ended.
fn is_inline_code(hidden: &str) -> bool {
    hidden.len() > 2 && hidden.starts_with('`') && hidden.ends_with('`') && !hidden.contains('\n')
}
