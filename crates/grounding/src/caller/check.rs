//! Passages for a check of an answer without a turn or a conversation.

use std::collections::BTreeSet;

use reground_citations::Source;
use reground_documents::CallerPassage;

use crate::caller::caller_passages::{Naming, caller_passage};
use crate::error::GroundingError;
use crate::memory::ContextSource;
use crate::passage::{Candidate, Origin};

/// The passages as the context of a turn, in their order. `corpus` is used to look up their documents, if it is not
/// empty. A passage without a marker is cited by its number, from 1. A passage without a key has its number as key, and
/// a passage without a document is a document of its own.
///
/// # Errors
/// [`GroundingError::RepeatedMarker`] if two passages have the same marker, [`GroundingError::Marker`] for a marker
/// that no answer could cite.
pub fn context(
    passages: Vec<CallerPassage>,
    corpus: &str,
) -> Result<Vec<ContextSource>, GroundingError> {
    with_markers(passages, corpus, Naming::Place)
}

/// Passages as the context of a turn, under their own markers or their numbers.
pub(crate) fn with_markers(
    passages: Vec<CallerPassage>,
    corpus: &str,
    naming: impl Fn(u32) -> Naming,
) -> Result<Vec<ContextSource>, GroundingError> {
    let mut markers = BTreeSet::new();
    let mut sources = Vec::with_capacity(passages.len());
    for (position, given) in (1..).zip(passages) {
        let marker = match &given.marker {
            Some(given) => marker(given)?,
            None => position.to_string(),
        };
        if !markers.insert(marker.clone()) {
            return Err(GroundingError::RepeatedMarker(marker));
        }
        let passage = caller_passage(given, corpus, naming(position));
        sources.push(ContextSource {
            marker,
            position,
            candidate: Candidate::bare(passage, Origin::Fresh),
            facts: Vec::new(),
            retrieval_no: 0,
        });
    }
    Ok(sources)
}

/// Numbers the sources by position, unless their markers are other numbers.
pub fn number_sources(sources: &mut [Source]) {
    let numbered_otherwise = (1_u32..)
        .zip(&*sources)
        .any(|(position, source)| source.ordinal.is_some_and(|own| own != position));
    if numbered_otherwise {
        return;
    }
    for (position, source) in (1..).zip(sources) {
        source.ordinal = Some(position);
    }
}

/// A marker in the form that answers use: a number, alone or after letters, which become upper case.
fn marker(given: &str) -> Result<String, GroundingError> {
    let marker = given.trim().to_ascii_uppercase();
    let number = marker.trim_start_matches(|c: char| c.is_ascii_uppercase());
    let readable = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    if readable {
        Ok(marker)
    } else {
        Err(GroundingError::Marker(given.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(passages: serde_json::Value) -> Result<Vec<ContextSource>, GroundingError> {
        context(CallerPassage::parse_list(&passages).expect("passages"), "")
    }

    #[test]
    fn missing_markers_and_ids_are_numbers() {
        let sources = read(json!([
            {"content": "Cows."},
            {"content": "Sheep.", "marker": "B2", "chunk_id": 7, "doc_id": "farm", "page_start": 3}
        ]))
        .expect("a context");
        let named: Vec<_> = sources
            .iter()
            .map(|source| {
                let passage = &source.candidate.passage;
                (&*source.marker, &*passage.doc_id, &*passage.chunk_id)
            })
            .collect();
        assert_eq!(named, [("1", "1", "1"), ("B2", "farm", "7")]);
        assert_eq!(
            sources[1].candidate.passage.pages.map(|pages| pages.start),
            Some(3)
        );
    }

    #[test]
    fn markers_are_unique_and_valid() {
        let twice = read(json!([{"content": "a", "marker": "2"}, {"content": "b"}]));
        assert_eq!(twice, Err(GroundingError::RepeatedMarker("2".into())));
        let unreadable = read(json!([{"content": "a", "marker": "doc-a"}]));
        assert_eq!(unreadable, Err(GroundingError::Marker("doc-a".into())));
    }

    #[test]
    fn numeric_markers_are_not_positions() {
        let numbers = |markers: [&str; 2]| {
            let mut sources: Vec<Source> = markers
                .iter()
                .map(|marker| Source {
                    ordinal: marker.parse().ok(),
                    ..Source::default()
                })
                .collect();
            number_sources(&mut sources);
            let ordinals = sources.iter().map(|source| source.ordinal);
            ordinals.collect::<Vec<_>>()
        };
        assert_eq!(numbers(["A1", "B1"]), [Some(1), Some(2)]);
        assert_eq!(numbers(["1", "B1"]), [Some(1), Some(2)]);
        assert_eq!(numbers(["3", "1"]), [Some(3), Some(1)]);
        assert_eq!(numbers(["0", "1"]), [Some(0), Some(1)]);
    }
}
