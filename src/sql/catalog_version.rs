//! The version of the extension's objects in this database. The library can be newer, until ALTER EXTENSION … UPDATE, and older, in a
//! session that has loaded it before another library was installed.

use std::cell::RefCell;

use pgrx::{FromDatum, pg_sys};

use super::catalog_cache::{CatalogCache, kept};
use crate::error::{Error, Result};

/// The versions of the objects that this library serves: its own and the previous one, in this order.
const SERVED: [&str; 2] = [env!("CARGO_PKG_VERSION"), "0.1.0"];

thread_local! {
    // Each update changes a row of pg_attribute, which empties this cache.
    static FOUND: RefCell<CatalogCache<(), Option<String>>> = RefCell::default();
}

/// Checks that this library serves the objects of this database. Scripts of the extension are not checked: an update over several
/// releases passes versions that the library does not serve.
///
/// # Errors
/// 0A000 for objects of any other version.
pub fn check() -> Result<()> {
    // SAFETY: a plain read of a backend variable.
    if unsafe { pg_sys::creating_extension } {
        return Ok(());
    }
    let Some(objects) = kept(&FOUND, (), || Ok(installed()))? else {
        return Ok(());
    };
    if SERVED.contains(&objects.as_str()) {
        return Ok(());
    }
    let [library, _] = SERVED;
    Err(Error::CatalogVersion {
        is_newer: numbers(&objects) > numbers(library),
        objects,
        library,
    })
}

/// The numbers of a version; 0 for a part that is none.
fn numbers(version: &str) -> Vec<u32> {
    let parts = version.split('.');
    parts.map(|part| part.parse().unwrap_or_default()).collect()
}

/// The version of the extension; `None` if the database does not have it. Reads the catalog without a statement, because a statement
/// would see the snapshot of the transaction.
fn installed() -> Option<String> {
    // SAFETY: a scan of a catalog within a transaction. Each tuple is a row of pg_extension until the next call, and the text is copied
    // before it.
    unsafe {
        let lock = pg_sys::AccessShareLock as pg_sys::LOCKMODE;
        let relation = pg_sys::table_open(pg_sys::ExtensionRelationId, lock);
        let scan = pg_sys::systable_beginscan(
            relation,
            pg_sys::InvalidOid,
            false,
            std::ptr::null_mut(),
            0,
            std::ptr::null_mut(),
        );
        let mut version = None;
        loop {
            let tuple = pg_sys::systable_getnext(scan);
            if tuple.is_null() {
                break;
            }
            let row = &*pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_extension>();
            if pg_sys::name_data_to_str(&row.extname) == "reground" {
                let mut is_null = false;
                let column = pg_sys::Anum_pg_extension_extversion as i32;
                let datum = pg_sys::heap_getattr(tuple, column, (*relation).rd_att, &mut is_null);
                version = String::from_datum(datum, is_null);
                break;
            }
        }
        pg_sys::systable_endscan(scan);
        pg_sys::table_close(relation, lock);
        version
    }
}
