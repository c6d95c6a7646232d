//! Words by the server's `parsetext`, for any text search configuration.

use pgrx::pg_sys;

use super::scratch::Scratch;
use crate::session::with_settings;

/// Calls `visit` with each occurrence of each word of a text, and its position. Works for any configuration, including dictionaries that
/// look at several words. Positions ascend; a stop word has one too.
pub fn each_position_uncached(config: pg_sys::Oid, text: &str, mut visit: impl FnMut(&[u8], u32)) {
    // A text in PostgreSQL is shorter than 1 GB.
    let Ok(length) = i32::try_from(text.len()) else {
        return;
    };
    let scratch = Scratch::new();
    let mut parsed = pg_sys::ParsedText {
        words: std::ptr::null_mut(),
        // The server's own estimate, within the limit of an allocation. The array grows as needed.
        lenwords: (length / 6 + 2).min(MAX_WORDS),
        curwords: 0,
        pos: FIRST_POSITION,
    };
    // SAFETY: the words are in memory that lives until the end of this function, and curwords is their number. parsetext only
    // reads the text.
    let words = unsafe {
        scratch.run_in(|| {
            let size = parsed.lenwords as usize * size_of::<pg_sys::ParsedWord>();
            parsed.words = pg_sys::palloc(size).cast();
            let text = text.as_ptr().cast_mut().cast();
            without_notices(|| pg_sys::parsetext(config, &mut parsed, text, length));
        });
        std::slice::from_raw_parts(parsed.words, parsed.curwords as usize)
    };
    // SAFETY: parsetext has set this member of the union.
    let position = |word: &pg_sys::ParsedWord| unsafe { word.pos.pos };
    let (mut last, mut absolute) = (0, 0);
    for place in words.chunk_by(|one, other| position(one) == position(other)) {
        let stored = place.first().map_or(0, position);
        absolute += u32::from(stored.wrapping_sub(last));
        last = stored;
        for (at, word) in place.iter().enumerate() {
            if !place[..at].iter().any(|other| bytes(other) == bytes(word)) {
                visit(bytes(word), absolute);
            }
        }
    }
}

/// `MaxAllocSize`, which is a macro.
const MAX_ALLOC_BYTES: usize = 0x3fff_ffff;
/// Maximum number of words in one allocation.
const MAX_WORDS: i32 = (MAX_ALLOC_BYTES / size_of::<pg_sys::ParsedWord>()) as i32;

/// Runs `work` without notices to the client: a notice about a long word could reveal text of a row that row-level security
/// hides.
fn without_notices(work: impl FnOnce()) {
    with_settings(&[(c"client_min_messages", c"error")], work);
}

/// First position for `parsetext`.
///
/// All forms of a word have the same position; each distinct form counts once per position. Positions that begin at 0 stop at
/// 16,383. Positions that begin here are stored modulo 65,536, so adjacent words have different positions in a text of any
/// length.
const FIRST_POSITION: i32 = i32::MIN;

fn bytes(word: &pg_sys::ParsedWord) -> &[u8] {
    // SAFETY: parsetext has set both fields, and the word lives as long as its array.
    unsafe { std::slice::from_raw_parts(word.word.cast(), usize::from(word.len)) }
}
