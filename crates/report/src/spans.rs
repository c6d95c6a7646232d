//! Splits an answer at its citations.

use std::ops::Range;

use reground_interrupt::checked;

/// A part of an answer.
#[derive(Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// Text of the part. Empty for a citation between two characters.
    pub text: &'a str,
    /// Indexes of the citations in this part. Empty for plain text. Citations that overlap share a part, which covers all of
    /// them.
    pub citations: Vec<usize>,
}

/// Splits `text` at citations, given as half-open ranges of characters. The pieces are adjacent and cover the text, and each
/// citation is in one piece. A range beyond the text is cut at its end; a range that ends before it begins is empty.
#[must_use]
pub fn pieces<'a>(text: &'a str, citations: &[Range<usize>]) -> Vec<Piece<'a>> {
    let length = checked(text.chars()).count();
    let mut order: Vec<(Range<usize>, usize)> = citations
        .iter()
        .enumerate()
        .map(|(index, range)| {
            let start = range.start.min(length);
            (start..range.end.clamp(start, length), index)
        })
        .collect();
    order.sort_by_key(|(range, index)| (range.start, range.end, *index));
    let mut groups: Vec<(Range<usize>, Vec<usize>)> = Vec::new();
    for (range, index) in order {
        match groups.last_mut() {
            // Adjacent citations stay separate, unless both are the same point.
            Some((group, indexes)) if range.start < group.end || range == *group => {
                group.end = group.end.max(range.end);
                indexes.push(index);
            }
            _ => groups.push((range, vec![index])),
        }
    }
    let mut rest = Cursor { text, chars: 0 };
    let mut pieces = Vec::new();
    for (range, citations) in groups {
        let before = rest.take_until(range.start);
        if !before.is_empty() {
            pieces.push(Piece {
                text: before,
                citations: Vec::new(),
            });
        }
        pieces.push(Piece {
            text: rest.take_until(range.end),
            citations,
        });
    }
    if !rest.text.is_empty() {
        pieces.push(Piece {
            text: rest.text,
            citations: Vec::new(),
        });
    }
    pieces
}

/// The rest of a text, and the number of its first character.
struct Cursor<'a> {
    text: &'a str,
    chars: usize,
}

impl<'a> Cursor<'a> {
    /// Removes and returns the text before the character with this number.
    fn take_until(&mut self, char: usize) -> &'a str {
        let count = char.saturating_sub(self.chars);
        let end = checked(self.text.char_indices())
            .nth(count)
            .map_or(self.text.len(), |(end, _)| end);
        let (taken, rest) = self.text.split_at(end);
        self.text = rest;
        self.chars += count;
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cut<'a>(text: &'a str, ranges: &[Range<usize>]) -> Vec<(&'a str, Vec<usize>)> {
        let pieces = pieces(text, ranges);
        pieces.into_iter().map(|p| (p.text, p.citations)).collect()
    }

    #[test]
    fn adjacent_citations_are_separate_pieces() {
        assert_eq!(
            cut("Grün [A1][B2].", &[5..9, 9..13]),
            [
                ("Grün ", vec![]),
                ("[A1]", vec![0]),
                ("[B2]", vec![1]),
                (".", vec![])
            ]
        );
        assert_eq!(cut("", &[]), []);
        assert_eq!(cut("plain", &[]), [("plain", vec![])]);
    }

    #[test]
    fn overlapping_citations_are_one_piece() {
        assert_eq!(
            cut("see [A1, B2] now", &[4..12, 4..12]),
            [("see ", vec![]), ("[A1, B2]", vec![0, 1]), (" now", vec![])]
        );
        assert_eq!(
            cut("abcdef", &[3..6, 0..2, 1..4])[0],
            ("abcdef", vec![1, 2, 0])
        );
    }

    #[test]
    fn a_citation_can_be_between_characters() {
        assert_eq!(
            cut("ab", &[1..1, 1..1, 2..2]),
            [
                ("a", vec![]),
                ("", vec![0, 1]),
                ("b", vec![]),
                ("", vec![2])
            ]
        );
        assert_eq!(cut("", &[0..0, 0..0]), [("", vec![0, 1])]);
    }

    #[test]
    fn invalid_ranges_are_clamped() {
        let backwards = Range { start: 2, end: 1 };
        assert_eq!(
            cut("abc", &[backwards, 9..12]),
            [("ab", vec![]), ("", vec![0]), ("c", vec![]), ("", vec![1])]
        );
    }

    proptest! {
        #[test]
        fn pieces_cover_the_text_and_all_citations(text in "[a-c字é ]{0,40}", ranges in prop::collection::vec((0..50_usize, 0..50_usize), 0..8)) {
            let ranges: Vec<Range<usize>> = ranges.into_iter().map(|(start, end)| Range { start, end }).collect();
            let pieces = pieces(&text, &ranges);
            prop_assert_eq!(pieces.iter().map(|p| p.text).collect::<String>(), text.clone());
            let mut found: Vec<usize> = pieces.iter().flat_map(|p| p.citations.iter().copied()).collect();
            found.sort_unstable();
            prop_assert_eq!(found, (0..ranges.len()).collect::<Vec<_>>());
            // Each piece covers its citations.
            let mut at = 0;
            let length = text.chars().count();
            for piece in &pieces {
                let end = at + piece.text.chars().count();
                for index in &piece.citations {
                    let start = ranges[*index].start.min(length);
                    prop_assert!(at <= start && ranges[*index].end.clamp(start, length) <= end);
                }
                at = end;
            }
        }
    }
}
