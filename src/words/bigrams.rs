//! The text search parser `reground.bigrams`, which a configuration of the same name is made of: for text in scripts without
//! spaces. What it cuts where, `reground_bm25::bigrams` says.

use std::ffi::CStr;
use std::ops::Range;

use pgrx::Internal;
use pgrx::memcxt::PgMemoryContexts;
use pgrx::pg_sys;
use pgrx::prelude::*;
use reground_bm25::bigrams::{Kind, tokens};

/// The types of tokens, with a name and what they are. Their numbers begin with 1.
const TYPES: [(Kind, &CStr, &CStr); 2] = [
    (Kind::Word, c"word", c"Word, letters and digits"),
    (
        Kind::Pair,
        c"pair",
        c"Two neighbouring characters of a script without spaces",
    ),
];

/// A text being read, a token at a time: all of a long one would be many times its size.
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
        // SAFETY: a parser is started with a text and its length, which stay as they are until it has ended; nothing of it is read
        // after that.
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
    // SAFETY: PostgreSQL hands over what bigrams_start returned, and where a token's start and length go.
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

/// What was read is given back with the memory that it was read in.
#[pg_extern(sql = false)]
fn bigrams_end(_reading: Internal) {}

#[pg_extern(sql = false)]
fn bigrams_types(_unused: Internal) -> Internal {
    // SAFETY: the array has room for each type and the end, which is of number 0; the strings are copies.
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

/// The configuration that a row names; NULL where there is none such.
#[pg_extern(sql = false)]
fn find_text_config(name: &str) -> Option<pg_sys::Oid> {
    super::config::find(name)
}
