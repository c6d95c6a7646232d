//! The options of `CREATE INDEX … WITH (…)`: text search configuration, the BM25 parameters, and weights of fields.
//!
//! A configuration is stored by name, because its oid changes with dump, restore and upgrade. A name without a schema is in
//! pg_catalog, whatever the search_path: an index must be the same in every session, and a restore has an empty search_path.

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
use crate::index::content::filter_count;
use crate::words::qualified_name;

/// Default text search configuration.
const DEFAULT_TEXT_CONFIG: &str = "pg_catalog.english";

/// The options as PostgreSQL keeps them in the relation's cache entry.
#[repr(C)]
struct StoredOptions {
    vl_len_: i32,
    /// Offset of the name from the start of the struct; 0 for none.
    text_config: i32,
    /// Offset of the weights, likewise.
    weights: i32,
    k1: f64,
    b: f64,
}

/// The registered kind of options.
static OPTION_KIND: OnceLock<pg_sys::relopt_kind::Type> = OnceLock::new();

/// Registers the options, once, when the library is loaded. Catalogs may not be readable at that time.
pub fn define() {
    OPTION_KIND.get_or_init(|| {
        let defaults = Parameters::default();
        let lock = pg_sys::AccessExclusiveLock as pg_sys::LOCKMODE;
        // SAFETY: the names are static, and PostgreSQL copies them. The configuration has no default here, because PostgreSQL
        // would check it at once.
        unsafe {
            let kind = pg_sys::add_reloption_kind();
            pg_sys::add_string_reloption(
                kind,
                c"text_config".as_ptr(),
                c"Text search configuration of the indexed text".as_ptr(),
                std::ptr::null(),
                Some(check_config),
                lock,
            );
            pg_sys::add_string_reloption(
                kind,
                c"weights".as_ptr(),
                c"Weight of each text of an array, comma-separated".as_ptr(),
                std::ptr::null(),
                Some(check_weights),
                lock,
            );
            pg_sys::add_real_reloption(
                kind,
                c"k1".as_ptr(),
                c"Saturation of repeated words".as_ptr(),
                defaults.k1(),
                0.0,
                f64::MAX,
                lock,
            );
            pg_sys::add_real_reloption(
                kind,
                c"b".as_ptr(),
                c"Strength of the normalisation by text length".as_ptr(),
                defaults.b(),
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
        expect(clippy::needless_update, reason = "PostgreSQL 18 has one more field")
    )]
    let element = |name: &'static CStr, kind, offset: usize| pg_sys::relopt_parse_elt {
        optname: name.as_ptr(),
        opttype: kind,
        offset: offset as i32,
        ..Default::default()
    };
    use pg_sys::relopt_type::{RELOPT_TYPE_REAL as REAL, RELOPT_TYPE_STRING as STRING};
    let elements = [
        element(
            c"text_config",
            STRING,
            offset_of!(StoredOptions, text_config),
        ),
        element(c"weights", STRING, offset_of!(StoredOptions, weights)),
        element(c"k1", REAL, offset_of!(StoredOptions, k1)),
        element(c"b", REAL, offset_of!(StoredOptions, b)),
    ];
    // SAFETY: the elements contain the offset and the type of each option in the struct.
    unsafe {
        pg_sys::build_reloptions(
            options,
            validate,
            OPTION_KIND.get().copied().unwrap_or_default(),
            size_of::<StoredOptions>(),
            elements.as_ptr(),
            elements.len() as i32,
        )
        .cast()
    }
}

/// Reads the declared settings of an open index. An existing index keeps the settings with which it was built.
///
/// # Safety
/// The index is open and of this access method.
pub unsafe fn read(index: pg_sys::Relation) -> Result<IndexSettings> {
    // SAFETY: as the caller promises; rd_options is null or a value returned by amoptions.
    let (stored, filters) = unsafe {
        let stored = (*index).rd_options.cast::<StoredOptions>().as_ref();
        (stored, filter_count(index))
    };
    let defaults = Parameters::default();
    let mut settings = IndexSettings {
        k1: defaults.k1(),
        b: defaults.b(),
        text_config: DEFAULT_TEXT_CONFIG.to_owned(),
        weights: Weights::default(),
        server: pg_sys::PG_MAJORVERSION_NUM,
        filters,
    };
    if let Some(stored) = stored {
        (settings.k1, settings.b) = (stored.k1, stored.b);
        if let Some(name) = stored.string(stored.text_config) {
            settings.text_config = name;
        }
        if let Some(weights) = stored.string(stored.weights) {
            let unreadable = |()| Error::Weights(weights.clone());
            settings.weights = weights.parse().map_err(unreadable)?;
        }
    }
    Ok(settings)
}

impl StoredOptions {
    /// Returns the value of a string option.
    fn string(&self, offset: i32) -> Option<String> {
        let offset = usize::try_from(offset).ok().filter(|&offset| offset > 0)?;
        // SAFETY: PostgreSQL stores strings after the struct at these offsets, NUL-terminated.
        let string =
            unsafe { CStr::from_ptr(std::ptr::from_ref(self).cast::<c_char>().add(offset)) };
        Some(string.to_string_lossy().into_owned())
    }
}

/// Validates the weights in a statement.
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

/// Validates the configuration name in a statement. PostgreSQL does not validate the options of existing indexes.
#[pg_guard]
unsafe extern "C-unwind" fn check_config(value: *const c_char) {
    if value.is_null() {
        return;
    }
    // SAFETY: PostgreSQL passes a NUL-terminated string.
    let name = unsafe { CStr::from_ptr(value) };
    // SAFETY: the list is a list of names. True returns InvalidOid instead of raising an error for a missing configuration, or
    // for a schema without USAGE.
    let oid = unsafe { pg_sys::get_ts_config_oid(qualified_name(name), true) };
    if oid == pg_sys::InvalidOid {
        let name = name.to_string_lossy().into_owned();
        ErrorReport::from(Error::UnknownTextConfig(name)).report(pgrx::PgLogLevel::ERROR);
    }
}
