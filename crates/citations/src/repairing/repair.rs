//! Corrects an answer: decides, edits the text, and reads it again.

use std::ops::Range;

use super::applied::{Applied, Edit};
use super::change::{Change, RepairedAnswer};
use super::corrections::{Correction, corrections};
use super::edits::{removed_sentence, removed_strings};
use super::misread::read_again;
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
    let unchanged = || RepairedAnswer {
        text: given.answer.to_owned(),
        ..RepairedAnswer::default()
    };
    // Without a citation, one that was omitted would be read.
    if given.extraction.omitted > 0 {
        return unchanged();
    }
    let hidden = non_prose_spans(given.answer);
    let mut edits = edits_of(given, &hidden, mode);
    // Edits that change how the rest is read are dropped.
    for _ in 0..MOST_READINGS {
        if edits.is_empty() {
            break;
        }
        let applied = Applied::of(given.answer, &edits);
        let misread = match read_again(given, &hidden, &applied) {
            Ok(extraction) => return applied.into_repaired(extraction),
            Err(misread) => misread,
        };
        edits.retain(|edit| misread.binary_search(&edit.bytes.start).is_err());
    }
    unchanged()
}

/// Maximum number of times that the text of one answer is read. Dropped edits rarely change the reading again.
const MOST_READINGS: usize = 16;

/// The edits of a mode.
fn edits_of(given: &Unrepaired<'_>, hidden: &[Range<usize>], mode: RepairMode) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut removals = Vec::new();
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
            } => edits.extend(inserted(given, hidden, sentence, &text, change)),
            Correction::Sentence { sentence, change } => {
                edits.push(removed_sentence(given, sentence, change));
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

/// Whether a hidden text is code within a line, which has ended.
fn is_inline_code(hidden: &str) -> bool {
    hidden.len() > 2 && hidden.starts_with('`') && hidden.ends_with('`') && !hidden.contains('\n')
}
