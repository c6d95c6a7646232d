//! Tokenizes text. The lexemes of each token are cached for the session, because words repeat often and stemming is slower
//! than a look-up.
//!
//! This is `parsetext` for dictionaries that depend on the token only. A configuration with other dictionaries is passed to
//! `parsetext` itself. The parser reads only the parts of a text where [`parts`] finds no plain tokens.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::CStr;

use pgrx::pg_sys;
use pgrx::pg_sys::SysCacheIdentifier as Cache;
use reground_bm25::plain_words::{Part, parts};

use super::parse_text::each_position_uncached;
use super::scratch::Scratch;

/// Maximum number of cached bytes per configuration. The cache is cleared beyond it.
const MAX_BYTES: usize = 8 << 20;
/// Approximate overhead of a cache entry in bytes.
const ENTRY_BYTES: usize = 64;
/// Number of tokens that are fetched at a time. Interrupts are checked between batches.
const TOKEN_BATCH: usize = 256;
/// The oid of `pg_catalog.default`, a parser, and its types of plain tokens; they are constants of PostgreSQL.
const DEFAULT_PARSER: u32 = 3722;
const WORD: i32 = 1;
const NUMBER: i32 = 22;
/// Templates in pg_catalog whose dictionaries depend on the token only.
const CONTEXT_FREE: [&CStr; 4] = [c"simple", c"snowball", c"ispell", c"synonym"];
/// Numbers of catalog columns, which the bindings do not define.
const TEMPLATE_OF_DICTIONARY: i16 = 5;
const OID_OF_TEMPLATE: i16 = 1;

/// The cache of a configuration.
#[derive(Default)]
struct CachedConfig {
    /// Whether all dictionaries depend on the token only. Otherwise nothing is cached.
    context_free: bool,
    /// Whether the parser is the default one.
    default_parser: bool,
    /// Maps a token's type and bytes to its lexemes, as [`lexize`] packs them.
    words: HashMap<Box<[u8]>, Box<[u8]>>,
    /// Size of the entries in bytes.
    bytes: usize,
}

thread_local! {
    /// Caches by configuration.
    static CONFIGS: RefCell<HashMap<u32, CachedConfig>> = RefCell::default();
    /// Whether a configuration, a dictionary or a template has changed.
    static STALE: Cell<bool> = const { Cell::new(false) };
    static WATCHING: Cell<bool> = const { Cell::new(false) };
}

/// Calls `visit` with each occurrence of each word of a text. Reads catalogs, so no buffer may be locked during the call.
pub fn each_lexeme(config: pg_sys::Oid, text: &str, mut visit: impl FnMut(&[u8])) {
    each_position(config, text, |lexeme, _| visit(lexeme));
}

/// As [`each_lexeme`], with the position of the word. Positions ascend; a stop word has one too.
pub fn each_position(config: pg_sys::Oid, text: &str, visit: impl FnMut(&[u8], u32)) {
    register_invalidation();
    // The map is taken out during the call. After an error, or in a nested call from `visit`, the session starts with an empty
    // cache.
    let mut all = CONFIGS.take();
    if STALE.replace(false) {
        all.clear();
    }
    let cached = all.entry(config.to_u32()).or_insert_with(|| CachedConfig {
        context_free: is_context_free(config),
        default_parser: has_default_parser(config),
        ..CachedConfig::default()
    });
    if cached.context_free {
        cached.each_position(config, text, visit);
    } else {
        each_position_uncached(config, text, visit);
    }
    CONFIGS.replace(all);
}

impl CachedConfig {
    fn each_position(
        &mut self,
        config: pg_sys::Oid,
        text: &str,
        mut visit: impl FnMut(&[u8], u32),
    ) {
        let scratch = Scratch::new();
        let mut position = 0;
        let mut key = Vec::new();
        let default_parser = self.default_parser;
        let mut read = |kind: i32, token: &[u8]| {
            // parsetext skips longer tokens too, with a notice. There is no notice here, because the word may belong to a row
            // that row-level security hides.
            if token.len() >= pg_sys::MAXSTRLEN as usize {
                return;
            }
            key.clear();
            key.extend_from_slice(&kind.to_ne_bytes());
            key.extend_from_slice(token);
            if let Some(words) = self.words.get(key.as_slice()) {
                each_packed(words, &mut position, &mut visit);
                return;
            }
            let words = scratch.run_in(|| lexize(config, kind, token));
            each_packed(&words, &mut position, &mut visit);
            self.insert(&key, words);
        };
        if !default_parser {
            each_token(config, text, &scratch, read);
            return;
        }
        for (at, part) in parts(text).enumerate() {
            match part {
                Part::Word(token) => read(WORD, token.as_bytes()),
                Part::Number(token) => read(NUMBER, token.as_bytes()),
                Part::Other(text) => each_token(config, text, &scratch, &mut read),
            }
            if at % TOKEN_BATCH == 0 {
                pgrx::check_for_interrupts!();
            }
        }
    }

    fn insert(&mut self, key: &[u8], words: Box<[u8]>) {
        if self.bytes > MAX_BYTES {
            self.words.clear();
            self.bytes = 0;
        }
        self.bytes += key.len() + words.len() + ENTRY_BYTES;
        self.words.insert(key.into(), words);
    }
}

/// A token returned by a parser.
#[derive(Clone, Copy)]
struct Token {
    kind: i32,
    start: *const u8,
    length: i32,
}

/// Calls `visit` with the type and the bytes of each token that the configuration's parser returns.
fn each_token(
    config: pg_sys::Oid,
    text: &str,
    scratch: &Scratch,
    mut visit: impl FnMut(i32, &[u8]),
) {
    // A text in PostgreSQL is shorter than 1 GB.
    let Ok(length) = i32::try_from(text.len()) else {
        return;
    };
    let mut reader = scratch.run_in(|| TokenReader::new(config, text, length));
    loop {
        let tokens = scratch.run_in(|| reader.next());
        if tokens.is_empty() {
            return;
        }
        for token in tokens {
            if token.kind <= 0 {
                scratch.run_in(|| reader.end());
                return;
            }
            // SAFETY: a parser's tokens are parts of the text, or of memory that it keeps until its end; parsetext also keeps
            // tokens that long, for dictionaries of several words.
            let bytes = unsafe {
                std::slice::from_raw_parts(token.start, usize::try_from(token.length).unwrap_or(0))
            };
            visit(token.kind, bytes);
        }
        pgrx::check_for_interrupts!();
    }
}

/// A parser with its state and a batch of tokens.
struct TokenReader {
    entry: *mut pg_sys::TSParserCacheEntry,
    state: pg_sys::Datum,
    batch: [Token; TOKEN_BATCH],
}

/// Call info for the three arguments of a parser's function, as `LOCAL_FCINFO(fcinfo, 3)`.
#[repr(C)]
struct Call {
    base: pg_sys::FunctionCallInfoBaseData,
    args: [pg_sys::NullableDatum; 3],
}
const _: () = assert!(
    std::mem::offset_of!(Call, args)
        == std::mem::offset_of!(pg_sys::FunctionCallInfoBaseData, args)
);

impl TokenReader {
    fn new(config: pg_sys::Oid, text: &str, length: i32) -> Self {
        // SAFETY: the look-ups return entries that live as long as the session, or raise an error. A parser's start function
        // takes the text, which it only reads, and its length.
        unsafe {
            let config = pg_sys::lookup_ts_config_cache(config);
            let entry = pg_sys::lookup_ts_parser_cache((*config).prsId);
            let state = pg_sys::FunctionCall2Coll(
                &mut (*entry).prsstart,
                pg_sys::InvalidOid,
                text.as_ptr().into(),
                length.into(),
            );
            let none = Token {
                kind: 0,
                start: std::ptr::null(),
                length: 0,
            };
            Self {
                entry,
                state,
                batch: [none; TOKEN_BATCH],
            }
        }
    }

    /// Returns the next tokens. The last token of a text has type 0 or below.
    ///
    /// One boundary against PostgreSQL's errors covers a whole batch, because a boundary costs as much as a token.
    fn next(&mut self) -> &[Token] {
        let mut start: *const u8 = std::ptr::null();
        let mut length: i32 = 0;
        let mut found = 0;
        let arg = |value| pg_sys::NullableDatum {
            value,
            isnull: false,
        };
        // SAFETY: the entry lives as long as the session. A parser's nexttoken function takes its state and pointers for the
        // start and the length of a token. There is nothing to drop inside the boundary.
        unsafe {
            let Some(next) = (*self.entry).prstoken.fn_addr else {
                return &[];
            };
            let (start, length, found) = (&raw mut start, &raw mut length, &raw mut found);
            let batch: *mut [Token; TOKEN_BATCH] = &mut self.batch;
            let mut call = Call {
                base: pg_sys::FunctionCallInfoBaseData {
                    flinfo: &mut (*self.entry).prstoken,
                    nargs: 3,
                    ..Default::default()
                },
                args: [arg(self.state), arg(start.into()), arg(length.into())],
            };
            let call = &raw mut call;
            pg_sys::ffi::pg_guard_ffi_boundary(|| {
                while *found < TOKEN_BATCH {
                    let kind = next(call.cast()).value() as i32;
                    (*batch)[*found] = Token {
                        kind,
                        start: *start,
                        length: *length,
                    };
                    *found += 1;
                    if kind <= 0 {
                        break;
                    }
                }
            });
        }
        self.batch.get(..found).unwrap_or_default()
    }

    fn end(&mut self) {
        // SAFETY: a parser's end function takes its state; it is called once.
        unsafe {
            pg_sys::FunctionCall1Coll(&mut (*self.entry).prsend, pg_sys::InvalidOid, self.state);
        }
    }
}

/// Marks a token that a dictionary recognises, so that it has a position.
const RECOGNISED: u8 = 1;
/// Bit in the length of a lexeme that is at the next position.
const NEXT_POSITION: u32 = 1 << 31;

/// Returns the lexemes of a token. The first dictionary of the token's type that recognises the token determines them. The
/// result is empty for an unrecognised token. Otherwise it begins with [`RECOGNISED`], and each lexeme follows its length; a stop word
/// has none.
fn lexize(config: pg_sys::Oid, kind: i32, token: &[u8]) -> Box<[u8]> {
    let Ok(length) = i32::try_from(token.len()) else {
        return Box::default();
    };
    let mut packed = Vec::new();
    // Both entries are looked up again, because an invalidation may have emptied them. A dictionary's lexize function takes
    // its data, the token, its length and a state that these dictionaries do not use.
    // SAFETY: the map of a configuration has lenmap lists, and a list has len dictionaries. lexize returns null or an array
    // that ends with a null lexeme.
    unsafe {
        let config = pg_sys::lookup_ts_config_cache(config);
        if kind >= (*config).lenmap {
            return Box::default();
        }
        let Ok(at) = usize::try_from(kind) else {
            return Box::default();
        };
        let map = (*config).map.add(at).read();
        for at in 0..usize::try_from(map.len).unwrap_or(0) {
            let dictionary = pg_sys::lookup_ts_dictionary_cache(map.dictIds.add(at).read());
            let mut state = pg_sys::DictSubState::default();
            let lexemes: *const pg_sys::TSLexeme = pg_sys::FunctionCall4Coll(
                &mut (*dictionary).lexize,
                pg_sys::InvalidOid,
                (*dictionary).dictData.into(),
                token.as_ptr().into(),
                length.into(),
                (&raw mut state).into(),
            )
            .cast_mut_ptr();
            if !lexemes.is_null() {
                packed.push(RECOGNISED);
                pack(lexemes, &mut packed);
                break;
            }
        }
    }
    packed.into()
}

/// Packs the lexemes of a token, each distinct form of a position once.
///
/// # Safety
/// `lexemes` is an array that ends with a null lexeme.
unsafe fn pack(lexemes: *const pg_sys::TSLexeme, packed: &mut Vec<u8>) {
    let mut place: Vec<&CStr> = Vec::new();
    // SAFETY: the array is read up to the null lexeme. The other lexemes are NUL-terminated and live as long as the caller's
    // memory context.
    let forms = (0..).map_while(|at| unsafe {
        let form = &*lexemes.add(at);
        (!form.lexeme.is_null()).then(|| (form.flags, CStr::from_ptr(form.lexeme)))
    });
    for (flags, form) in forms {
        let is_next = u32::from(flags) & pg_sys::TSL_ADDPOS != 0;
        if is_next {
            place.clear();
        }
        if !place.contains(&form) {
            let bytes = form.to_bytes();
            let step = if is_next { NEXT_POSITION } else { 0 };
            let length = u32::try_from(bytes.len()).unwrap_or_default() | step;
            packed.extend_from_slice(&length.to_ne_bytes());
            packed.extend_from_slice(bytes);
            place.push(form);
        }
    }
}

/// Calls `visit` with the lexemes of a token, and moves to the last position.
fn each_packed(packed: &[u8], position: &mut u32, visit: &mut impl FnMut(&[u8], u32)) {
    let Some((&RECOGNISED, mut packed)) = packed.split_first() else {
        return;
    };
    *position += 1;
    while let Some((&length, rest)) = packed.split_first_chunk() {
        let length = u32::from_ne_bytes(length);
        *position += u32::from(length & NEXT_POSITION != 0);
        let length = (length & !NEXT_POSITION) as usize;
        let Some((word, rest)) = rest.split_at_checked(length) else {
            return;
        };
        visit(word, *position);
        packed = rest;
    }
}

/// Returns whether a configuration has PostgreSQL's default parser.
fn has_default_parser(config: pg_sys::Oid) -> bool {
    // SAFETY: a catalog cache look-up. The entry is read at once.
    let parser = unsafe { (*pg_sys::lookup_ts_config_cache(config)).prsId };
    parser == pg_sys::Oid::from(DEFAULT_PARSER)
}

/// Returns whether all dictionaries of a configuration depend on the token only. It checks their templates and does not
/// initialise the dictionaries, because one that no text needs may be broken.
fn is_context_free(config: pg_sys::Oid) -> bool {
    // SAFETY: catalog cache look-ups. The map of a configuration has lenmap lists, and a list has len dictionaries. They are
    // copied first, because a look-up may empty the entry.
    unsafe {
        let config = pg_sys::lookup_ts_config_cache(config);
        let mut dictionaries = Vec::new();
        for at in 0..usize::try_from((*config).lenmap).unwrap_or(0) {
            let map = (*config).map.add(at).read();
            let length = usize::try_from(map.len).unwrap_or(0);
            dictionaries.extend((0..length).map(|at| map.dictIds.add(at).read()));
        }
        let templates = CONTEXT_FREE.map(|name| {
            let name = pg_sys::Datum::from(name.as_ptr());
            let schema = pg_sys::Oid::from(pg_sys::PG_CATALOG_NAMESPACE).into();
            let (none, cache) = (pg_sys::Datum::null(), Cache::TSTEMPLATENAMENSP as i32);
            pg_sys::GetSysCacheOid(cache, OID_OF_TEMPLATE, name, schema, none, none)
        });
        dictionaries.into_iter().all(|dictionary| {
            let (none, cache) = (pg_sys::Datum::null(), Cache::TSDICTOID as i32);
            let (column, key) = (TEMPLATE_OF_DICTIONARY, dictionary.into());
            let template = pg_sys::GetSysCacheOid(cache, column, key, none, none, none);
            template != pg_sys::InvalidOid && templates.contains(&template)
        })
    }
}

/// Registers the invalidation callback, once per session.
fn register_invalidation() {
    if WATCHING.replace(true) {
        return;
    }
    for cache in [
        Cache::TSCONFIGOID,
        Cache::TSCONFIGMAP,
        Cache::TSDICTOID,
        Cache::TSTEMPLATEOID,
        Cache::TSPARSEROID,
    ] {
        // SAFETY: registered once for the whole session, and the library is not unloaded during a session.
        unsafe {
            pg_sys::CacheRegisterSyscacheCallback(
                cache as i32,
                Some(invalidate),
                pg_sys::Datum::null(),
            );
        }
    }
}

/// Invalidation callback. PostgreSQL may call it at any time, so it only sets a flag.
unsafe extern "C-unwind" fn invalidate(_arg: pg_sys::Datum, _cache: i32, _hash: u32) {
    STALE.set(true);
}
