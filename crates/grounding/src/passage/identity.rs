//! Identity of passages: same place, twins, and neighbours.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::passage::{Candidate, CharRange, Passage};

/// The id of a passage over all corpora.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PassageId {
    /// Name of the corpus.
    pub corpus: String,
    /// The passage's key.
    pub chunk_id: String,
}

impl PassageId {
    /// The id of a passage.
    #[must_use]
    pub fn of(passage: &Passage) -> Self {
        Self {
            corpus: passage.corpus.clone(),
            chunk_id: passage.chunk_id.clone(),
        }
    }
}

impl Candidate {
    /// The ids of its passages: its own first, because a merge is named by it, then those merged into it.
    pub fn members(&self) -> impl Iterator<Item = PassageId> {
        let own = &self.passage.chunk_id;
        let others = self.member_chunk_ids.iter().filter(move |id| *id != own);
        std::iter::once(own).chain(others).map(|id| PassageId {
            corpus: self.passage.corpus.clone(),
            chunk_id: id.clone(),
        })
    }
}

/// The text that a passage belongs to: one version of one document.
pub(crate) type TextId<'a> = (&'a str, &'a str, Option<i32>);

pub(crate) fn text_id(passage: &Passage) -> TextId<'_> {
    (&passage.corpus, &passage.doc_id, passage.version)
}

/// Share of the shorter range that makes two passages of a document twins.
const TWIN_OVERLAP: f64 = 0.9;

/// The share of the shorter of two ranges that both have in common, in [0, 1]; 0 if one is empty.
#[must_use]
pub fn overlap(a: CharRange, b: CharRange) -> f64 {
    let common = a.end.min(b.end).saturating_sub(a.start.max(b.start));
    let shorter = length(a).min(length(b));
    if shorter == 0 {
        0.0
    } else {
        f64::from(common) / f64::from(shorter)
    }
}

fn length(range: CharRange) -> u32 {
    range.end.saturating_sub(range.start)
}

/// Whether two passages are twins: same content hash, in any document, or same version of the same document and at
/// least `TWIN_OVERLAP` of the shorter character range in common.
///
/// Equal pages do not make twins, because a page can hold several passages.
#[must_use]
pub fn twins(a: &Passage, b: &Passage) -> bool {
    a.content_hash == b.content_hash
        || (text_id(a) == text_id(b)
            && matches!((a.chars, b.chars), (Some(a), Some(b)) if overlap(a, b) >= TWIN_OVERLAP))
}

/// Whether `next` is the next passage of the same version and starts at or before the end of `before`.
///
/// Passages with a gap between them are not adjacent, because no passage contains the text in the gap.
#[must_use]
pub fn adjacent(before: &Passage, next: &Passage) -> bool {
    let follows =
        matches!((before.ordinal, next.ordinal), (Some(a), Some(b)) if a.checked_add(1) == Some(b));
    let touches = matches!((before.chars, next.chars),
        (Some(a), Some(b)) if a.start <= b.start && b.start <= a.end);
    follows && touches && text_id(before) == text_id(next)
}

/// The class of each passage: the index of its leader. A leader has its own index.
///
/// Passages are processed in the given order, strongest first. Each joins the first leader that it is a twin of.
/// Classes are not transitive: a chain of windows that each overlap the next must not collapse into one.
#[must_use]
pub fn twin_classes(passages: &[&Passage]) -> Vec<usize> {
    let mut by_hash: BTreeMap<&str, usize> = BTreeMap::new();
    let mut by_text: BTreeMap<TextId<'_>, Vec<(CharRange, usize)>> = BTreeMap::new();
    let mut classes = Vec::with_capacity(passages.len());
    for (index, passage) in passages.iter().enumerate() {
        let same_text = by_hash.get(passage.content_hash.as_str()).copied();
        let same_place = passage.chars.and_then(|chars| {
            let leaders = by_text.get(&text_id(passage))?;
            leaders
                .iter()
                .find(|(range, _)| overlap(*range, chars) >= TWIN_OVERLAP)
                .map(|l| l.1)
        });
        let leader = match (same_text, same_place) {
            (Some(a), Some(b)) => a.min(b),
            (Some(a), None) | (None, Some(a)) => a,
            (None, None) => {
                by_hash.insert(&passage.content_hash, index);
                if let Some(chars) = passage.chars {
                    by_text
                        .entry(text_id(passage))
                        .or_default()
                        .push((chars, index));
                }
                index
            }
        };
        classes.push(leader);
    }
    classes
}

/// Ids of the passages that the conversation already knows.
pub type KnownPassages = BTreeSet<PassageId>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{arbitrary_passages, passage};
    use proptest::prelude::*;

    #[test]
    fn twins_have_equal_text_or_overlapping_ranges() {
        let a = passage("d", "1", 0, 0, "alpha beta gamma");
        let mut b = passage("e", "2", 4, 0, "alpha beta gamma");
        assert!(twins(&a, &b));
        b.content_hash = "other".into();
        assert!(!twins(&a, &b), "another document");
        b.doc_id = "d".into();
        assert!(twins(&a, &b));
        b.version = Some(2);
        assert!(!twins(&a, &b), "another version");
    }

    #[test]
    fn overlap_is_measured_against_the_shorter() {
        let range = |start, end| CharRange { start, end };
        assert_eq!(overlap(range(0, 100), range(90, 100)), 1.0);
        assert_eq!(overlap(range(0, 100), range(95, 105)), 0.5);
        assert_eq!(overlap(range(0, 10), range(10, 20)), 0.0);
        assert_eq!(overlap(range(5, 5), range(0, 10)), 0.0);
    }

    #[test]
    fn chains_of_windows_do_not_collapse() {
        let text: String = std::iter::repeat_n("abcdefghij", 20).collect();
        let windows: Vec<_> = (0..10)
            .map(|i| {
                let slice = text.get(2 * i..2 * i + 100).unwrap();
                let mut p = passage("d", &i.to_string(), i as i32, 2 * i as u32, slice);
                p.content_hash = i.to_string();
                p
            })
            .collect();
        let refs: Vec<_> = windows.iter().collect();
        // Windows 0–5 overlap window 0 by 90 % or more, so every sixth is a leader.
        assert_eq!(twin_classes(&refs), [0, 0, 0, 0, 0, 0, 6, 6, 6, 6]);
    }

    proptest! {
        #[test]
        fn members_are_twins_of_their_leader_and_leaders_are_not_twins(passages in arbitrary_passages(24)) {
            let refs: Vec<_> = passages.iter().collect();
            let classes = twin_classes(&refs);
            for (i, &leader) in classes.iter().enumerate() {
                prop_assert!(leader <= i && classes[leader] == leader);
                prop_assert!(i == leader || twins(refs[i], refs[leader]));
                if leader == i {
                    prop_assert!((0..i).all(|j| classes[j] != j || !twins(refs[i], refs[j])));
                }
            }
        }
    }
}
