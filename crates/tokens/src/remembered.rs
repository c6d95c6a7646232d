//! The numbers of tokens of the texts that were counted last. A conversation counts the same passages, lines and answers in turn after
//! turn, and hashing a text takes a fiftieth of the time of counting it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

/// Texts that are remembered, at most half a megabyte. All are forgotten at the limit.
const CAPACITY: usize = 8192;
/// Bytes of the shortest text that is remembered.
const SHORTEST: usize = 24;

/// Two hashes of a text with different keys, which each process chooses at random. Nobody can find two texts with the same.
type Key = (u64, u64);

#[derive(Default)]
struct Remembered {
    keys: (RandomState, RandomState),
    tokens: HashMap<Key, usize>,
}

impl Remembered {
    fn key(&self, text: &str) -> Key {
        (self.keys.0.hash_one(text), self.keys.1.hash_one(text))
    }
}

thread_local! {
    static REMEMBERED: RefCell<Remembered> = RefCell::default();
}

/// The number of tokens of a text, if it was counted.
pub fn get(text: &str) -> Option<usize> {
    if text.len() < SHORTEST {
        return None;
    }
    REMEMBERED.with_borrow(|remembered| remembered.tokens.get(&remembered.key(text)).copied())
}

/// Remembers the number of tokens of a text.
pub fn put(text: &str, tokens: usize) {
    if text.len() < SHORTEST {
        return;
    }
    REMEMBERED.with_borrow_mut(|remembered| {
        if remembered.tokens.len() >= CAPACITY {
            remembered.tokens.clear();
        }
        let key = remembered.key(text);
        remembered.tokens.insert(key, tokens);
    });
}
