//! Assigns markers. A marker is bound once per conversation to a document, version, range and hash, and is never
//! reused.

use std::collections::{BTreeMap, BTreeSet};

use crate::memory::{BoundMarker, ContextSource, MarkerRegister};
use crate::passage::{Candidate, Passage};
use crate::settings::MarkerStyle;

/// Assigns a marker to each source of a context. Returns the markers in the context's order, and the new bindings.
///
/// `register` has the conversation's registry in the order of binding. It must contain at least the markers of the
/// context's documents, all markers with the letters of these, and the last one. A source that was bound before, by
/// document, version, pages, characters and hash, keeps its marker; if the corpus has no ranges, the passage's key
/// replaces them. Any other source gets the next number of its document's letters, and a new document gets the next
/// letters. Under [`MarkerStyle::Numbered`] it gets the next number of the conversation. Two sources of one context
/// never share a marker, so a marker of `register.taken` is not assigned.
#[must_use]
pub fn assign_markers<'a>(
    context: impl IntoIterator<Item = &'a Candidate>,
    register: &MarkerRegister,
    style: MarkerStyle,
) -> (Vec<String>, Vec<BoundMarker>) {
    let known = &register.markers;
    let mut registry = Registry::of(known);
    let mut used = register.taken.clone();
    let mut markers = Vec::new();
    let mut new = Vec::new();
    for candidate in context {
        let passage = &candidate.passage;
        let bound = registry.find(known, passage, &used).map(str::to_owned);
        let marker = bound.unwrap_or_else(|| {
            let marker = registry.next(passage, style);
            new.push(bind(passage, marker.clone()));
            marker
        });
        used.insert(marker.clone());
        markers.push(marker);
    }
    (markers, new)
}

type DocumentId = (String, String);

struct Registry {
    /// The letters of each document. If markers of another system share letters between documents, the first document
    /// owns them.
    letters: BTreeMap<DocumentId, u64>,
    /// Letters that a document owns.
    taken: BTreeSet<u64>,
    numbers: BTreeMap<u64, u64>,
    by_document: BTreeMap<DocumentId, Vec<usize>>,
    last_letters: u64,
    last_number: u64,
}

impl Registry {
    fn of(known: &[BoundMarker]) -> Self {
        let mut registry = Self {
            letters: BTreeMap::new(),
            taken: BTreeSet::new(),
            numbers: BTreeMap::new(),
            by_document: BTreeMap::new(),
            last_letters: 0,
            last_number: 0,
        };
        for (index, bound) in known.iter().enumerate() {
            let document = (bound.corpus.clone(), bound.doc_id.clone());
            registry
                .by_document
                .entry(document.clone())
                .or_default()
                .push(index);
            let Some((letters, number)) = parse(&bound.marker) else {
                continue;
            };
            if letters == 0 {
                registry.last_number = registry.last_number.max(number);
                continue;
            }
            registry.last_letters = registry.last_letters.max(letters);
            if registry.taken.insert(letters) {
                registry.letters.entry(document).or_insert(letters);
            }
            let highest = registry.numbers.entry(letters).or_default();
            *highest = (*highest).max(number);
        }
        registry
    }

    /// The marker that the passage is bound to, unless the context uses it already. Among equal bindings, the one with
    /// the same key is preferred.
    fn find<'a>(
        &self,
        known: &'a [BoundMarker],
        passage: &Passage,
        used: &BTreeSet<String>,
    ) -> Option<&'a str> {
        let document = (passage.corpus.clone(), passage.doc_id.clone());
        let bindings = self.by_document.get(&document)?;
        let fitting = bindings
            .iter()
            .filter_map(|&index| known.get(index))
            .filter(|bound| same_binding(bound, passage) && !used.contains(&bound.marker));
        fitting
            .min_by_key(|bound| bound.chunk_id != passage.chunk_id)
            .map(|bound| bound.marker.as_str())
    }

    fn next(&mut self, passage: &Passage, style: MarkerStyle) -> String {
        if style == MarkerStyle::Numbered {
            self.last_number += 1;
            return self.last_number.to_string();
        }
        let document = (passage.corpus.clone(), passage.doc_id.clone());
        let letters = *self.letters.entry(document).or_insert_with(|| {
            self.last_letters += 1;
            self.last_letters
        });
        let number = self.numbers.entry(letters).or_default();
        *number += 1;
        format!("{}{number}", spell(letters))
    }
}

/// The marker that a passage is bound to, if its context has no other source with the same binding.
pub(crate) fn bound_marker<'a>(passage: &Passage, known: &'a [BoundMarker]) -> Option<&'a str> {
    let same = known.iter().filter(|bound| {
        bound.corpus == passage.corpus
            && bound.doc_id == passage.doc_id
            && same_binding(bound, passage)
    });
    same.min_by_key(|bound| bound.chunk_id != passage.chunk_id)
        .map(|bound| bound.marker.as_str())
}

/// Bytes of the longest marker that some of the candidates with these markers can get if they are assigned alone, in any
/// order. Letters and numbers only grow with the number of candidates.
pub(crate) fn longest_marker(markers: &[String]) -> usize {
    let letters = |marker: &String| marker.find(|c: char| c.is_ascii_digit());
    let letters = |marker| letters(marker).unwrap_or(marker.len());
    let most_letters = markers.iter().map(letters).max();
    let most_digits = markers.iter().map(|one| one.len() - letters(one)).max();
    most_letters.unwrap_or_default() + most_digits.unwrap_or_default()
}

fn same_binding(bound: &BoundMarker, passage: &Passage) -> bool {
    // The characters of a window count from the beginning of its row, unless the corpus has ranges.
    let in_row = matches!(&passage.window_of, Some(row) if row.chars.is_none());
    let ranged = bound.pages.is_some() || (bound.chars.is_some() && !in_row);
    bound.version == passage.version
        && bound.pages == passage.pages
        && bound.chars == passage.chars
        && bound.content_hash == passage.content_hash
        && (ranged || bound.chunk_id == passage.chunk_id)
}

/// The binding of a passage to a marker.
pub(crate) fn bind(passage: &Passage, marker: String) -> BoundMarker {
    BoundMarker {
        marker,
        corpus: passage.corpus.clone(),
        doc_id: passage.doc_id.clone(),
        chunk_id: passage.chunk_id.clone(),
        version: passage.version,
        pages: passage.pages,
        chars: passage.chars,
        locator: passage.locator(),
        content_hash: passage.content_hash.clone(),
    }
}

/// The markers of another system's context that have our own form, each bound to its passage there. The history shows
/// them, so the conversation must not assign them again. Longer markers that extraction cannot parse are left out,
/// because the conversation's next marker would follow from them.
pub fn foreign_markers(
    context: &[ContextSource],
) -> impl Iterator<Item = (BoundMarker, &Passage)> + '_ {
    let ours = context.iter().filter(|source| is_own_form(&source.marker));
    ours.map(|source| {
        let passage = &source.candidate.passage;
        (bind(passage, source.marker.clone()), passage)
    })
}

fn is_own_form(marker: &str) -> bool {
    const LETTERS: usize = 3;
    const DIGITS: usize = 5;
    const DIGITS_ALONE: usize = 3;
    parse(marker).is_some_and(|(letters, number)| {
        let (letters, digits) = (spell(letters), number.to_string());
        let most = if letters.is_empty() {
            DIGITS_ALONE
        } else {
            DIGITS
        };
        number > 0
            && letters.len() <= LETTERS
            && digits.len() <= most
            && marker == format!("{letters}{digits}")
    })
}

/// Letters of the n-th document, from 1: A … Z, AA … (bijective base 26).
fn spell(mut n: u64) -> String {
    let mut letters = Vec::new();
    while n > 0 {
        n -= 1;
        letters.push(char::from(b'A' + (n % 26) as u8));
        n /= 26;
    }
    letters.into_iter().rev().collect()
}

/// Letters (0 for a bare number) and number of a marker.
fn parse(marker: &str) -> Option<(u64, u64)> {
    let split = marker.find(|c: char| c.is_ascii_digit())?;
    let (letters, number) = marker.split_at_checked(split)?;
    let letters = letters.bytes().try_fold(0u64, |n, byte| {
        let digit = byte
            .is_ascii_uppercase()
            .then(|| u64::from(byte - b'A') + 1)?;
        n.checked_mul(26)?.checked_add(digit)
    })?;
    Some((letters, number.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{candidate, passage};
    use crate::passage::CharRange;
    use proptest::prelude::*;

    fn assign_markers<'a>(
        context: impl IntoIterator<Item = &'a Candidate>,
        known: &[BoundMarker],
        style: MarkerStyle,
    ) -> (Vec<String>, Vec<BoundMarker>) {
        let register = MarkerRegister {
            markers: known.to_vec(),
            ..MarkerRegister::default()
        };
        super::assign_markers(context, &register, style)
    }

    #[test]
    fn a_taken_marker_is_not_assigned() {
        let cows = source("cows", "1", 0, "Cows give milk.");
        let (_, markers) = assign_markers([&cows], &[], MarkerStyle::Lettered);
        let register = MarkerRegister {
            markers,
            taken: BTreeSet::from(["A1".to_owned()]),
            ..MarkerRegister::default()
        };
        let (assigned, new) = super::assign_markers([&cows], &register, MarkerStyle::Lettered);
        assert_eq!(assigned, ["A2"]);
        assert_eq!(new.len(), 1);
    }

    fn source(doc: &str, key: &str, start: u32, text: &str) -> Candidate {
        candidate(passage(doc, key, 0, start, text), 0.1)
    }

    #[test]
    fn letters_count_past_z() {
        let spelled: Vec<_> = [1, 2, 26, 27, 52, 53, 702, 703].map(spell).into();
        assert_eq!(spelled, ["A", "B", "Z", "AA", "AZ", "BA", "ZZ", "AAA"]);
        for n in 1..2000 {
            assert_eq!(parse(&format!("{}7", spell(n))), Some((n, 7)));
        }
        assert_eq!(parse("x1"), None);
    }

    #[test]
    fn own_marker_forms_are_recognised() {
        for marker in ["A1", "ZZZ99999", "7", "999"] {
            assert!(is_own_form(marker), "{marker}");
        }
        let rest = [
            "",
            "A",
            "0",
            "A0",
            "A01",
            "07",
            "a1",
            "AAAA1",
            "A100000",
            "1000",
            "1A",
            "A1 ",
            "doc-1",
            "É1",
            "ZZZZZZZZZZZZZZZZZZZZ1",
            "99999999999999999999",
        ];
        for marker in rest {
            assert!(!is_own_form(marker), "{marker}");
        }
    }

    #[test]
    fn a_changed_passage_gets_a_new_marker() {
        let first = [
            source("d", "1", 0, "one"),
            source("e", "9", 0, "nine"),
            source("d", "2", 5, "two"),
        ];
        let (markers, bound) = assign_markers(&first, &[], MarkerStyle::Lettered);
        assert_eq!(markers, ["A1", "B1", "A2"]);
        let mut changed = source("d", "2", 5, "TWO");
        let wider = source("d", "1", 0, "one two");
        let (markers, new) = assign_markers(
            &[changed.clone(), wider, first[0].clone()],
            &bound,
            MarkerStyle::Lettered,
        );
        assert_eq!(markers, ["A3", "A4", "A1"]);
        assert_eq!(new.len(), 2);
        changed.passage.version = Some(2);
        let all = [bound, new].concat();
        assert_eq!(
            assign_markers(&[changed], &all, MarkerStyle::Lettered).0,
            ["A5"]
        );
        assert_eq!(
            assign_markers(&first, &all, MarkerStyle::Lettered).0,
            ["A1", "B1", "A2"]
        );
    }

    #[test]
    fn without_a_range_the_key_identifies_the_passage() {
        let mut a = source("d", "1", 0, "same");
        a.passage.chars = None;
        let mut b = a.clone();
        b.passage.chunk_id = "2".into();
        let (markers, bound) = assign_markers(&[a, b.clone()], &[], MarkerStyle::Lettered);
        assert_eq!(markers, ["A1", "A2"]);
        assert_eq!(
            assign_markers(&[b], &bound, MarkerStyle::Lettered).0,
            ["A2"]
        );
    }

    #[test]
    fn numbered_markers_continue() {
        let (markers, bound) = assign_markers(
            &[source("d", "1", 0, "one"), source("e", "2", 0, "two")],
            &[],
            MarkerStyle::Numbered,
        );
        assert_eq!(markers, ["1", "2"]);
        let (markers, _) = assign_markers(
            &[source("f", "3", 0, "three"), source("e", "2", 0, "two")],
            &bound,
            MarkerStyle::Numbered,
        );
        assert_eq!(markers, ["3", "2"]);
    }

    /// Document, version, range, hash, and the key if there is no range.
    type Meaning = (String, Option<i32>, Option<CharRange>, String, String);

    proptest! {
        #[test]
        fn markers_never_change_their_meaning(
            turns in proptest::collection::vec(proptest::collection::vec((0u8..30, 0u32..4, 0u8..3, any::<bool>()), 0..8), 1..12),
            numbered in any::<bool>(),
        ) {
            let style = if numbered { MarkerStyle::Numbered } else { MarkerStyle::Lettered };
            let mut known: Vec<BoundMarker> = Vec::new();
            let mut meaning: BTreeMap<String, Meaning> = BTreeMap::new();
            for turn in turns {
                let context: Vec<_> = turn.iter().map(|(doc, place, text, ranged)| {
                    let mut c = source(&format!("d{doc}"), &format!("{doc}/{place}"), place * 100, &format!("text {text}"));
                    if !ranged { c.passage.chars = None; }
                    c
                }).collect();
                let (markers, new) = assign_markers(&context, &known, style);
                let distinct: BTreeSet<_> = markers.iter().collect();
                prop_assert_eq!(distinct.len(), markers.len());
                for (marker, c) in markers.iter().zip(&context) {
                    let place = if c.passage.chars.is_some() { String::new() } else { c.passage.chunk_id.clone() };
                    let says = (c.passage.doc_id.clone(), c.passage.version, c.passage.chars, c.passage.content_hash.clone(), place);
                    let said = meaning.entry(marker.clone()).or_insert_with(|| says.clone());
                    prop_assert_eq!(said, &says);
                }
                known.extend(new);
            }
            let distinct: BTreeSet<_> = known.iter().map(|b| b.marker.clone()).collect();
            prop_assert_eq!(distinct.len(), known.len());
        }
    }
}
