//! Finds edits that change how the rest of the answer is read.

use std::collections::BTreeMap;
use std::ops::Range;

use reground_interrupt::checked;

use super::applied::{Applied, Placed};
use super::unrepaired::Unrepaired;
use crate::Extraction;
use crate::reading::code_spans::non_prose_spans;
use crate::reading::extract::extract_part;

/// The number of citations, or of parts that are not prose, at each place of a text.
type Places = BTreeMap<(usize, usize), usize>;

/// Reads the text, and compares its code and its citations with those of the answer. `hidden` is the code and the reasoning of the answer. A
/// citation, a bracket or a full stop can change how the text next to it is read.
///
/// # Errors
/// The starts of the edits next to a difference, ascending.
pub(super) fn read_again(
    given: &Unrepaired<'_>,
    hidden: &[Range<usize>],
    applied: &Applied<'_>,
) -> Result<Extraction, Vec<usize>> {
    let cut = checked(hidden).filter_map(|span| applied.cut(span));
    let mut misread: Vec<usize> = cut.collect();
    if misread.is_empty() {
        misread.extend(changed_code(hidden, applied));
    }
    // Code that began or ended elsewhere also hides or shows citations far from the edit.
    if !misread.is_empty() {
        return Err(misread);
    }
    let extraction = extract_part(&applied.text, given.grammar, given.in_list).extraction;
    let mut misread = changed_citations(given, &extraction, applied);
    if misread.is_empty() {
        return Ok(extraction);
    }
    misread.sort_unstable();
    Err(misread)
}

/// The start of the edit that made the first code begin or end elsewhere. It can change how all text after it is read.
fn changed_code(hidden: &[Range<usize>], applied: &Applied<'_>) -> Option<usize> {
    let kept = checked(hidden).filter_map(|span| applied.kept(span));
    let read = non_prose_spans(&applied.text);
    let changed = differences(&places(kept), &places(read.into_iter()));
    let start = *changed.iter().min()?;
    within_opening(applied, start).or_else(|| nearest(&applied.placed, start))
}

/// The start of the edit that joined the opening of a code or a reasoning that begins at `start`, as without `[9]` in `` `[9]`` ``.
fn within_opening(applied: &Applied<'_>, start: usize) -> Option<usize> {
    let text = applied.text.get(start..)?;
    let first = text.chars().next()?;
    let length = match first {
        '<' => text.find('>')? + 1,
        _ => text.len() - text.trim_start_matches(first).len(),
    };
    let inside =
        |placed: &&Placed<'_>| start < placed.after.start && placed.after.start < start + length;
    let joined = applied.placed.iter().find(inside)?;
    Some(joined.edit.bytes.start)
}

/// Starts of the edits next to a missing or an additional citation.
fn changed_citations(
    given: &Unrepaired<'_>,
    extraction: &Extraction,
    applied: &Applied<'_>,
) -> Vec<usize> {
    let read = extraction.citations.iter();
    let read = places(read.map(|citation| citation.span.bytes.clone()));
    let changed = differences(&expected_citations(given, applied), &read);
    let edits = changed.into_iter();
    edits
        .filter_map(|start| nearest(&applied.placed, start))
        .collect()
}

/// The citations that no edit replaces, and those that the edits write.
fn expected_citations(given: &Unrepaired<'_>, applied: &Applied<'_>) -> Places {
    let citations = checked(&given.extraction.citations);
    let kept = citations.filter_map(|citation| applied.kept(&citation.span.bytes));
    let mut expected = places(kept);
    for Placed { edit, after } in &applied.placed {
        if edit.citations > 0 {
            expected.insert((after.start, after.end), edit.citations);
        }
    }
    expected
}

fn places(spans: impl Iterator<Item = Range<usize>>) -> Places {
    let mut places = Places::new();
    for span in spans {
        *places.entry((span.start, span.end)).or_default() += 1;
    }
    places
}

/// Starts of the places that differ.
fn differences(expected: &Places, read: &Places) -> Vec<usize> {
    let differs = |place: &&(usize, usize)| expected.get(*place) != read.get(*place);
    let all = checked(expected.keys().chain(read.keys()));
    all.filter(differs).map(|(start, _)| *start).collect()
}

/// The start of the edit that is nearest to a position of the text.
fn nearest(placed: &[Placed<'_>], at: usize) -> Option<usize> {
    let after = placed.partition_point(|placed| placed.after.end < at);
    let around = placed[after.saturating_sub(1)..].iter().take(2);
    let distance = |placed: &&Placed<'_>| {
        let Range { start, end } = placed.after;
        start.saturating_sub(at).max(at.saturating_sub(end))
    };
    Some(around.min_by_key(distance)?.edit.bytes.start)
}
