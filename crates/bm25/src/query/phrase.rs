//! Phrases, and the texts that contain them: the words at the distances of `phraseto_tsquery`.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use reground_interrupt::check_interrupt;

/// Work of looking up a word at a position.
const WORK_PER_PLACE: usize = 64;

/// Words at distances from the first one. Several words can be at one place, such as the forms that a dictionary returns; one of them is
/// enough.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Phrase {
    /// Distance from the first place, ascending, and the words there.
    places: Vec<(u32, Vec<Vec<u8>>)>,
}

impl Phrase {
    /// The phrase of words with their positions in a text; `None` without words.
    pub fn new(words: impl IntoIterator<Item = (Vec<u8>, u32)>) -> Option<Self> {
        let mut places: BTreeMap<u32, BTreeSet<Vec<u8>>> = BTreeMap::new();
        for (word, position) in words {
            places.entry(position).or_default().insert(word);
        }
        let (&first, _) = places.first_key_value()?;
        let place = |(position, words): (u32, BTreeSet<Vec<u8>>)| {
            (position - first, words.into_iter().collect())
        };
        Some(Self {
            places: places.into_iter().map(place).collect(),
        })
    }

    /// Whether the phrase is at one place, so that a text that has one of its words has the phrase.
    pub fn is_word(&self) -> bool {
        self.places.len() == 1
    }

    /// The words of each place.
    pub fn places(&self) -> impl Iterator<Item = &[Vec<u8>]> {
        self.places.iter().map(|(_, words)| words.as_slice())
    }
}

/// The positions of the words of a text.
#[derive(Clone, Debug, Default)]
pub struct TextPositions {
    positions: HashMap<Vec<u8>, BTreeSet<u32>>,
}

impl TextPositions {
    /// Adds a word at a position.
    pub fn add(&mut self, word: &[u8], position: u32) {
        match self.positions.get_mut(word) {
            Some(positions) => {
                positions.insert(position);
            }
            None => {
                self.positions.insert(word.to_vec(), [position].into());
            }
        }
    }

    /// Whether the text contains a phrase: it is compared at each occurrence of its rarest place.
    pub fn contain(&self, phrase: &Phrase) -> bool {
        let mut rarest: Option<(usize, u32, &[Vec<u8>])> = None;
        for (distance, words) in &phrase.places {
            check_interrupt(WORK_PER_PLACE * words.len());
            let count = self.of(words).map(BTreeSet::len).sum();
            if rarest.is_none_or(|(fewest, ..)| count < fewest) {
                rarest = Some((count, *distance, words));
            }
        }
        let Some((_, before, words)) = rarest else {
            return false;
        };
        self.of(words).flatten().any(|position| {
            let start = position.checked_sub(before);
            start.is_some_and(|start| self.has_at(start, phrase))
        })
    }

    /// Whether the phrase begins at a position.
    fn has_at(&self, start: u32, phrase: &Phrase) -> bool {
        phrase.places.iter().all(|(distance, words)| {
            check_interrupt(WORK_PER_PLACE * words.len());
            let position = start.checked_add(*distance);
            position.is_some_and(|position| self.of(words).any(|found| found.contains(&position)))
        })
    }

    /// The positions of each of several words.
    fn of(&self, words: &[Vec<u8>]) -> impl Iterator<Item = &BTreeSet<u32>> {
        words.iter().filter_map(|word| self.positions.get(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn positions(text: &[u8]) -> TextPositions {
        let mut positions = TextPositions::default();
        for (at, word) in (1..).zip(text) {
            // A stop word has a position and is no word.
            if *word != b'.' {
                positions.add(&[*word], at);
            }
        }
        positions
    }

    fn phrase(text: &[u8]) -> Option<Phrase> {
        let words = (1..).zip(text).filter(|(_, word)| **word != b'.');
        Phrase::new(words.map(|(at, word)| (vec![*word], at)))
    }

    proptest! {
        #[test]
        fn phrases_are_found_where_they_are(text in "[ab.]{0,12}", wanted in "[ab.]{1,4}") {
            let Some(phrase) = phrase(wanted.as_bytes()) else {
                prop_assert!(wanted.bytes().all(|word| word == b'.'));
                return Ok(());
            };
            let core = wanted.trim_matches('.').as_bytes();
            let is_there = text.as_bytes().windows(core.len()).any(|part| {
                part.iter().zip(core).all(|(word, wanted)| *wanted == b'.' || word == wanted)
            });
            prop_assert_eq!(positions(text.as_bytes()).contain(&phrase), is_there);
            prop_assert_eq!(phrase.is_word(), core.len() == 1);
        }
    }

    #[test]
    fn one_of_several_words_at_a_place_is_enough() {
        let words = [("foot", 3), ("feet", 3), ("pain", 5)];
        let phrase = Phrase::new(words.map(|(word, at)| (word.as_bytes().to_vec(), at))).unwrap();
        let mut text = TextPositions::default();
        text.add(b"feet", 7);
        text.add(b"pain", 8);
        assert!(!text.contain(&phrase));
        text.add(b"pain", 9);
        assert!(text.contain(&phrase));
        assert_eq!(phrase.places().count(), 2);
        assert_eq!(Phrase::new([]), None);
    }
}
