//! Splits a claim into the parts that its citations are judged by.
//!
//! A sentence may state several facts and cite each of them: `Paris is the capital of France [1], Berlin of Germany
//! [2].` Each citation then closes a segment, the text since the previous citation, and is judged by it. Neither
//! source supports the whole sentence.

use std::ops::Range;

/// Smallest number of content units of a segment. With three, `Berlin of Germany` would not be a segment. With one,
/// any text that contains the name would support an item of `Firefox [1], Chrome [2]`.
const LEAST: usize = 2;

/// A part of a claim, and the positions of the citations that are judged by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    /// The part, in bytes of the claim.
    pub bytes: Range<usize>,
    /// Positions of its citations in the claim, in bytes, half-open. The last segment also has all later citations.
    pub places: Range<usize>,
}

/// Splits a claim of `length` bytes with citations at `places`. `units` are the start bytes of its content units.
/// Both ascend.
///
/// The segments cover the claim, in order. A part that is too short joins the part before it, and citations with too
/// little text between them share a segment. A claim with citations at one position only is one segment. The text
/// after the last citation belongs to the last segment. If there is no content before the first citation and enough
/// after the last one (`[1] says …, while [2] says …`), each citation opens its segment. If there is some content
/// before the first citation, but too little, both readings are possible, and the claim is one segment.
pub(super) fn segments(length: usize, places: &[usize], units: &[usize]) -> Vec<Segment> {
    let count = |from: usize, to: usize| {
        units.partition_point(|unit| *unit < to) - units.partition_point(|unit| *unit < from)
    };
    let (Some(&first), Some(&last)) = (places.first(), places.last()) else {
        return Vec::new();
    };
    let opened = count(last, length) >= LEAST;
    let leads = opened && count(0, first) == 0;
    if opened && (1..LEAST).contains(&count(0, first)) {
        return vec![Segment {
            bytes: 0..length,
            places: first..last + 1,
        }];
    }
    let mut segments: Vec<Segment> = Vec::new();
    for (number, &place) in places.iter().enumerate() {
        let before = number.checked_sub(1).map_or(0, |before| places[before]);
        let after = places.get(number + 1).copied().unwrap_or(length);
        let own = if leads { place..after } else { before..place };
        let enough = count(own.start, own.end) >= LEAST;
        match segments.last_mut() {
            // The previous segment is too short, or this one would be: both become one.
            Some(part) if !(enough || leads) || count(part.bytes.start, part.bytes.end) < LEAST => {
                part.bytes.end = own.end;
                part.places.end = place + 1;
            }
            _ => segments.push(Segment {
                bytes: own,
                places: place..place + 1,
            }),
        }
    }
    if let Some(part) = segments.first_mut() {
        part.bytes.start = 0;
    }
    if let Some(part) = segments.last_mut() {
        part.bytes.end = length;
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::{LEAST, segments};
    use proptest::prelude::*;

    /// The segments of a claim with `^` at each citation. Words of more than three letters are its content.
    fn parts(marked: &str) -> Vec<String> {
        let (mut text, mut places) = (String::new(), Vec::new());
        for piece in marked.split('^') {
            text.push_str(piece);
            places.push(text.len());
        }
        places.pop();
        let words = text.split(' ').scan(0, |at, word| {
            let start = *at;
            *at += word.len() + 1;
            Some((start, word))
        });
        let units: Vec<usize> = words
            .filter(|(_, word)| word.trim_matches(',').len() > 3)
            .map(|(start, _)| start)
            .collect();
        segments(text.len(), &places, &units)
            .into_iter()
            .map(|part| text[part.bytes].trim().to_owned())
            .collect()
    }

    #[test]
    fn each_citation_closes_its_segment() {
        assert_eq!(
            parts("Paris is the capital of France^, Berlin of Germany^, and Rome of Italy^."),
            [
                "Paris is the capital of France",
                ", Berlin of Germany",
                ", and Rome of Italy."
            ]
        );
        assert_eq!(
            parts("Paris is the capital of France^^, and Berlin of Germany^^ as well"),
            [
                "Paris is the capital of France",
                ", and Berlin of Germany as well"
            ]
        );
    }

    #[test]
    fn short_parts_share_a_segment() {
        for whole in [
            "Paris is the capital of France^",
            "Paris^ is the capital of France^.",
            "The supported browsers are Firefox^, Chrome^, and Safari^.",
            "Firefox^, Chrome^, and Safari^ are supported browsers.",
            "According^ to servers need plugins, while^ clients need none.",
            "^^So it is.",
        ] {
            assert_eq!(parts(whole), [whole.replace('^', "")], "{whole}");
        }
        assert!(parts("No citation.").is_empty());
    }

    #[test]
    fn leading_citations_open_their_segments() {
        assert_eq!(
            parts("^ says that servers need plugins, while ^ and ^ says that clients need none."),
            [
                "says that servers need plugins, while",
                "and  says that clients need none."
            ]
        );
    }

    proptest! {
        #[test]
        fn segments_cover_the_claim_and_contain_each_place_once(
            mut places in prop::collection::vec(0_usize..40, 0..8),
            mut units in prop::collection::vec(0_usize..40, 0..20),
        ) {
            places.sort_unstable();
            units.sort_unstable();
            let parts = segments(40, &places, &units);
            let mut end = 0;
            for part in &parts {
                prop_assert_eq!(part.bytes.start, end);
                end = part.bytes.end;
                let held = units.iter().filter(|unit| part.bytes.contains(unit)).count();
                prop_assert!(parts.len() == 1 || held >= LEAST);
            }
            prop_assert_eq!(end, if places.is_empty() { 0 } else { 40 });
            for place in &places {
                prop_assert_eq!(parts.iter().filter(|part| part.places.contains(place)).count(), 1);
            }
        }
    }
}
