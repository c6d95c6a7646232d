//! Groups the citations of an answer by the claim, or the part of a claim, that they are judged by.

use reground_interrupt::checked;
use std::collections::BTreeMap;

use super::evidence::Evidence;
use super::segments::{Segment, segments};
use crate::support::{ClaimUnits, Vocabulary, unit_starts};
use crate::{CitationScope, ExtractedCitation, Extraction};

/// Citations and the text that they support.
pub(super) struct ClaimPart<'a> {
    /// The text as units; `None` if the citations support no claim.
    pub claim: Option<ClaimUnits<'a>>,
    /// The text, if it is the whole claim.
    pub whole: Option<&'a str>,
    /// The text, if it is not the whole claim.
    pub segment: Option<&'a str>,
    /// Indices of the citations, ascending.
    pub citations: Vec<usize>,
}

/// Reads the claims of an answer and adds their units to the vocabulary. Citations of the answer are left out. A claim with citations at several places is
/// split.
pub(super) fn claim_parts<'a>(
    extraction: &'a Extraction,
    evidence: &Evidence<'_>,
    vocabulary: &mut Vocabulary,
) -> Vec<ClaimPart<'a>> {
    let mut by_claim: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    for (number, citation) in checked(extraction.citations.iter().enumerate()) {
        if citation.scope == CitationScope::Answer {
            continue;
        }
        by_claim.entry(citation.claim).or_default().push(number);
    }
    let mut parts = Vec::with_capacity(by_claim.len());
    for (claim, citations) in checked(by_claim) {
        let read = claim.and_then(|claim| {
            let text = extraction.claims.get(claim)?.text.as_str();
            Some((text, evidence.claims.get(claim)?))
        });
        let Some((text, lexemes)) = read else {
            parts.push(ClaimPart {
                claim: None,
                whole: None,
                segment: None,
                citations,
            });
            continue;
        };
        let at = |number: &usize| at(&extraction.citations[*number], text);
        let mut places: Vec<usize> = citations.iter().map(at).collect();
        places.sort_unstable();
        places.dedup();
        let segments = match places[..] {
            [] | [_] => Vec::new(),
            _ => segments(
                text.len(),
                &places,
                &unit_starts(text, lexemes, evidence.cues),
            ),
        };
        if segments.len() < 2 {
            parts.push(ClaimPart {
                claim: Some(ClaimUnits::read(text, lexemes, evidence.cues, vocabulary)),
                whole: Some(text),
                segment: None,
                citations,
            });
            continue;
        }
        let first = parts.len();
        for Segment { bytes, .. } in checked(&segments) {
            let words = text.get(bytes.clone()).unwrap_or_default();
            parts.push(ClaimPart {
                claim: Some(ClaimUnits::part(words, lexemes, evidence.cues, vocabulary)),
                whole: None,
                segment: Some(words),
                citations: Vec::new(),
            });
        }
        for number in citations {
            let place = at(&number);
            let segment = segments.partition_point(|segment| segment.places.end <= place);
            if let Some(part) = parts.get_mut(first + segment) {
                part.citations.push(number);
            }
        }
    }
    parts
}

/// Returns the byte position of a citation in its claim.
fn at(citation: &ExtractedCitation, claim: &str) -> usize {
    let at = citation.claim_at.unwrap_or(claim.len());
    claim.floor_char_boundary(at)
}
