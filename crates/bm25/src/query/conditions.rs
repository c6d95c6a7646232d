//! What the texts that a query finds must have and must not have, and which part of it an index without positions can decide.

use super::clauses::{Clause, Demand};
use super::phrase::{Phrase, TextPositions};
use super::query_weight::QueryWeight;
use crate::index::score::Statistics;

/// The conditions of a query; a text fulfils all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    each: Vec<Condition>,
}

/// A required or excluded clause.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Condition {
    excluded: bool,
    /// The clause by each text search configuration of the query. A text has the clause if it has one of them.
    phrases: Vec<Phrase>,
}

/// Words of which a document has at least one, or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordGroup<'a> {
    /// Whether the document has none of them.
    pub excluded: bool,
    /// The words.
    pub words: Vec<&'a [u8]>,
}

impl Conditions {
    /// The conditions of clauses. `phrases` returns a text as phrases, by each configuration. A clause without words, such as a stop word,
    /// is no condition.
    pub fn new(clauses: &[Clause<'_>], mut phrases: impl FnMut(&str) -> Vec<Phrase>) -> Self {
        let demanded = clauses
            .iter()
            .filter(|clause| clause.demand != Demand::Optional);
        let each = demanded.filter_map(|clause| {
            let mut phrases = phrases(clause.text);
            phrases.sort();
            phrases.dedup();
            (!phrases.is_empty()).then_some(Condition {
                excluded: clause.demand == Demand::Excluded,
                phrases,
            })
        });
        Self {
            each: each.collect(),
        }
    }

    /// Whether every text fulfils them.
    pub fn is_empty(&self) -> bool {
        self.each.is_empty()
    }

    /// Whether one of several texts has each required clause, and none has an excluded one.
    pub fn are_met(&self, texts: &[TextPositions]) -> bool {
        self.each.iter().all(|condition| {
            let mut phrases = condition.phrases.iter();
            let has = phrases.any(|phrase| texts.iter().any(|text| text.contain(phrase)));
            has != condition.excluded
        })
    }

    /// Whether the documents that fulfil each of [`word_groups`](Self::word_groups) are those that fulfil the conditions.
    pub fn are_decided_by_words(&self) -> bool {
        self.each.iter().all(Condition::is_of_words)
    }

    /// Upper bound of the share of documents that have a word of the query and the required words. `words` and `weights` are those of the
    /// statistics.
    pub fn selectivity(
        &self,
        words: &[(Vec<u8>, QueryWeight)],
        weights: &[f64],
        statistics: &Statistics,
    ) -> f64 {
        let required = self.word_groups().into_iter();
        let shares = required.filter(|group| !group.excluded).map(|group| {
            let each = words.iter().zip(weights);
            let weights = each.map(|((word, _), &weight)| {
                let counts = group.words.contains(&word.as_slice());
                if counts { weight } else { 0.0 }
            });
            statistics.selectivity(&weights.collect::<Vec<f64>>())
        });
        shares.fold(statistics.selectivity(weights), f64::min)
    }

    /// Groups of words that each document that meets the conditions fulfils.
    pub fn word_groups(&self) -> Vec<WordGroup<'_>> {
        self.each.iter().flat_map(Condition::word_groups).collect()
    }
}

impl Condition {
    fn is_of_words(&self) -> bool {
        self.phrases.iter().all(Phrase::is_word)
    }

    fn word_groups(&self) -> Vec<WordGroup<'_>> {
        match self.phrases.as_slice() {
            // A document can have the words of an excluded phrase elsewhere.
            _ if self.excluded && !self.is_of_words() => Vec::new(),
            [phrase] => phrase.places().map(|place| self.group([place])).collect(),
            phrases => {
                let first_places = phrases.iter().filter_map(|phrase| phrase.places().next());
                vec![self.group(first_places)]
            }
        }
    }

    fn group<'a>(&self, places: impl IntoIterator<Item = &'a [Vec<u8>]>) -> WordGroup<'a> {
        let words = places.into_iter().flatten();
        WordGroup {
            excluded: self.excluded,
            words: words.map(Vec::as_slice).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::clauses::clauses;
    use super::*;
    use proptest::prelude::*;

    /// The words of a text by a configuration that keeps letters, and by one that drops the vowel `a`.
    fn phrases(text: &str) -> Vec<Phrase> {
        let words = |drop: &str| {
            let each = (1..).zip(text.split_whitespace());
            Phrase::new(each.filter_map(|(at, word)| {
                let word = word.replace(drop, "");
                (!word.is_empty()).then(|| (word.into_bytes(), at))
            }))
        };
        [words("_"), words("a")].into_iter().flatten().collect()
    }

    fn positions(text: &str) -> TextPositions {
        let mut positions = TextPositions::default();
        for (at, word) in (1..).zip(text.split_whitespace()) {
            positions.add(word.as_bytes(), at);
        }
        positions
    }

    #[test]
    fn groups_are_of_the_words_of_each_place() {
        let query = clauses("x +b -c \"b c\" -\"d e\" +a").unwrap();
        let conditions = Conditions::new(&query, phrases);
        let groups: Vec<(bool, Vec<&[u8]>)> = conditions
            .word_groups()
            .into_iter()
            .map(|group| (group.excluded, group.words))
            .collect();
        let expected: Vec<(bool, Vec<&[u8]>)> = vec![
            (false, vec![b"b"]),
            (true, vec![b"c"]),
            (false, vec![b"b"]),
            (false, vec![b"c"]),
            (false, vec![b"a"]),
        ];
        assert_eq!(groups, expected);
        assert!(!conditions.are_decided_by_words());
        let words = clauses("x +ab -c").unwrap();
        assert!(Conditions::new(&words, phrases).are_decided_by_words());
        let stop = clauses("x +_").unwrap();
        assert!(Conditions::new(&stop, |_| Vec::new()).is_empty());
    }

    proptest! {
        /// A document that meets the conditions fulfils the groups; if words decide, the reverse is true as well.
        #[test]
        fn groups_are_necessary(query in "x( [+-]?(\"[ab]{1,2}( [ab])?\"|[ab]{1,2})){1,3}", text in "([ab]{1,2} ){0,4}") {
            let query = clauses(&query).unwrap();
            let conditions = Conditions::new(&query, phrases);
            let words: Vec<&[u8]> = text.split_whitespace().map(str::as_bytes).collect();
            let fulfils = conditions.word_groups().iter().all(|group| {
                group.words.iter().any(|word| words.contains(word)) != group.excluded
            });
            let met = conditions.are_met(&[positions(&text)]);
            prop_assert!(fulfils || !met);
            if conditions.are_decided_by_words() {
                prop_assert_eq!(fulfils, met);
            }
        }
    }
}
