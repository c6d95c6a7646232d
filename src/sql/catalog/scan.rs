//! Scans of a small catalog, or another small table, without a statement.

use pgrx::{FromDatum, pg_sys};

/// Passes the rows of a catalog with their columns to `find`, and returns its first value. Uses the latest snapshot of the catalogs and
/// no index, because a process without a database can lack those. A row is valid during the call of `find` only.
pub fn find_row<T>(
    catalog: pg_sys::Oid,
    mut find: impl FnMut(pg_sys::HeapTuple, pg_sys::TupleDesc) -> Option<T>,
) -> Option<T> {
    let mut found = None;
    // SAFETY: a scan within a transaction. It and the relation are closed below, and by the abort of the transaction on an error.
    unsafe {
        let lock = pg_sys::AccessShareLock as pg_sys::LOCKMODE;
        let relation = pg_sys::table_open(catalog, lock);
        let no_key = std::ptr::null_mut();
        let latest = std::ptr::null_mut();
        let scan =
            pg_sys::systable_beginscan(relation, pg_sys::InvalidOid, false, latest, 0, no_key);
        while found.is_none() {
            let tuple = pg_sys::systable_getnext(scan);
            if tuple.is_null() {
                break;
            }
            found = find(tuple, (*relation).rd_att);
        }
        pg_sys::systable_endscan(scan);
        pg_sys::table_close(relation, lock);
    }
    found
}

/// A column of a row that [`find_row`] passes, by its number from 1, as a value that owns its data.
///
/// # Safety
/// The tuple is a row with these columns, and the column has the type of the value.
pub unsafe fn column<T: FromDatum>(
    tuple: pg_sys::HeapTuple,
    columns: pg_sys::TupleDesc,
    number: i32,
) -> Option<T> {
    let mut is_null = false;
    // SAFETY: promised by the caller.
    unsafe {
        let value = pg_sys::heap_getattr(tuple, number, columns, &mut is_null);
        T::from_datum(value, is_null)
    }
}
