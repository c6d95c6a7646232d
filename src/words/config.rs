//! A text search configuration by its name: what is stored is the name, as an oid does not outlive a dump.

use std::ffi::{CStr, CString};

use pgrx::pg_sys;
use pgrx::pg_sys::SysCacheIdentifier as Cache;
use reground_bm25::config_name::name_parts;

use crate::error::{Error, Result};

/// A column of pg_ts_config, which the bindings do not name.
const OID_OF_CONFIG: i16 = 1;

/// The configuration of that name now. Whoever may use the index or the corpus may use it: the right to its schema was asked
/// for when that was made.
pub fn config_oid(name: &str) -> Result<pg_sys::Oid> {
    let unknown = || Error::UnknownTextConfig(name.to_owned());
    let text = CString::new(name).map_err(|_| unknown())?;
    let (mut schema, mut object) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: the list is one of names, of which the last two come back as NUL-terminated strings; the others are plain
    // look-ups in the catalog caches.
    let oid = unsafe {
        pg_sys::DeconstructQualifiedName(names(&text), &mut schema, &mut object);
        let schema = pg_sys::get_namespace_oid(schema, true);
        let (none, cache) = (pg_sys::Datum::null(), Cache::TSCONFIGNAMENSP as i32);
        pg_sys::GetSysCacheOid(
            cache,
            OID_OF_CONFIG,
            object.into(),
            schema.into(),
            none,
            none,
        )
    };
    if oid == pg_sys::InvalidOid {
        return Err(unknown());
    }
    Ok(oid)
}

/// The configuration that a row names, or the one of the language that it names; `None` where there is none such, which is no
/// error: a row may hold anything.
pub fn find(name: &str) -> Option<pg_sys::Oid> {
    look_up(name).or_else(|| look_up(&reground_citations::configuration(name)?))
}

/// The configuration of that name, without an error for what is none.
fn look_up(name: &str) -> Option<pg_sys::Oid> {
    let (schema, object) = name_parts(name)?;
    let schema = CString::new(schema.as_deref().unwrap_or("pg_catalog")).ok()?;
    let object = CString::new(object).ok()?;
    // A longer name than PostgreSQL keeps would not be found anyway, and must not be looked for.
    if schema.as_bytes().len().max(object.as_bytes().len()) >= pg_sys::NAMEDATALEN as usize {
        return None;
    }
    // SAFETY: plain look-ups in the catalog caches, by NUL-terminated names that are copied.
    let oid = unsafe {
        let schema = pg_sys::get_namespace_oid(schema.as_ptr(), true);
        let (none, cache) = (pg_sys::Datum::null(), Cache::TSCONFIGNAMENSP as i32);
        let object = pg_sys::Datum::from(object.as_ptr());
        pg_sys::GetSysCacheOid(cache, OID_OF_CONFIG, object, schema.into(), none, none)
    };
    (oid != pg_sys::InvalidOid).then_some(oid)
}

/// Whether a configuration is there.
pub fn exists(config: pg_sys::Oid) -> bool {
    let none = pg_sys::Datum::null();
    // SAFETY: a plain look-up in the catalog cache.
    let oid = unsafe {
        let cache = Cache::TSCONFIGOID as i32;
        pg_sys::GetSysCacheOid(cache, OID_OF_CONFIG, config.into(), none, none, none)
    };
    oid != pg_sys::InvalidOid
}

/// The parts of a name, with its schema.
pub fn names(name: &CStr) -> *mut pg_sys::List {
    // SAFETY: the name is NUL-terminated and copied; what is no name raises an error. The schema's name is static, and
    // nobody writes to a list's strings.
    unsafe {
        #[cfg(feature = "pg15")]
        let names = pg_sys::stringToQualifiedNameList(name.as_ptr());
        #[cfg(not(feature = "pg15"))]
        let names = pg_sys::stringToQualifiedNameList(name.as_ptr(), std::ptr::null_mut());
        if pg_sys::list_length(names) > 1 {
            return names;
        }
        let schema = pg_sys::makeString(c"pg_catalog".as_ptr().cast_mut());
        pg_sys::lcons(schema.cast(), names)
    }
}
