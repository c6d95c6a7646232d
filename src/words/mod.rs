//! The words of a text, as a text search configuration makes them.
//!
//! They are those of `to_tsvector`, each as often as it occurs, without a tsvector's caps of 256 positions a word, 16,383
//! positions and 1 MB.

mod bigrams;
mod cache;
mod config;

use std::ptr::NonNull;

use pgrx::pg_sys;

use crate::session::with_settings;

pub use config::{config_oid, exists, find, names};

/// Calls `visit` with each occurrence of each word of a text. Reads catalogs: no buffer may be locked meanwhile.
pub fn each_lexeme(config: pg_sys::Oid, text: &str, visit: impl FnMut(&[u8])) {
    cache::each_lexeme(config, text, visit);
}

/// As [`each_lexeme`], for any configuration, by the server's `parsetext`: dictionaries that look at several words included.
pub fn each_parsed(config: pg_sys::Oid, text: &str, mut visit: impl FnMut(&[u8])) {
    // PostgreSQL's texts have less than 1 GB.
    let Ok(length) = i32::try_from(text.len()) else {
        return;
    };
    let scratch = Scratch::new();
    let mut parsed = pg_sys::ParsedText {
        words: std::ptr::null_mut(),
        // The server's own guess, within what can be allocated at once; it grows.
        lenwords: (length / 6 + 2).min(MOST_WORDS),
        curwords: 0,
        pos: FIRST_POSITION,
    };
    // SAFETY: the words are in memory that lives until the end of this function, as many as curwords says. parsetext only
    // reads the text.
    let words = unsafe {
        scratch.within(|| {
            let size = parsed.lenwords as usize * size_of::<pg_sys::ParsedWord>();
            parsed.words = pg_sys::palloc(size).cast();
            let text = text.as_ptr().cast_mut().cast();
            quietly(|| pg_sys::parsetext(config, &mut parsed, text, length));
        });
        std::slice::from_raw_parts(parsed.words, parsed.curwords as usize)
    };
    // SAFETY: the position is what parsetext filled in.
    let position = |word: &pg_sys::ParsedWord| unsafe { word.pos.pos };
    for place in words.chunk_by(|one, other| position(one) == position(other)) {
        for (at, word) in place.iter().enumerate() {
            if !place[..at].iter().any(|other| bytes(other) == bytes(word)) {
                visit(bytes(word));
            }
        }
    }
}

/// `MaxAllocSize`, which is a macro.
const MOST_BYTES: usize = 0x3fff_ffff;
/// Words that one allocation holds.
const MOST_WORDS: i32 = (MOST_BYTES / size_of::<pg_sys::ParsedWord>()) as i32;

/// Runs `work` without its notices reaching the client: a long word of a row that row-level security hides is not spoken of.
fn quietly(work: impl FnOnce()) {
    with_settings(&[(c"client_min_messages", c"error")], work);
}

/// Where `parsetext` begins to count.
///
/// Forms of one word have one position, at which each different form counts once. Positions stop at 16,383 if counted from
/// 0; counted from here they are kept modulo 65,536, so that neighbours are told apart in a text of any length.
const FIRST_POSITION: i32 = i32::MIN;

fn bytes(word: &pg_sys::ParsedWord) -> &[u8] {
    // SAFETY: parsetext fills in both, and the word lives as long as the array that holds it.
    unsafe { std::slice::from_raw_parts(word.word.cast(), usize::from(word.len)) }
}

/// Memory of PostgreSQL's that is given back when this is dropped.
pub(super) struct Scratch(NonNull<pg_sys::MemoryContextData>);

impl Scratch {
    pub(super) fn new() -> Self {
        // SAFETY: the name is static; creation never returns null.
        unsafe {
            Self(NonNull::new_unchecked(
                pg_sys::AllocSetContextCreateInternal(
                    pg_sys::CurrentMemoryContext,
                    c"reground words".as_ptr(),
                    pg_sys::ALLOCSET_DEFAULT_MINSIZE as usize,
                    pg_sys::ALLOCSET_DEFAULT_INITSIZE as usize,
                    pg_sys::ALLOCSET_DEFAULT_MAXSIZE as usize,
                ),
            ))
        }
    }

    /// Runs `work` with this as the current memory.
    pub(super) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        struct Back(pg_sys::MemoryContext);
        impl Drop for Back {
            fn drop(&mut self) {
                // SAFETY: the context that was current, which outlives what runs in it; errors unwind through here too.
                unsafe { pg_sys::CurrentMemoryContext = self.0 };
            }
        }
        // SAFETY: the context is alive while self is.
        let _back = unsafe {
            let back = Back(pg_sys::CurrentMemoryContext);
            pg_sys::CurrentMemoryContext = self.0.as_ptr();
            back
        };
        work()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // SAFETY: made in new, deleted only here, and not current: `within` has switched back. An abort frees memory after
        // an error has unwound through here, so it is still alive then.
        unsafe { pg_sys::MemoryContextDelete(self.0.as_ptr()) };
    }
}
