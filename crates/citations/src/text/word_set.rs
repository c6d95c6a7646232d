//! A set of words with fast lookup by prefix.

/// A sorted set of words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WordSet {
    all: Vec<String>,
    /// The first eight bytes of each word as a number with the same order. They are adjacent in memory, the words are
    /// not, so most lookups need no access to a word.
    heads: Vec<u64>,
}

impl WordSet {
    /// The empty set.
    pub const EMPTY: Self = Self {
        all: Vec::new(),
        heads: Vec::new(),
    };

    /// The words, in ascending order.
    pub fn as_slice(&self) -> &[String] {
        &self.all
    }

    /// Returns the number of words that are less than or equal to a word.
    pub fn up_to(&self, word: &str) -> usize {
        let head = head(word);
        let from = self.heads.partition_point(|other| *other < head);
        // Most words share their first eight bytes with no word of the set.
        if self.heads.get(from) != Some(&head) {
            return from;
        }
        let alike = self.heads[from..].partition_point(|other| *other == head);
        let within = &self.all[from..from + alike];
        from + within.partition_point(|other| other.as_str() <= word)
    }

    /// Returns whether a word is in the set.
    pub fn contains(&self, word: &str) -> bool {
        let last = self.up_to(word).checked_sub(1);
        last.is_some_and(|last| self.all[last] == word)
    }

    /// Adds a word in time linear in the size of the set. For tables, not for texts.
    pub fn insert(&mut self, word: String) {
        let at = self.up_to(&word);
        if at.checked_sub(1).is_none_or(|last| self.all[last] != word) {
            self.heads.insert(at, head(&word));
            self.all.insert(at, word);
        }
    }
}

impl From<Vec<String>> for WordSet {
    fn from(mut all: Vec<String>) -> Self {
        all.sort_unstable();
        all.dedup();
        let heads = all.iter().map(|word| head(word)).collect();
        Self { all, heads }
    }
}

impl From<WordSet> for Vec<String> {
    fn from(words: WordSet) -> Self {
        words.all
    }
}

/// Returns the first eight bytes of a word, most significant first. Shorter words are padded with zeros.
fn head(word: &str) -> u64 {
    let mut head = [0; 8];
    for (byte, of) in head.iter_mut().zip(word.bytes()) {
        *byte = of;
    }
    u64::from_be_bytes(head)
}

#[cfg(test)]
mod tests {
    use super::WordSet;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn lookup_equals_a_linear_search(words in prop::collection::vec("[ab\u{0}é]{0,12}", 0..20), word in "[ab\u{0}é]{0,12}") {
            let all: BTreeSet<String> = words.iter().cloned().collect();
            let set = WordSet::from(words.clone());
            prop_assert_eq!(set.up_to(&word), all.iter().filter(|other| **other <= word).count());
            prop_assert_eq!(set.contains(&word), all.contains(&word));
            let mut inserted = WordSet::EMPTY;
            words.into_iter().for_each(|word| inserted.insert(word));
            prop_assert_eq!(&inserted, &set);
            prop_assert_eq!(Vec::from(set), Vec::from_iter(all));
        }
    }
}
