//! Words by the server's `parsetext`, for any text search configuration.

use pgrx::pg_sys;

use super::scratch::Scratch;
use crate::session::with_settings;

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
