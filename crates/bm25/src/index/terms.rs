//! A document as the index sees it: terms as hashes, with their frequencies.

use siphasher::sip::SipHasher13;
use std::collections::BTreeMap;
use std::hash::Hasher;

use super::norms::norm;
use crate::asked::Asked;

/// Secret of an index, so that nobody can make terms that collide.
pub type Key = [u64; 2];

/// A term: the index knows its 64-bit keyed hash and not its letters. Of a million terms two are taken for one with a
/// probability of 3 · 10⁻⁸.
pub fn term(key: Key, lexeme: &[u8]) -> u64 {
    let mut hasher = SipHasher13::new_with_keys(key[0], key[1]);
    hasher.write(lexeme);
    hasher.finish()
}

/// Tells texts apart: a score that was computed for a text is remembered under it. It is the same in every index.
pub fn fingerprint(text: &[u8]) -> u64 {
    let mut hasher = SipHasher13::new();
    hasher.write(text);
    hasher.finish()
}

/// The same for several fields: where one ends and the next begins matters.
pub fn fingerprint_of_fields<'a>(fields: impl IntoIterator<Item = &'a [u8]>) -> u64 {
    let mut hasher = SipHasher13::new();
    for field in fields {
        hasher.write_u64(field.len() as u64);
        hasher.write(field);
    }
    hasher.finish()
}

/// Fields whose weights can be said; later ones have weight 1.
pub const FIELDS: usize = 16;

/// How many occurrences each occurrence of a word in a field counts as (BM25F as Robertson, Zaragoza and Taylor 2004 have
/// it: weighted frequencies and lengths, one saturation).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weights([u8; FIELDS]);

impl Default for Weights {
    fn default() -> Self {
        Self([1; FIELDS])
    }
}

impl Weights {
    /// Of the first fields; `None` where there are too many.
    pub fn new(first: &[u8]) -> Option<Self> {
        let mut weights = Self::default();
        weights.0.get_mut(..first.len())?.copy_from_slice(first);
        Some(weights)
    }

    /// Of a field, counted from 0.
    pub fn of(&self, field: usize) -> u8 {
        self.0.get(field).copied().unwrap_or(1)
    }

    /// Of all fields that have one.
    pub fn all(&self) -> &[u8; FIELDS] {
        &self.0
    }
}

impl std::fmt::Display for Weights {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let said = self.0.iter().rposition(|&weight| weight != 1);
        let said = &self.0[..said.map_or(1, |last| last + 1)];
        let said: Vec<String> = said.iter().map(u8::to_string).collect();
        f.write_str(&said.join(","))
    }
}

/// Reads `2,1,5`: whole numbers from 1 to 100, at most [`FIELDS`].
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
pub struct Term {
    /// Its hash.
    pub hash: u64,
    /// How much the query asks for it.
    pub asked: Asked,
}

/// A document to be indexed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// Address of its row, 48 bits.
    pub row: u64,
    /// [`fingerprint`] of its text.
    pub fingerprint: u64,
    /// Terms with their frequencies, by rising hash.
    pub terms: Vec<(u64, u32)>,
}

impl Document {
    /// Length in terms, repetitions included.
    pub fn length(&self) -> u32 {
        self.terms
            .iter()
            .fold(0, |sum: u32, &(_, frequency)| sum.saturating_add(frequency))
    }

    /// Its length as it is kept.
    pub fn norm(&self) -> u8 {
        norm(self.length())
    }

    /// How often it has a term.
    pub fn frequency(&self, term: u64) -> u32 {
        match self.terms.binary_search_by_key(&term, |&(term, _)| term) {
            Ok(at) => self.terms[at].1,
            Err(_) => 0,
        }
    }
}

/// Counts the terms of a text as they come.
#[derive(Clone, Debug)]
pub struct Counter {
    key: Key,
    terms: BTreeMap<u64, u32>,
}

impl Counter {
    /// Nothing was counted yet.
    pub fn new(key: Key) -> Self {
        Self {
            key,
            terms: BTreeMap::new(),
        }
    }

    /// Counts one occurrence, as so many.
    pub fn add(&mut self, lexeme: &[u8], weight: u8) {
        let count = self.terms.entry(term(self.key, lexeme)).or_default();
        *count = count.saturating_add(u32::from(weight));
    }

    /// Terms with their frequencies, by rising hash.
    pub fn finish(self) -> Vec<(u64, u32)> {
        self.terms.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_read_and_written() {
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
    fn fields_are_told_from_their_concatenation() {
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
