//! A document in the index: hashes of its terms, with their frequencies.

use siphasher::sip::SipHasher13;
use std::collections::BTreeMap;
use std::hash::Hasher;

use crate::index::segment::norms::norm;
use crate::query::query_weight::QueryWeight;

/// The secret key of an index. It prevents that somebody constructs colliding terms.
pub type Key = [u64; 2];

/// Bit of the terms that are values of filter columns. They have no lexeme, and do not count in the length of a document.
const FILTER_BIT: u64 = 1 << 63;

/// Returns the keyed hash of a lexeme, of 63 bits. The index stores only this hash. Among a million terms, a collision has a
/// probability of 5 · 10⁻⁸.
pub fn term_hash(key: Key, lexeme: &[u8]) -> u64 {
    let mut hasher = SipHasher13::new_with_keys(key[0], key[1]);
    hasher.write(lexeme);
    hasher.finish() & !FILTER_BIT
}

/// Returns the term for a value of a filter column: the number of the column in the index, and a hash of the value. Different values
/// can have the same hash, so rows that are found by such a term are compared again.
pub fn filter_term(key: Key, column: u16, value: u64) -> u64 {
    let mut hasher = SipHasher13::new_with_keys(key[0], key[1]);
    hasher.write_u16(column);
    hasher.write_u64(value);
    hasher.finish() | FILTER_BIT
}

/// Returns the term of documents without a text. They are in an index for the values of its filter columns, and are no documents in the
/// statistics.
pub fn textless_term(key: Key) -> u64 {
    /// Number of the column with the text.
    const TEXT: u16 = 1;
    filter_term(key, TEXT, 0)
}

/// Whether a term is a word, and not the value of a filter column.
pub fn is_word(term: u64) -> bool {
    term & FILTER_BIT == 0
}

/// Returns a hash that identifies a text. Computed scores are cached under it. It is the same in every index.
pub fn fingerprint(text: &[u8]) -> u64 {
    let mut hasher = SipHasher13::new();
    hasher.write(text);
    hasher.finish()
}

/// Returns a fingerprint of several fields; it depends on the boundaries between them.
pub fn fingerprint_of_fields<'a>(fields: impl IntoIterator<Item = &'a [u8]>) -> u64 {
    let mut hasher = SipHasher13::new();
    for field in fields {
        hasher.write_u64(field.len() as u64);
        hasher.write(field);
    }
    hasher.finish()
}

/// Number of fields that can have a weight; later fields have weight 1.
pub const FIELDS: usize = 16;

/// The weight of each field: each occurrence of a word counts as this many occurrences. This is BM25F as in Robertson,
/// Zaragoza and Taylor (2004): weighted frequencies and lengths, one saturation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weights([u8; FIELDS]);

impl Default for Weights {
    fn default() -> Self {
        Self([1; FIELDS])
    }
}

impl Weights {
    /// Weights of the first fields; `None` if there are too many.
    pub fn new(first: &[u8]) -> Option<Self> {
        let mut weights = Self::default();
        weights.0.get_mut(..first.len())?.copy_from_slice(first);
        Some(weights)
    }

    /// Weight of a field; fields are counted from 0.
    pub fn of(&self, field: usize) -> u8 {
        self.0.get(field).copied().unwrap_or(1)
    }

    /// Weights of all [`FIELDS`] fields.
    pub fn all(&self) -> &[u8; FIELDS] {
        &self.0
    }
}

impl std::fmt::Display for Weights {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let given = self.0.iter().rposition(|&weight| weight != 1);
        let given = &self.0[..given.map_or(1, |last| last + 1)];
        let given: Vec<String> = given.iter().map(u8::to_string).collect();
        f.write_str(&given.join(","))
    }
}

/// Parses `2,1,5`: integers from 1 to 100, at most [`FIELDS`].
impl std::str::FromStr for Weights {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let each = text.split(',').map(|weight| {
            let weight = weight.trim().parse().ok();
            weight.filter(|weight| (1..=100).contains(weight))
        });
        let weights: Option<Vec<u8>> = each.collect();
        weights.and_then(|weights| Self::new(&weights)).ok_or(())
    }
}

/// A term of a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueryTerm {
    /// Hash of the term.
    pub hash: u64,
    /// Weight of the term in the query.
    pub query_weight: QueryWeight,
}

impl QueryTerm {
    /// A term that is looked up and never scored.
    pub fn unweighted(hash: u64) -> Self {
        Self {
            hash,
            query_weight: QueryWeight::default(),
        }
    }
}

/// A document for the index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// Address of its row, 48 bits.
    pub row: u64,
    /// [`fingerprint`] of its content.
    pub fingerprint: u64,
    /// Terms with their frequencies, by ascending hash.
    pub terms: Vec<(u64, u32)>,
}

impl Document {
    /// Length in words, including repetitions.
    pub fn length(&self) -> u32 {
        let words = self.terms.iter().filter(|&&(term, _)| is_word(term));
        words.fold(0, |sum: u32, &(_, frequency)| sum.saturating_add(frequency))
    }

    /// Length as a norm.
    pub fn norm(&self) -> u8 {
        norm(self.length())
    }

    /// Frequency of a term in the document.
    pub fn frequency(&self, term: u64) -> u32 {
        match self.terms.binary_search_by_key(&term, |&(term, _)| term) {
            Ok(at) => self.terms[at].1,
            Err(_) => 0,
        }
    }
}

/// Counts the terms of a document.
#[derive(Clone, Debug)]
pub struct Counter {
    key: Key,
    terms: BTreeMap<u64, u32>,
}

impl Counter {
    /// Creates an empty counter.
    pub fn new(key: Key) -> Self {
        Self {
            key,
            terms: BTreeMap::new(),
        }
    }

    /// Counts one occurrence of a lexeme `weight` times.
    pub fn add(&mut self, lexeme: &[u8], weight: u8) {
        let count = self.terms.entry(term_hash(self.key, lexeme)).or_default();
        *count = count.saturating_add(u32::from(weight));
    }

    /// Adds the value of a filter column.
    pub fn add_filter(&mut self, column: u16, value: u64) {
        self.terms.insert(filter_term(self.key, column, value), 1);
    }

    /// Adds the term of documents without a text.
    pub fn add_textless(&mut self) {
        self.terms.insert(textless_term(self.key), 1);
    }

    /// Returns the terms with their frequencies, by ascending hash.
    pub fn finish(self) -> Vec<(u64, u32)> {
        self.terms.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_round_trip() {
        for (text, written) in [("1", "1"), ("2, 1", "2"), ("1,100 ,3", "1,100,3")] {
            let weights: Weights = text.parse().unwrap();
            assert_eq!(weights.to_string(), written);
            assert_eq!(weights.to_string().parse(), Ok(weights));
        }
        let weights: Weights = "5,2".parse().unwrap();
        assert_eq!([0, 1, 2, 99].map(|field| weights.of(field)), [5, 2, 1, 1]);
        for text in ["", "0", "101", "-1", "2.5", "2,,1", "a", &"1,".repeat(17)] {
            assert_eq!(text.parse::<Weights>(), Err(()), "{text}");
        }
    }

    #[test]
    fn fingerprint_depends_on_field_boundaries() {
        let of =
            |fields: &[&str]| fingerprint_of_fields(fields.iter().map(|field| field.as_bytes()));
        let all = [
            of(&["ab", "c"]),
            of(&["a", "bc"]),
            of(&["abc"]),
            of(&["abc", ""]),
            of(&[]),
        ];
        for (at, one) in all.iter().enumerate() {
            assert!(!all[at + 1..].contains(one));
        }
    }
}
