//! Normalises the names of entities, and finds them in a text.
//!
//! A name is matched as whole words: between word boundaries of UAX #29 or apostrophes. So "Ada" is found in "Ada's"
//! but not in "Adam", and "C++" is found although it does not end in a letter. Scripts written without spaces have a
//! boundary at every character.

use std::collections::BTreeSet;
use std::ops::Range;

use reground_documents::normalise;
use reground_interrupt::{check_interrupt, checked};
use unicode_segmentation::UnicodeSegmentation;

/// Maximum number of characters of an entity's name.
pub const LONGEST_NAME: usize = 200;

/// Maximum number of words and marks of a name that is searched for.
const MOST_PIECES: usize = 12;

/// Maximum number of words and marks of a text that are searched. Questions are shorter, and answers name their subject
/// at the start.
const TEXT_PIECES: usize = 256;

/// The normal form of a name: NFC, lower case, folded white space, one kind of apostrophe. Idempotent.
#[must_use]
pub fn normal_name(name: &str) -> String {
    let composed = normalise(name);
    let mut normal = String::with_capacity(composed.len());
    for (index, word) in composed.split_whitespace().enumerate() {
        if index > 0 {
            normal.push(' ');
        }
        normal.extend(
            checked(word.chars())
                .flat_map(char::to_lowercase)
                .map(fold_variant),
        );
    }
    normalise(&normal).into_owned()
}

/// One spelling for variants of a letter or an apostrophe.
fn fold_variant(c: char) -> char {
    match c {
        'ς' => 'σ',
        '\u{2019}' | '\u{02bc}' => '\'',
        other => other,
    }
}

/// A normalised text with its words and marks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Text {
    normal: String,
    /// Byte ranges of the words and marks of `normal`, in order, without white space.
    pieces: Vec<Range<usize>>,
}

impl Text {
    pub(super) fn new(text: &str) -> Self {
        let normal = normal_name(text);
        let pieces = pieces(&normal).take(TEXT_PIECES).collect();
        Self { normal, pieces }
    }

    /// Every span that could be a name, each once. At most twelve for each word or mark.
    pub(super) fn spans(&self) -> BTreeSet<&str> {
        let all = (0..self.pieces.len()).flat_map(|start| self.from(start));
        all.map(|(_, name)| name).collect()
    }

    /// The names of `known` in the text. If two overlap, the longer one counts, and of equally long ones the first:
    /// "New York Times" is not a mention of "New York".
    pub(super) fn mentions<'a>(&self, known: &'a BTreeSet<String>) -> BTreeSet<&'a str> {
        let mut found: Vec<(Range<usize>, &str)> = (0..self.pieces.len())
            .flat_map(|start| self.from(start))
            .filter_map(|(range, name)| Some((range, known.get(name)?.as_str())))
            .collect();
        found.sort_by_key(|(range, _)| (usize::MAX - range.len(), range.start));
        let mut taken = vec![false; self.pieces.len()];
        let mut names = BTreeSet::new();
        for (range, name) in found {
            let Some(place) = self.places(&range).and_then(|pieces| taken.get_mut(pieces)) else {
                continue;
            };
            if place.iter().all(|taken| !taken) {
                place.fill(true);
                names.insert(name);
            }
        }
        names
    }

    /// The spans that start at a piece.
    fn from(&self, start: usize) -> impl Iterator<Item = (Range<usize>, &str)> {
        let pieces = self.pieces.iter().skip(start).take(MOST_PIECES);
        let first = self.pieces.get(start).map_or(0, |piece| piece.start);
        pieces.filter_map(move |last| {
            let range = first..last.end;
            let name = self.normal.get(range.clone())?;
            check_interrupt(1);
            (name.chars().count() <= LONGEST_NAME).then_some((range, name))
        })
    }

    /// The pieces within a range of bytes.
    fn places(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let first = self
            .pieces
            .partition_point(|piece| piece.start < range.start);
        let end = self.pieces.partition_point(|piece| piece.end <= range.end);
        (first < end).then_some(first..end)
    }
}

/// The spans between word boundaries, also split at apostrophes, without white space.
fn pieces(normal: &str) -> impl Iterator<Item = Range<usize>> {
    normal.split_word_bound_indices().flat_map(|(at, word)| {
        check_interrupt(1);
        let mut begin = at;
        let cuts = word
            .split_inclusive('\'')
            .flat_map(|part| match part.strip_suffix('\'') {
                Some(letters) => [letters.len(), 1],
                None => [part.len(), 0],
            });
        let parts: Vec<Range<usize>> = cuts
            .map(|length| {
                let part = begin..begin + length;
                begin = part.end;
                part
            })
            .filter(|part| !part.is_empty() && word != " ")
            .collect();
        parts
    })
}
