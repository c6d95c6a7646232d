//! The text search parser `reground.bigrams`, for text in scripts without spaces. The configuration of the same name uses it.
//! `reground_bm25::bigrams` defines the tokens.

use std::ffi::CStr;
use std::ops::Range;

use pgrx::Internal;
use pgrx::memcxt::PgMemoryContexts;
use pgrx::pg_sys;
use pgrx::prelude::*;
use reground_bm25::bigrams::{Kind, tokens};

/// The token types, with alias and description. Their numbers begin with 1.
const TYPES: [(Kind, &CStr, &CStr); 2] = [
    (Kind::Word, c"word", c"Word, letters and digits"),
    (
        Kind::Pair,
        c"pair",
        c"Two neighbouring characters of a script without spaces",
    ),
];

/// A text that is read token by token. A list of all tokens of a long text would need many times its memory.
struct Reading {
    text: *const u8,
    left: Box<dyn Iterator<Item = (Kind, Range<usize>)>>,
}

#[pg_extern(sql = false)]
fn bigrams_start(text: Internal, length: i32) -> Internal {
    let text: *const u8 = text
        .unwrap()
        .map_or(std::ptr::null(), |datum| datum.cast_mut_ptr());
    let length = usize::try_from(length).unwrap_or(0);
    let bytes: &'static [u8] = match text.is_null() {
        true => &[],
        // SAFETY: PostgreSQL starts a parser with a text and its length. Both stay valid until the parser has ended, and
        // nothing is read after that.
        false => unsafe { std::slice::from_raw_parts(text, length) },
    };
    let left = Box::new(tokens(std::str::from_utf8(bytes).unwrap_or_default()));
    let reading = Reading { text, left };
    let kept = PgMemoryContexts::CurrentMemoryContext.leak_and_drop_on_delete(reading);
    Internal::from(Some(pg_sys::Datum::from(kept)))
}

#[pg_extern(sql = false)]
fn bigrams_token(reading: Internal, start: Internal, length: Internal) -> i32 {
    let place = |argument: Internal| argument.unwrap().map(|datum| datum.cast_mut_ptr::<u8>());
    let (Some(reading), Some(start), Some(length)) = (place(reading), place(start), place(length))
    else {
        return 0;
    };
    // SAFETY: PostgreSQL passes the result of bigrams_start, and pointers for the start and the length of a token.
    unsafe {
        let reading = &mut *reading.cast::<Reading>();
        let Some((kind, bytes)) = reading.left.next() else {
            return 0;
        };
        *start.cast::<*const u8>() = reading.text.add(bytes.start);
        *length.cast::<i32>() = bytes.len() as i32;
        let number = TYPES.iter().position(|(of, ..)| *of == kind);
        number.map_or(0, |at| at as i32 + 1)
    }
}

/// Does nothing: the state is freed with its memory context.
#[pg_extern(sql = false)]
fn bigrams_end(_reading: Internal) {}

#[pg_extern(sql = false)]
fn bigrams_types(_unused: Internal) -> Internal {
    // SAFETY: the array has space for each type and for the terminating entry with number 0. The strings are copies.
    let types = unsafe {
        let size = (TYPES.len() + 1) * size_of::<pg_sys::LexDescr>();
        let types: *mut pg_sys::LexDescr = pg_sys::palloc0(size).cast();
        for (at, (_, alias, meaning)) in TYPES.iter().enumerate() {
            *types.add(at) = pg_sys::LexDescr {
                lexid: at as i32 + 1,
                alias: pg_sys::pstrdup(alias.as_ptr()),
                descr: pg_sys::pstrdup(meaning.as_ptr()),
            };
        }
        types
    };
    Internal::from(Some(pg_sys::Datum::from(types)))
}

/// Returns the configuration that a row names; NULL if there is none.
#[pg_extern(sql = false)]
fn find_text_config(name: &str) -> Option<pg_sys::Oid> {
    super::config::find_config(name)
}
