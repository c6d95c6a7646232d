//! A text search configuration by its name: what is stored is the name, as an oid does not outlive a dump.

use std::ffi::{CStr, CString};

use pgrx::pg_sys;
use pgrx::pg_sys::SysCacheIdentifier as Cache;

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
