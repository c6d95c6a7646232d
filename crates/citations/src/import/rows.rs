//! Assigns imported citations to sentences and claims.

use std::collections::BTreeMap;
use std::ops::Range;

use reground_documents::sentence_spans;
use reground_interrupt::checked;

use super::api::Api;
use super::position_map::PositionMap;
use super::reader::ImportedCitation;
use crate::MAX_CITATIONS;
use crate::citation::ParsedCitation;
use crate::reading::claims;
use crate::reading::scan::{ClaimScope, FoundCitation};
use crate::{ExtractedCitation, Extraction, Form};

/// Longest claim of several sentences, in bytes. Of a longer range only the last sentences are used.
const MAX_CLAIM: usize = 2048;

/// Returns the citations and the quote of each.
pub(super) fn rows(
    answer: &str,
    positions: &PositionMap<'_>,
    api: Api,
    mut cited: Vec<ImportedCitation>,
) -> (Extraction, Vec<Option<String>>) {
    let omitted = cited.len().saturating_sub(MAX_CITATIONS);
    cited.truncate(MAX_CITATIONS);
    // The sort is stable: sources with the same position keep the order of the API.
    cited.sort_by_key(|c| (c.bytes.start, c.bytes.end));
    let form = Form::Custom(api.as_str().to_owned());
    let (found, placement_of) = found(answer, &cited, &form);
    let placed = claims::place_citations(answer, &found, false, false);
    let mut out = Extraction {
        sentences: placed.sentences,
        claims: placed.claims,
        statements: placed.statements,
        omitted,
        ..Extraction::default()
    };
    let mut quotes = Vec::with_capacity(cited.len());
    for (cited, index) in checked(cited.into_iter().zip(placement_of)) {
        let assigned = index.and_then(|index| placed.placements.get(index).copied());
        let placement = assigned.unwrap_or_default();
        out.citations.push(ExtractedCitation {
            span: positions.span(cited.bytes),
            form: form.clone(),
            family: form.family(),
            reference: cited.reference,
            repaired: false,
            scope: placement.scope,
            sentence: placement.sentence,
            claim: placement.claim,
            claim_at: placement.claim_at,
        });
        quotes.push(cited.quote);
    }
    (out, quotes)
}

/// Returns the strings to be placed, in order: each mark once, and each range of sentences once, as an empty mark
/// that encloses it. The second result is the index of the string for each citation.
fn found(
    answer: &str,
    cited: &[ImportedCitation],
    form: &Form,
) -> (Vec<FoundCitation>, Vec<Option<usize>>) {
    let mut marks: Vec<Range<usize>> = Vec::new();
    for cited in checked(cited).filter(|c| c.is_mark && !c.bytes.is_empty()) {
        // Marks are cut out of the text, so they must not overlap. A mark that overlaps another one is treated as a
        // range.
        if marks
            .last()
            .is_none_or(|last| last.end <= cited.bytes.start)
        {
            marks.push(cited.bytes.clone());
        }
    }
    let spans = sentence_spans(answer);
    let keys: Vec<Option<(usize, usize, bool)>> = checked(cited)
        .map(|cited| {
            let is_mark = cited.is_mark
                && marks
                    .binary_search_by_key(&cited.bytes.start, |m| m.start)
                    .is_ok_and(|n| marks[n] == cited.bytes);
            if is_mark {
                return Some((cited.bytes.start, cited.bytes.end, true));
            }
            sentences(&spans, &cited.bytes).map(|range| (range.start, range.end, false))
        })
        .collect();
    let mut index_of: BTreeMap<_, _> = keys.iter().flatten().map(|key| (*key, 0)).collect();
    let mut found = Vec::with_capacity(index_of.len());
    for (&(start, end, is_mark), index) in &mut index_of {
        *index = found.len();
        let (bytes, scope) = if is_mark {
            (start..end, ClaimScope::Sentence)
        } else {
            (start..start, ClaimScope::Enclosed(start..end))
        };
        found.push(FoundCitation {
            bytes,
            parsed: ParsedCitation::new(form.clone()),
            scope,
        });
    }
    let assigned = keys
        .into_iter()
        .map(|key| index_of.get(&key?).copied())
        .collect();
    (found, assigned)
}

/// Returns the sentences that a range overlaps; for an empty range, the sentence before it.
fn sentences(spans: &[Range<usize>], bytes: &Range<usize>) -> Option<Range<usize>> {
    let touched = bytes.start..bytes.end.max(bytes.start + 1);
    let mut first = spans.partition_point(|span| span.end <= touched.start);
    let after = spans.partition_point(|span| span.start < touched.end);
    if first >= after {
        first = after.checked_sub(1)?;
    }
    let end = spans[after - 1].end;
    let near = spans[first..after]
        .iter()
        .position(|span| end - span.start <= MAX_CLAIM);
    let first = near.map_or(after - 1, |n| first + n);
    Some(spans[first].start..end)
}
