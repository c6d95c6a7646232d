//! A cache of the numbers of tokens of the texts that were counted last. A conversation counts the same passages and lines in turn after
//! turn, and hashing a text takes a hundredth of the time of counting it (texts of 900 bytes: 0.3 and 27 µs).

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::ops::RangeInclusive;

use reground_interrupt::{CHECK_INTERVAL, check_interrupt};

/// Texts in the cache, at most half a megabyte. It is cleared at the limit.
const CAPACITY: usize = 8192;
/// Bytes of a text in the cache. A longer text would be hashed for too long without a check for interrupts.
const LENGTHS: RangeInclusive<usize> = 24..=CHECK_INTERVAL;

/// Two hashes of a text, with random keys, so that collisions cannot be constructed.
pub type Key = (u64, u64);

#[derive(Default)]
struct Recent {
    keys: (RandomState, RandomState),
    tokens: HashMap<Key, usize>,
}

thread_local! {
    static RECENT: RefCell<Recent> = RefCell::default();
}

/// The key of a text; `None` for a text that is too short or too long for the cache.
pub fn key(text: &str) -> Option<Key> {
    if !LENGTHS.contains(&text.len()) {
        return None;
    }
    check_interrupt(text.len());
    RECENT.with_borrow(|recent| {
        let (first, second) = &recent.keys;
        Some((first.hash_one(text), second.hash_one(text)))
    })
}

/// The number of tokens of the text with this key, if it is in the cache.
pub fn get(key: Option<Key>) -> Option<usize> {
    RECENT.with_borrow(|recent| recent.tokens.get(&key?).copied())
}

/// Adds the number of tokens of the text with this key.
pub fn put(key: Option<Key>, tokens: usize) {
    let Some(key) = key else {
        return;
    };
    RECENT.with_borrow_mut(|recent| {
        if recent.tokens.len() >= CAPACITY {
            recent.tokens.clear();
        }
        recent.tokens.insert(key, tokens);
    });
}
