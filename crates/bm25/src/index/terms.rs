//! A document as the index sees it: terms as hashes, with their frequencies.

use siphasher::sip::SipHasher13;
use std::collections::BTreeMap;
use std::hash::Hasher;

use super::norms::norm;

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

/// A term of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    /// Its hash.
    pub hash: u64,
    /// How often the query has it.
    pub frequency: u32,
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

    /// Counts one occurrence.
    pub fn add(&mut self, lexeme: &[u8]) {
        let count = self.terms.entry(term(self.key, lexeme)).or_default();
        *count = count.saturating_add(1);
    }

    /// Terms with their frequencies, by rising hash.
    pub fn finish(self) -> Vec<(u64, u32)> {
        self.terms.into_iter().collect()
    }
}
