//! Looks up text search configurations by name. Names are stored instead of oids, because an oid changes with a dump and
//! restore.

use std::ffi::{CStr, CString};

use pgrx::pg_sys;
use pgrx::pg_sys::SysCacheIdentifier as Cache;
use reground_bm25::config_name::name_parts;

use crate::error::{Error, Result};

/// Number of a column of pg_ts_config, which the bindings do not define.
const OID_OF_CONFIG: i16 = 1;

/// Returns the configuration with this name. There is no privilege check on its schema: that was checked when the index or the
/// corpus was created.
pub fn config_oid(name: &str) -> Result<pg_sys::Oid> {
    let unknown = || Error::UnknownTextConfig(name.to_owned());
    let text = CString::new(name).map_err(|_| unknown())?;
    let (mut schema, mut object) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: the list is a list of names; its last two elements are returned as NUL-terminated strings. The other calls are
    // catalog cache look-ups.
    let oid = unsafe {
        pg_sys::DeconstructQualifiedName(qualified_name(&text), &mut schema, &mut object);
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

/// Returns the configuration with the name or the language code in a row; `None` if there is none. This is not an error,
/// because a row may hold any text.
pub fn find_config(name: &str) -> Option<pg_sys::Oid> {
    look_up(name).or_else(|| look_up(&reground_citations::configuration(name)?))
}

/// Returns the configuration with this name; `None` if there is none.
fn look_up(name: &str) -> Option<pg_sys::Oid> {
    let (schema, object) = name_parts(name)?;
    let schema = CString::new(schema.as_deref().unwrap_or("pg_catalog")).ok()?;
    let object = CString::new(object).ok()?;
    // A longer name than NAMEDATALEN does not exist, and the cache look-up requires shorter ones.
    if schema.as_bytes().len().max(object.as_bytes().len()) >= pg_sys::NAMEDATALEN as usize {
        return None;
    }
    // SAFETY: catalog cache look-ups by NUL-terminated names that are copied.
    let oid = unsafe {
        let schema = pg_sys::get_namespace_oid(schema.as_ptr(), true);
        let (none, cache) = (pg_sys::Datum::null(), Cache::TSCONFIGNAMENSP as i32);
        let object = pg_sys::Datum::from(object.as_ptr());
        pg_sys::GetSysCacheOid(cache, OID_OF_CONFIG, object, schema.into(), none, none)
    };
    (oid != pg_sys::InvalidOid).then_some(oid)
}

/// Returns whether a configuration exists.
pub fn config_exists(config: pg_sys::Oid) -> bool {
    let none = pg_sys::Datum::null();
    // SAFETY: a catalog cache look-up by oid.
    let oid = unsafe {
        let cache = Cache::TSCONFIGOID as i32;
        pg_sys::GetSysCacheOid(cache, OID_OF_CONFIG, config.into(), none, none, none)
    };
    oid != pg_sys::InvalidOid
}

/// Returns the parts of a name, with pg_catalog as the default schema.
pub fn qualified_name(name: &CStr) -> *mut pg_sys::List {
    // SAFETY: the name is NUL-terminated and copied; an invalid name raises an error. The schema's name is static, and nobody
    // writes to the strings of the list.
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
