//! Extracts the sentences of an answer whose citations hold.

use std::ops::Range;

use reground_citations::{ExtractedCitation, Extraction, Form, Grammar, Reference, extract};
use reground_interrupt::checked;

use super::messages::HistoryTurn;

/// These sentences with their citations, verbatim, with a line break for each gap. `None` if there are none, or if the
/// extract would be parsed differently from the answer.
pub(super) fn cited_sentences(turn: &HistoryTurn, grammar: &Grammar) -> Option<String> {
    let held = checked(&turn.citations).filter(|one| one.holds == Some(true));
    let held = united(held.map(|one| one.bytes.clone()).collect());
    if held.is_empty() {
        return None;
    }
    let answer = &turn.answer;
    let read = extract(answer, grammar);
    let kept = kept(&read, &held);
    let text = cut(answer, &kept)?;
    let again = extract(&text, grammar);
    let before = touching(&kept, &read.citations, |citation| &citation.span.bytes);
    let same = references(&again.citations).eq(references(before));
    (same && !text.is_empty()).then_some(text)
}

/// The ranges to keep: the sentences and the citations that the valid ranges touch, and the sentences that those
/// citations belong to, which can be outside the range: `It is so. [A1]`.
fn kept(read: &Extraction, held: &[Range<usize>]) -> Vec<Range<usize>> {
    let sentences = touching(held, &read.sentences, |sentence| sentence);
    let mut kept: Vec<Range<usize>> = sentences.cloned().collect();
    for citation in touching(held, &read.citations, |citation| &citation.span.bytes) {
        let sentence = citation.sentence.and_then(|at| read.sentences.get(at));
        kept.extend(sentence.cloned());
        kept.push(citation.span.bytes.clone());
    }
    united(kept)
}

/// The text of the ranges. A gap becomes a line break, unless it is white space, which stays.
fn cut(text: &str, ranges: &[Range<usize>]) -> Option<String> {
    let mut out = String::new();
    let mut end = None;
    for range in checked(ranges) {
        if let Some(end) = end {
            let between = text.get(end..range.start)?;
            let blank = checked(between.chars()).all(char::is_whitespace);
            out.push_str(if blank { between } else { "\n" });
        }
        out.push_str(text.get(range.clone())?);
        end = Some(range.end);
    }
    Some(out)
}

/// The ranges in order, with overlapping ones merged and empty ones removed.
fn united(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.retain(|range| !range.is_empty());
    ranges.sort_by_key(|range| range.start);
    let mut united: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in checked(ranges) {
        match united.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => united.push(range),
        }
    }
    united
}

/// The items that touch one of the ranges. Both are sorted, and one pass over both is enough.
fn touching<'a, T>(
    ranges: &'a [Range<usize>],
    items: &'a [T],
    bytes: impl Fn(&T) -> &Range<usize> + 'a,
) -> impl Iterator<Item = &'a T> {
    let mut ranges = ranges.iter().peekable();
    checked(items).filter(move |item| {
        let bytes = bytes(item);
        while ranges.next_if(|range| range.end <= bytes.start).is_some() {}
        ranges.peek().is_some_and(|range| range.start < bytes.end)
    })
}

/// The forms and references of citations, independent of their positions.
fn references<'a>(
    citations: impl IntoIterator<Item = &'a ExtractedCitation>,
) -> impl Iterator<Item = (&'a Form, &'a Reference)> {
    checked(citations).map(|citation| (&citation.form, &citation.reference))
}
