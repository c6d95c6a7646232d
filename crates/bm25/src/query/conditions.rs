//! What the texts that a query finds must have and must not have, and which part of it an index without positions can decide.

use std::collections::BTreeSet;

use super::clauses::{Clause, Demand};
use super::phrase::{Phrase, TextPositions};
use super::query_weight::QueryWeight;
use crate::index::score::Statistics;

/// Number of groups of words that the index is asked for. Further ones are only compared with the texts.
const MAX_GROUPS: usize = 64;

/// The conditions of a query; a text fulfils all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    each: BTreeSet<Condition>,
    /// All words in them.
    words: BTreeSet<Vec<u8>>,
    groups: BTreeSet<WordGroup>,
    are_decided: bool,
}

/// A required or excluded clause.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Condition {
    excluded: bool,
    /// The clause by each text search configuration of the query. A text has the clause if it has one of them.
    phrases: Vec<Phrase>,
}

/// Words of which a document has at least one, or none.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WordGroup {
    /// Whether the document has none of them.
    pub excluded: bool,
    /// The words.
    pub words: Vec<Vec<u8>>,
}

impl Conditions {
    /// The conditions of clauses. `phrases` returns a text as a phrase by each configuration; `None` for a text without words, such as
    /// a stop word. A required clause without words in one configuration is no condition.
    pub fn new(
        clauses: &[Clause<'_>],
        mut phrases: impl FnMut(&str) -> Vec<Option<Phrase>>,
    ) -> Self {
        let mut each = BTreeSet::new();
        for clause in clauses {
            let excluded = match clause.demand {
                Demand::Optional => continue,
                Demand::Required => false,
                Demand::Excluded => true,
            };
            let found = phrases(clause.text);
            let is_stop_word = !excluded && found.iter().any(Option::is_none);
            let mut phrases: Vec<Phrase> = found.into_iter().flatten().collect();
            phrases.sort();
            phrases.dedup();
            if !is_stop_word && !phrases.is_empty() {
                each.insert(Condition { excluded, phrases });
            }
        }
        let phrases = each.iter().flat_map(|condition| &condition.phrases);
        let words = phrases
            .flat_map(Phrase::places)
            .flatten()
            .cloned()
            .collect();
        let mut groups: BTreeSet<WordGroup> =
            each.iter().flat_map(Condition::word_groups).collect();
        let are_decided = groups.len() <= MAX_GROUPS && each.iter().all(Condition::is_of_words);
        while groups.len() > MAX_GROUPS {
            groups.pop_last();
        }
        Self {
            each,
            words,
            groups,
            are_decided,
        }
    }

    /// Whether every text fulfils them.
    pub fn is_empty(&self) -> bool {
        self.each.is_empty()
    }

    /// Whether they are about a word.
    pub fn mention(&self, word: &[u8]) -> bool {
        self.words.contains(word)
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
        self.are_decided
    }

    /// Groups of words that each document that meets the conditions fulfils.
    pub fn word_groups(&self) -> impl Iterator<Item = &WordGroup> {
        self.groups.iter()
    }

    /// Upper bound of the share of documents that have a word of the query and the required words. `words` and `weights` are those of the
    /// statistics.
    pub fn selectivity(
        &self,
        words: &[(Vec<u8>, QueryWeight)],
        weights: &[f64],
        statistics: &Statistics,
    ) -> f64 {
        let required = self.word_groups().filter(|group| !group.excluded);
        let shares = required.map(|group| {
            let each = words.iter().zip(weights);
            let weights = each.map(|((word, _), &weight)| {
                let counts = group.words.contains(word);
                if counts { weight } else { 0.0 }
            });
            statistics.selectivity(&weights.collect::<Vec<f64>>())
        });
        shares.fold(statistics.selectivity(weights), f64::min)
    }
}

impl Condition {
    fn is_of_words(&self) -> bool {
        self.phrases.iter().all(Phrase::is_word)
    }

    fn word_groups(&self) -> Vec<WordGroup> {
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

    fn group<'a>(&self, places: impl IntoIterator<Item = &'a [Vec<u8>]>) -> WordGroup {
        let words: BTreeSet<&Vec<u8>> = places.into_iter().flatten().collect();
        WordGroup {
            excluded: self.excluded,
            words: words.into_iter().cloned().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::clauses::clauses;
    use super::*;
    use proptest::prelude::*;

    /// The words of a text by a configuration that keeps letters, and by one that drops the vowel `a`.
    fn phrases(text: &str) -> Vec<Option<Phrase>> {
        let words = |drop: &str| {
            let each = (1..).zip(text.split_whitespace());
            Phrase::new(each.filter_map(|(at, word)| {
                let word = word.replace(drop, "");
                (!word.is_empty()).then(|| (word.into_bytes(), at))
            }))
        };
        vec![words("_"), words("a")]
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
        // `a` is a stop word of one configuration.
        let query = clauses("x +b -c \"b c\" -\"d e\" +a").unwrap();
        let conditions = Conditions::new(&query, phrases);
        let group = |(excluded, word): (bool, &str)| WordGroup {
            excluded,
            words: vec![word.as_bytes().to_vec()],
        };
        let expected = [(false, "b"), (false, "c"), (true, "c")].map(group);
        assert!(conditions.word_groups().eq(&expected));
        assert!(conditions.mention(b"d") && !conditions.mention(b"x"));
        assert!(!conditions.are_decided_by_words());
        let words = clauses("x +ab -c").unwrap();
        assert!(Conditions::new(&words, phrases).are_decided_by_words());
    }

    #[test]
    fn the_index_is_asked_for_some_of_many_words() {
        let many: Vec<String> = (0..200).map(|n| format!("+w{n}")).collect();
        let conditions = Conditions::new(&clauses(&many.join(" ")).unwrap(), phrases);
        assert_eq!(conditions.word_groups().count(), MAX_GROUPS);
        assert!(!conditions.are_decided_by_words());
    }

    proptest! {
        /// A document that meets the conditions fulfils the groups; if words decide, the reverse is true as well.
        #[test]
        fn groups_are_necessary(query in "x( [+-]?(\"[ab]{1,2}( [ab])?\"|[ab]{1,2})){1,3}", text in "([ab]{1,2} ){0,4}") {
            let query = clauses(&query).unwrap();
            let conditions = Conditions::new(&query, phrases);
            let words: Vec<&[u8]> = text.split_whitespace().map(str::as_bytes).collect();
            let fulfils = conditions.word_groups().all(|group| {
                group.words.iter().any(|word| words.contains(&word.as_slice())) != group.excluded
            });
            let met = conditions.are_met(&[positions(&text)]);
            prop_assert!(fulfils || !met);
            if conditions.are_decided_by_words() {
                prop_assert_eq!(fulfils, met);
            }
        }
    }
}
