//! Open relations and their catalog entries.

use std::ffi::{CStr, CString};

use pgrx::list::List;
use pgrx::pg_sys;

use crate::error::{Error, Result};

/// Name of the access method.
const ACCESS_METHOD: &CStr = c"reground_bm25";

/// Returns the oid of the access method.
pub fn access_method() -> pg_sys::Oid {
    // SAFETY: a catalog look-up by a NUL-terminated name.
    unsafe { pg_sys::get_am_oid(ACCESS_METHOD.as_ptr(), false) }
}

/// Returns the oids of a list.
///
/// # Safety
/// `list` is null or a list of oids.
pub unsafe fn oids(list: *mut pg_sys::List) -> Vec<pg_sys::Oid> {
    pgrx::memcx::current_context(|context| {
        // SAFETY: as the caller promises; the list is copied before anything can free it.
        let list = unsafe { List::<pg_sys::Oid>::downcast_ptr_in_memcx(list, context) };
        list.map(|list| list.iter().copied().collect())
            .unwrap_or_default()
    })
}

/// A relation that is closed when this is dropped.
pub struct OpenRelation {
    relation: pg_sys::Relation,
    lock: pg_sys::LOCKMODE,
}

impl OpenRelation {
    /// Opens a table or an index for reading; `None` if it does not exist.
    pub fn open(oid: pg_sys::Oid) -> Option<Self> {
        Self::open_with_lock(oid, pg_sys::AccessShareLock)
    }

    /// Opens a table or an index with a lock; `None` if it does not exist.
    pub fn open_with_lock(oid: pg_sys::Oid, lock: u32) -> Option<Self> {
        let lock = lock as pg_sys::LOCKMODE;
        // SAFETY: returns an open and locked relation, or null.
        let relation = unsafe { pg_sys::try_relation_open(oid, lock) };
        // `then_some` would create a value even for null, and its drop would close the relation.
        (!relation.is_null()).then(|| Self { relation, lock })
    }

    /// Returns whether the relation is an index of this access method.
    pub fn is_ours(&self) -> bool {
        self.kind() == b'i' && self.access_method() == access_method()
    }

    /// Checks that the current user owns the relation.
    ///
    /// # Errors
    /// If the current user does not own it.
    pub fn check_owner(&self) -> Result<()> {
        // SAFETY: privilege look-ups for an open relation.
        let owns = unsafe {
            let (oid, user) = ((*self.relation).rd_id, pg_sys::GetUserId());
            #[cfg(feature = "pg15")]
            let owns = pg_sys::pg_class_ownercheck(oid, user);
            #[cfg(not(feature = "pg15"))]
            let owns = pg_sys::object_ownercheck(pg_sys::RelationRelationId, oid, user);
            owns
        };
        if owns {
            Ok(())
        } else {
            Err(Error::NotOwner(self.name()))
        }
    }

    /// Returns the role that owns the relation.
    pub fn owner(&self) -> pg_sys::Oid {
        self.class().relowner
    }

    /// Returns the pointer to the relation, valid until this is dropped.
    pub fn as_ptr(&self) -> pg_sys::Relation {
        self.relation
    }

    fn class(&self) -> &pg_sys::FormData_pg_class {
        // SAFETY: an open relation has a pg_class row.
        unsafe { &*(*self.relation).rd_rel }
    }

    /// Returns relkind.
    pub fn kind(&self) -> u8 {
        self.class().relkind as u8
    }

    /// Returns the oid of the relation's access method.
    pub fn access_method(&self) -> pg_sys::Oid {
        self.class().relam
    }

    /// Whether the relation is a table in PostgreSQL's own format.
    pub fn is_heap(&self) -> bool {
        self.access_method() == pg_sys::HEAP_TABLE_AM_OID
    }

    /// Whether an index contains every row version that a snapshot of this transaction can see. An index that was created on a table
    /// with incompatible versions of a row contains the newest only; PostgreSQL does not use it under older snapshots.
    pub fn has_all_versions(&self) -> bool {
        // SAFETY: an open index has a pg_index row, which is a tuple. TransactionXmin is a variable of the backend.
        unsafe {
            let relation = &*self.relation;
            let tuple = &*(*relation.rd_indextuple).t_data;
            let frozen = pg_sys::HEAP_XMIN_FROZEN;
            let is_frozen = u32::from(tuple.t_infomask) & frozen == frozen;
            let created = tuple.t_choice.t_heap.t_xmin;
            !(*relation.rd_index).indcheckxmin
                || is_frozen
                || pg_sys::TransactionIdPrecedes(created, pg_sys::TransactionXmin)
        }
    }

    /// Returns the name of the relation.
    pub fn name(&self) -> String {
        // SAFETY: names are NUL-terminated.
        let name = unsafe { CStr::from_ptr(self.class().relname.data.as_ptr()) };
        name.to_string_lossy().into_owned()
    }

    /// Returns the table of an index; the relation itself if it is not an index.
    pub fn table(&self) -> pg_sys::Oid {
        // SAFETY: an open index has a pg_index row; for other relations the pointer is null.
        unsafe {
            match (*self.relation).rd_index.as_ref() {
                Some(index) => index.indrelid,
                None => (*self.relation).rd_id,
            }
        }
    }

    /// Returns the names of the table's columns that the first column of an index and its predicate read; `None` if they read whole rows.
    /// Scores do not depend on filter columns.
    pub fn scored_columns(&self) -> Option<Vec<CString>> {
        let table = self.table();
        // The members of a set of columns are offset by the lowest attribute number.
        // SAFETY: an open index has a pg_index row with a first key, and an expression for each key of 0, in order. The set is allocated in
        // the current memory context. Names are NUL-terminated and copied.
        unsafe {
            let index = (*self.relation).rd_index.as_ref()?;
            let first = *index.indkey.values.as_slice(1).first()?;
            let mut numbers = Vec::new();
            let mut found = std::ptr::null_mut();
            if first > 0 {
                numbers.push(first);
            } else {
                let expressions = pg_sys::RelationGetIndexExpressions(self.relation);
                pg_sys::pull_varattnos(pg_sys::list_nth(expressions, 0).cast(), 1, &mut found);
            }
            let predicate = pg_sys::RelationGetIndexPredicate(self.relation);
            pg_sys::pull_varattnos(predicate.cast(), 1, &mut found);
            let mut member = pg_sys::bms_next_member(found, -1);
            while member >= 0 {
                let number = member + pg_sys::FirstLowInvalidHeapAttributeNumber;
                numbers.push(pg_sys::AttrNumber::try_from(number).ok()?);
                member = pg_sys::bms_next_member(found, member);
            }
            let name = |number: pg_sys::AttrNumber| {
                let name = pg_sys::get_attname(table, number, true);
                (number != 0 && !name.is_null()).then(|| CStr::from_ptr(name).to_owned())
            };
            numbers.into_iter().map(name).collect()
        }
    }

    /// Returns the valid indexes of a table with the access method `method`.
    pub fn indexes(&self, method: pg_sys::Oid) -> Vec<pg_sys::Oid> {
        // SAFETY: the relation is open, and the list is a copy.
        let all = unsafe { oids(pg_sys::RelationGetIndexList(self.relation)) };
        all.into_iter()
            .filter(|&index| {
                Self::open(index).is_some_and(|index| {
                    // SAFETY: an open index has a pg_index row.
                    let valid = unsafe { (*(*index.relation).rd_index).indisvalid };
                    index.access_method() == method && valid
                })
            })
            .collect()
    }
}

impl Drop for OpenRelation {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: the relation was opened above. After an error the abort closes it instead.
            unsafe {
                pg_sys::relation_close(self.relation, self.lock);
            }
        }
    }
}
