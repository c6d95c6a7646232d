//! The version of the extension's objects in this database. The library can be newer, until ALTER EXTENSION … UPDATE, and older, in a
//! session that has loaded it before another library was installed.

use std::cell::RefCell;

use pgrx::pg_sys;

use super::{CatalogCache, column, find_row, kept};
use crate::error::{Error, Result};

/// The version of this library.
const OWN: &str = env!("CARGO_PKG_VERSION");

/// The scripts of all releases with their digests, the oldest first.
const RELEASES: &str = include_str!("../../../sql/releases/SHA256SUMS");

thread_local! {
    // Each update changes a row of pg_attribute, which empties this cache.
    static FOUND: RefCell<CatalogCache<(), Option<String>>> = RefCell::default();
}

/// Checks that this library serves the objects of this database: those of its own version and of the previous release. Scripts of the
/// extension are not checked: an update over several releases passes versions that the library does not serve.
///
/// # Errors
/// 0A000 for objects of any other version.
pub fn check() -> Result<()> {
    // SAFETY: a plain read of a backend variable.
    if unsafe { pg_sys::creating_extension } {
        return Ok(());
    }
    match kept(&FOUND, (), || Ok(installed()))? {
        Some(objects) if objects != OWN && previous() != Some(objects.as_str()) => {
            Err(Error::CatalogVersion {
                objects,
                library: OWN,
            })
        }
        _ => Ok(()),
    }
}

/// The version of the latest release before this one.
fn previous() -> Option<&'static str> {
    let mut latest_first = RELEASES.lines().rev().filter_map(|line| {
        let (_, file) = line.split_once("reground--")?;
        file.strip_suffix(".sql")
    });
    latest_first.find(|version| *version != OWN)
}

/// The version of the extension; `None` if the database does not have it. A statement would see the snapshot of the transaction, so
/// this reads the catalog itself.
fn installed() -> Option<String> {
    find_row(pg_sys::ExtensionRelationId, |tuple, columns| {
        // SAFETY: the tuple is a row of pg_extension with these columns. The text is copied.
        unsafe {
            let row = &*pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_extension>();
            if pg_sys::name_data_to_str(&row.extname) != "reground" {
                return None;
            }
            column(tuple, columns, pg_sys::Anum_pg_extension_extversion as i32)
        }
    })
}
