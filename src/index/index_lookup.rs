//! Finds the indexes that answer for a table: its own, or those of all leaves of a partitioned table.

use std::cell::RefCell;

use pgrx::pg_sys;

use crate::error::{Error, Result};
use crate::index::relation::{OpenRelation, access_method, oids};
use crate::sql::{self, CatalogCache};

thread_local! {
    static INDEXES: RefCell<CatalogCache<pg_sys::Oid, Vec<pg_sys::Oid>>> = RefCell::default();
}

unsafe extern "C-unwind" {
    /// Returns a relation and all its partitions. The bindings do not declare it.
    fn find_all_inheritors(
        parent: pg_sys::Oid,
        lock: pg_sys::LOCKMODE,
        parents: *mut *mut pg_sys::List,
    ) -> *mut pg_sys::List;
}

/// Returns the indexes that answer queries on `relation`: for an index, itself or its leaves; for a table, its only index, or
/// the only index of each of its leaves.
///
/// # Errors
/// If `relation` is neither a table nor an index, or if a table has no index or several.
pub fn indexes(relation: pg_sys::Oid) -> Result<Vec<pg_sys::Oid>> {
    sql::kept(&INDEXES, relation, || look_up(relation))
}

fn look_up(relation: pg_sys::Oid) -> Result<Vec<pg_sys::Oid>> {
    let method = access_method();
    let mut found = Vec::new();
    for member in inheritors(relation) {
        let Some(open) = OpenRelation::open(member) else {
            return Err(Error::Unknown(
                "table or index",
                relation.to_u32().to_string(),
            ));
        };
        match open.kind() {
            b'i' if open.access_method() == method => found.push(member),
            // Their leaves follow in the list.
            b'I' | b'p' => {}
            b'r' | b'm' => {
                let mut own = open.indexes(method);
                match (own.pop(), own.is_empty()) {
                    (Some(index), true) => found.push(index),
                    (None, _) => return Err(Error::NoBm25Index(open.name())),
                    (Some(_), false) => return Err(Error::SeveralBm25Indexes(open.name())),
                }
            }
            _ => return Err(Error::NoBm25Index(open.name())),
        }
    }
    match found.is_empty() {
        true => Err(Error::NoBm25Index(relation.to_u32().to_string())),
        false => Ok(found),
    }
}

/// Returns a relation and all its descendants.
fn inheritors(relation: pg_sys::Oid) -> Vec<pg_sys::Oid> {
    // SAFETY: reads the catalog; the list of oids is copied. There is nothing to drop inside the boundary if an ERROR occurs.
    unsafe {
        let list = pg_sys::ffi::pg_guard_ffi_boundary(|| {
            find_all_inheritors(
                relation,
                pg_sys::AccessShareLock as pg_sys::LOCKMODE,
                std::ptr::null_mut(),
            )
        });
        oids(list)
    }
}
