//! Puts markers into the answers that humans wrote. A sentence cites the sources of the turn's context that contain it.

use unicode_segmentation::UnicodeSegmentation;

use super::overlap::{overlap, words};

/// Least share of a sentence's content words that a source must contain.
pub const MIN_OVERLAP: f64 = 0.5;

/// The answer with the markers of the containing sources, given as markers and texts, after each sentence.
pub fn cite<'a>(answer: &str, sources: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let sources: Vec<(&str, Vec<String>)> = sources
        .map(|(marker, content)| (marker, words(content)))
        .collect();
    answer
        .split_sentence_bounds()
        .map(|sentence| {
            let holding = sources
                .iter()
                .filter(|(_, words)| holds(sentence, words, MIN_OVERLAP));
            let holding = holding.map(|(marker, _)| *marker);
            // The white space after a sentence stays behind the markers.
            let end = sentence.trim_end().len();
            let (sentence, space) = sentence.split_at(end);
            format!("{}{space}", marked(sentence, holding))
        })
        .collect()
}

/// Whether a passage (as its words) contains `share` of the content words of a sentence.
fn holds(sentence: &str, passage: &[String], share: f64) -> bool {
    overlap(sentence, passage).is_some_and(|overlap| overlap >= share)
}

/// Whether a passage contains `share` of any sentence of an answer.
pub fn holds_a_sentence(answer: &str, passage: &str, share: f64) -> bool {
    let passage = words(passage);
    answer
        .split_sentence_bounds()
        .any(|sentence| holds(sentence, &passage, share))
}

/// A text with markers at its end, before the full stop.
pub fn marked<'a>(text: &str, markers: impl Iterator<Item = &'a str>) -> String {
    let markers: String = markers.map(|marker| format!(" [{marker}]")).collect();
    let text = text.trim_end();
    match text.strip_suffix('.') {
        Some(sentence) => format!("{sentence}{markers}."),
        None => format!("{text}{markers}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_sentence_cites_the_sources_that_contain_it() {
        let sources = [
            ("A1", "Warranty: it lasts ten years on every roof."),
            ("B1", "Nothing of the kind."),
            ("C1", "Repairs are free within one week of a storm."),
        ];
        let answer =
            "The warranty lasts ten years.  Yes!\nRepairs after a storm are free (one week)";
        assert_eq!(
            cite(answer, sources.into_iter()),
            "The warranty lasts ten years [A1].  Yes!\nRepairs after a storm are free (one week) [C1]"
        );
    }

    proptest! {
        /// Without its markers the answer is the human's, and each marker is that of a source.
        #[test]
        fn only_markers_are_added(answer in "([a-d]{1,3}[ .?\n]{1,2}){0,12}", contents in prop::collection::vec("([a-d]{1,3} ){0,20}", 0..4)) {
            let markers: Vec<String> = (1..=contents.len()).map(|number| format!("A{number}")).collect();
            let sources = markers.iter().zip(&contents);
            let mut text = cite(&answer, sources.map(|(marker, content)| (marker.as_str(), content.as_str())));
            for marker in &markers {
                text = text.replace(&format!(" [{marker}]"), "");
            }
            prop_assert_eq!(text, answer);
        }
    }
}
