//! Finds edits that change how the rest of the answer is read.

use std::collections::BTreeMap;
use std::ops::Range;

use reground_interrupt::checked;

use super::applied::{Applied, Placed};
use super::unrepaired::Unrepaired;
use crate::extract;

/// The number of citations at each place of a text.
type Places = BTreeMap<(usize, usize), usize>;

/// Returns the starts of the edits that are next to a missing or an unintended citation, ascending. A citation, a bracket or a full stop
/// can change how the text next to it is read.
pub(super) fn misread(given: &Unrepaired<'_>, applied: &Applied<'_>) -> Vec<usize> {
    let expected = expected(given, applied);
    let read = extract(&applied.text, given.grammar).citations;
    let read = places(read.iter().map(|citation| citation.span.bytes.clone()));
    let differs = |place: &&(usize, usize)| expected.get(*place) != read.get(*place);
    let differing = checked(expected.keys().chain(read.keys())).filter(differs);
    let mut misread: Vec<usize> = differing
        .filter_map(|(start, _)| nearest(&applied.placed, *start))
        .collect();
    misread.sort_unstable();
    misread.dedup();
    misread
}

/// The citations that no edit replaces, and those that the edits write.
fn expected(given: &Unrepaired<'_>, applied: &Applied<'_>) -> Places {
    let citations = given.extraction.citations.iter();
    let kept = citations.filter_map(|citation| applied.kept(&citation.span.bytes));
    let mut expected = places(kept);
    for Placed { edit, after, .. } in &applied.placed {
        if edit.citations > 0 {
            let string = edit.text.trim_start().len();
            expected.insert((after.end - string, after.end), edit.citations);
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
