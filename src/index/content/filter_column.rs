//! Filter columns: the columns of an index after the first one. The index finds rows by the hash of a value; PostgreSQL compares the
//! value itself again.

use pgrx::pg_sys;

use super::in_language::is_bm25text;
use crate::error::{Error, Result};

/// Number of the support function of an operator class that hashes a value, as `hashtextextended`.
pub const HASH_FUNCTION: u16 = 1;

/// The value of a filter column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterValue {
    /// Number of the column in the index, from 2.
    pub column: u16,
    /// Hash of the value.
    pub hash: u64,
}

/// Checks that the first column of an index is a text, and that values of the others can be hashed.
///
/// # Safety
/// The index is open and of this access method.
pub unsafe fn check_columns(index: pg_sys::Relation) -> Result<()> {
    // SAFETY: as the caller promises; each column has an operator class with an input type.
    unsafe {
        let first = *(*index).rd_opcintype;
        let is_text =
            [pg_sys::TEXTOID, pg_sys::TEXTARRAYOID].contains(&first) || is_bm25text(first);
        if !is_text || own_hash_function(index, 1) != pg_sys::InvalidOid {
            return Err(Error::FirstColumn);
        }
        for column in 2..=columns(index) {
            if own_hash_function(index, column) == pg_sys::InvalidOid {
                return Err(Error::FilterColumn(column));
            }
        }
    }
    Ok(())
}

/// Returns the values of a row's filter columns, without NULLs.
///
/// # Safety
/// The index is open and of this access method. The pointers are to a value for each of its columns.
pub unsafe fn filter_values(
    index: pg_sys::Relation,
    values: *const pg_sys::Datum,
    is_null: *const bool,
) -> Vec<FilterValue> {
    // SAFETY: as the caller promises.
    unsafe {
        let others = (2..=columns(index)).filter(|&column| !*is_null.add(usize::from(column) - 1));
        let value = |column: u16| FilterValue {
            column,
            hash: {
                let number = column as pg_sys::AttrNumber;
                let function = pg_sys::index_getprocinfo(index, number, HASH_FUNCTION);
                hash(
                    index,
                    column,
                    function,
                    *values.add(usize::from(column) - 1),
                )
            },
        };
        others.map(value).collect()
    }
}

/// Returns the value that a scan compares a filter column with.
///
/// # Safety
/// The index is open and of this access method, and `key` is a scan key that is not NULL for one of its filter columns.
pub unsafe fn compared_value(index: pg_sys::Relation, key: &pg_sys::ScanKeyData) -> FilterValue {
    let column = u16::try_from(key.sk_attno).unwrap_or_default();
    // SAFETY: as the caller promises; a family has an entry for each column, and a hash function for each type.
    unsafe {
        let at = usize::from(column) - 1;
        let (own, compared) = (*(*index).rd_opcintype.add(at), key.sk_subtype);
        let function = if compared == pg_sys::InvalidOid || compared == own {
            own_hash_function(index, column)
        } else {
            let family = *(*index).rd_opfamily.add(at);
            let number = HASH_FUNCTION as pg_sys::AttrNumber;
            pg_sys::get_opfamily_proc(family, compared, compared, number)
        };
        let mut info = pg_sys::FmgrInfo::default();
        pg_sys::fmgr_info(function, &raw mut info);
        FilterValue {
            column,
            hash: hash(index, column, &raw mut info, key.sk_argument),
        }
    }
}

/// Number of filter columns of an index.
///
/// # Safety
/// The index is open.
pub unsafe fn filter_count(index: pg_sys::Relation) -> u16 {
    // SAFETY: as the caller promises.
    unsafe { columns(index).saturating_sub(1) }
}

/// Number of columns.
///
/// # Safety
/// The index is open.
unsafe fn columns(index: pg_sys::Relation) -> u16 {
    // SAFETY: as the caller promises.
    let count = unsafe { (*(*index).rd_index).indnkeyatts };
    u16::try_from(count).unwrap_or_default()
}

/// Returns the function that hashes values of a column's own type; InvalidOid if there is none.
///
/// # Safety
/// The index is open and has the column.
unsafe fn own_hash_function(index: pg_sys::Relation, column: u16) -> pg_sys::Oid {
    let column = pg_sys::AttrNumber::try_from(column).unwrap_or_default();
    // SAFETY: as the caller promises.
    unsafe { pg_sys::index_getprocid(index, column, HASH_FUNCTION) }
}

/// # Safety
/// The index is open and has the column, and the function hashes values of the type of `value`.
unsafe fn hash(
    index: pg_sys::Relation,
    column: u16,
    function: *mut pg_sys::FmgrInfo,
    value: pg_sys::Datum,
) -> u64 {
    // SAFETY: as the caller promises. The second argument is a seed.
    unsafe {
        let collation = *(*index).rd_indcollation.add(usize::from(column) - 1);
        let seed = pg_sys::Datum::from(0_i64);
        pg_sys::FunctionCall2Coll(function, collation, value, seed).value() as u64
    }
}
