//! Values that are computed from the catalogs, kept until this session notices a change of a catalog.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::hash::Hash;
use std::thread::LocalKey;

use pgrx::pg_sys::{self, SysCacheIdentifier as Catalog};
use pgrx::prelude::*;

use crate::error::Result;
use crate::session::{sees_everything, with_latest_snapshot};

/// Maximum number of values in a cache. All are dropped at the limit.
const CAPACITY: usize = 1000;

/// Catalogs besides those of relations, with whose changes values are forgotten.
const CATALOGS: [Catalog::Type; 8] = [
    Catalog::AUTHOID,
    Catalog::AUTHMEMROLEMEM,
    Catalog::CASTSOURCETARGET,
    Catalog::CLAOID,
    // Its owner is a member of pg_database_owner.
    Catalog::DATABASEOID,
    Catalog::NAMESPACEOID,
    Catalog::TSCONFIGOID,
    Catalog::TYPEOID,
];

thread_local! {
    /// Number of changes that this session has noticed.
    static CHANGES: Cell<u64> = const { Cell::new(0) };
}

/// Kept values, by key.
pub struct CatalogCache<K, V> {
    changes: u64,
    values: HashMap<K, V>,
}

impl<K, V> Default for CatalogCache<K, V> {
    fn default() -> Self {
        Self {
            changes: 0,
            values: HashMap::new(),
        }
    }
}

/// Registers the callbacks. Called once, when the library is loaded.
pub fn define() {
    // SAFETY: the callbacks only count. They stay registered for the session, and the library stays loaded.
    unsafe {
        pg_sys::CacheRegisterRelcacheCallback(Some(relation_changed), pg_sys::Datum::null());
        for catalog in CATALOGS {
            let catalog = catalog as std::ffi::c_int;
            pg_sys::CacheRegisterSyscacheCallback(
                catalog,
                Some(row_changed),
                pg_sys::Datum::null(),
            );
        }
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn relation_changed(_argument: pg_sys::Datum, _relation: pg_sys::Oid) {
    CHANGES.set(CHANGES.get().wrapping_add(1));
}

#[pg_guard]
unsafe extern "C-unwind" fn row_changed(
    _argument: pg_sys::Datum,
    _catalog: std::ffi::c_int,
    _hash: pg_sys::uint32,
) {
    CHANGES.set(CHANGES.get().wrapping_add(1));
}

/// Returns a kept value, or one that `compute` reads through PostgreSQL's own caches of the catalogs.
pub fn kept<K: Eq + Hash, V: Clone>(
    cache: &'static LocalKey<RefCell<CatalogCache<K, V>>>,
    key: K,
    compute: impl FnOnce() -> Result<V>,
) -> Result<V> {
    // SAFETY: a plain call within a transaction.
    unsafe { pg_sys::AcceptInvalidationMessages() };
    let changes = CHANGES.get();
    let found = cache.with_borrow(|cache| match cache.changes == changes {
        true => cache.values.get(&key).cloned(),
        false => None,
    });
    if let Some(found) = found {
        return Ok(found);
    }
    let value = compute()?;
    // A change during the computation may not be in the value.
    if changes == CHANGES.get() {
        cache.with_borrow_mut(|cache| {
            if cache.changes != changes || cache.values.len() >= CAPACITY {
                cache.values.clear();
            }
            cache.changes = changes;
            cache.values.insert(key, value.clone());
        });
    }
    Ok(value)
}

/// As [`kept`], for a value that statements compute. They run with the latest snapshot, because an older one may not contain the changes
/// that this session has noticed. Where no statement can have it, nothing is kept.
pub fn kept_by_statements<K: Eq + Hash, V: Clone>(
    cache: &'static LocalKey<RefCell<CatalogCache<K, V>>>,
    key: K,
    compute: impl FnOnce() -> Result<V>,
) -> Result<V> {
    // SAFETY: a plain call.
    let is_parallel = unsafe { pg_sys::IsInParallelMode() };
    if is_parallel || !sees_everything() {
        return compute();
    }
    kept(cache, key, || with_latest_snapshot(compute))
}
