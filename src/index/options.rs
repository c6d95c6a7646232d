//! What `CREATE INDEX … WITH (…)` can say: the text search configuration, the two constants of BM25, and
//! weights of fields.
//!
//! A configuration is kept by name, since its oid changes over dump, restore and upgrade. A name without a schema means
//! pg_catalog's, whatever the search_path: an index must mean the same in every session, and a restore has an empty one.

use std::ffi::{CStr, c_char};
use std::mem::offset_of;
use std::sync::OnceLock;

use pgrx::pg_guard;
use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use reground_bm25::Parameters;
use reground_bm25::index::pages::meta::IndexSettings;
use reground_bm25::index::terms::Weights;

use crate::error::{Error, Result};
use crate::words::names;

/// The configuration of an index that names none.
const ENGLISH: &str = "pg_catalog.english";

/// What an index is declared with, as PostgreSQL keeps it in the relation's cache entry.
#[repr(C)]
struct Kept {
    vl_len_: i32,
    /// Where the name begins, from the start of this; 0 where none was given.
    text_config: i32,
    /// Where the weights begin, likewise.
    weights: i32,
    k1: f64,
    b: f64,
}

/// The kind of options that is ours in this session.
static KIND: OnceLock<pg_sys::relopt_kind::Type> = OnceLock::new();

/// Declares the options, once, when the library is loaded. It may be loaded where no catalog can be read.
pub fn define() {
    KIND.get_or_init(|| {
        let usual = Parameters::default();
        let lock = pg_sys::AccessExclusiveLock as pg_sys::LOCKMODE;
        // SAFETY: the names are static and PostgreSQL copies them. The configuration has no default here, because that
        // would be checked at once.
        unsafe {
            let kind = pg_sys::add_reloption_kind();
            pg_sys::add_string_reloption(
                kind,
                c"text_config".as_ptr(),
                c"Text search configuration that makes words of the text".as_ptr(),
                std::ptr::null(),
                Some(check_config),
                lock,
            );
            pg_sys::add_string_reloption(
                kind,
                c"weights".as_ptr(),
                c"How much each text of an array counts, comma-separated".as_ptr(),
                std::ptr::null(),
                Some(check_weights),
                lock,
            );
            pg_sys::add_real_reloption(
                kind,
                c"k1".as_ptr(),
                c"How slowly repetitions of a word saturate".as_ptr(),
                usual.k1(),
                0.0,
                f64::MAX,
                lock,
            );
            pg_sys::add_real_reloption(
                kind,
                c"b".as_ptr(),
                c"How strongly a text's length is held against it".as_ptr(),
                usual.b(),
                0.0,
                1.0,
                lock,
            );
            kind
        }
    });
}

/// The access method's `amoptions`.
///
/// # Safety
/// Called by PostgreSQL, with options as text[] or null.
#[pg_guard]
pub unsafe extern "C-unwind" fn amoptions(
    options: pg_sys::Datum,
    validate: bool,
) -> *mut pg_sys::bytea {
    define();
    #[cfg_attr(
        not(feature = "pg18"),
        expect(clippy::needless_update, reason = "18 has one field more")
    )]
    let element = |name: &'static CStr, kind, offset: usize| pg_sys::relopt_parse_elt {
        optname: name.as_ptr(),
        opttype: kind,
        offset: offset as i32,
        ..Default::default()
    };
    use pg_sys::relopt_type::{RELOPT_TYPE_REAL as REAL, RELOPT_TYPE_STRING as STRING};
    let elements = [
        element(c"text_config", STRING, offset_of!(Kept, text_config)),
        element(c"weights", STRING, offset_of!(Kept, weights)),
        element(c"k1", REAL, offset_of!(Kept, k1)),
        element(c"b", REAL, offset_of!(Kept, b)),
    ];
    // SAFETY: the elements say where in Kept each option is, and of which type.
    unsafe {
        pg_sys::build_reloptions(
            options,
            validate,
            KIND.get().copied().unwrap_or_default(),
            size_of::<Kept>(),
            elements.as_ptr(),
            elements.len() as i32,
        )
        .cast()
    }
}

/// What an open index is declared as. One that exists stays what it was made as.
///
/// # Safety
/// The index is open and is one of this access method.
pub unsafe fn read(index: pg_sys::Relation) -> Result<IndexSettings> {
    // SAFETY: as the caller promises; PostgreSQL keeps there what amoptions made, or null.
    let kept = unsafe { (*index).rd_options.cast::<Kept>().as_ref() };
    let usual = Parameters::default();
    let mut settings = IndexSettings {
        k1: usual.k1(),
        b: usual.b(),
        text_config: ENGLISH.to_owned(),
        weights: Weights::default(),
        server: pg_sys::PG_MAJORVERSION_NUM,
    };
    if let Some(kept) = kept {
        (settings.k1, settings.b) = (kept.k1, kept.b);
        if let Some(name) = kept.string(kept.text_config) {
            settings.text_config = name;
        }
        if let Some(weights) = kept.string(kept.weights) {
            let unreadable = |()| Error::Weights(weights.clone());
            settings.weights = weights.parse().map_err(unreadable)?;
        }
    }
    Ok(settings)
}

impl Kept {
    /// What was given for an option that is a string.
    fn string(&self, offset: i32) -> Option<String> {
        let offset = usize::try_from(offset).ok().filter(|&offset| offset > 0)?;
        // SAFETY: strings lie behind the struct, NUL-terminated, where PostgreSQL says.
        let string =
            unsafe { CStr::from_ptr(std::ptr::from_ref(self).cast::<c_char>().add(offset)) };
        Some(string.to_string_lossy().into_owned())
    }
}

/// Checks the weights that a statement gives.
#[pg_guard]
unsafe extern "C-unwind" fn check_weights(value: *const c_char) {
    if value.is_null() {
        return;
    }
    // SAFETY: PostgreSQL passes a NUL-terminated string.
    let text = unsafe { CStr::from_ptr(value) }
        .to_string_lossy()
        .into_owned();
    if text.parse::<Weights>().is_err() {
        ErrorReport::from(Error::Weights(text)).report(pgrx::PgLogLevel::ERROR);
    }
}

/// Checks the name that a statement gives: the options of an existing index are never checked.
#[pg_guard]
unsafe extern "C-unwind" fn check_config(value: *const c_char) {
    if value.is_null() {
        return;
    }
    // SAFETY: PostgreSQL passes a NUL-terminated string.
    let name = unsafe { CStr::from_ptr(value) };
    // SAFETY: the list is one of names; true says what is not there without an error. A schema that the caller may not use
    // is one.
    let oid = unsafe { pg_sys::get_ts_config_oid(names(name), true) };
    if oid == pg_sys::InvalidOid {
        let name = name.to_string_lossy().into_owned();
        ErrorReport::from(Error::UnknownTextConfig(name)).report(pgrx::PgLogLevel::ERROR);
    }
}
