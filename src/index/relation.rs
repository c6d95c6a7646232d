//! A relation that is open, and what its catalog entries say of it.

use pgrx::list::List;
use pgrx::pg_sys;

use crate::error::{Error, Result};

/// Name of the access method.
const ACCESS_METHOD: &std::ffi::CStr = c"reground_bm25";

/// The access method.
pub fn access_method() -> pg_sys::Oid {
    // SAFETY: a plain look-up by a NUL-terminated name.
    unsafe { pg_sys::get_am_oid(ACCESS_METHOD.as_ptr(), false) }
}

/// The oids of a list.
///
/// # Safety
/// The list is one of oids, or null.
pub unsafe fn oids(list: *mut pg_sys::List) -> Vec<pg_sys::Oid> {
    pgrx::memcx::current_context(|context| {
        // SAFETY: as the caller promises; it is read before anything frees it.
        let list = unsafe { List::<pg_sys::Oid>::downcast_ptr_in_memcx(list, context) };
        list.map(|list| list.iter().copied().collect())
            .unwrap_or_default()
    })
}

/// A relation that is open until this is dropped.
pub struct OpenRelation {
    relation: pg_sys::Relation,
    lock: pg_sys::LOCKMODE,
}

impl OpenRelation {
    /// A table or an index, to be read; `None` where it is gone.
    pub fn relation(oid: pg_sys::Oid) -> Option<Self> {
        Self::under(oid, pg_sys::AccessShareLock)
    }

    /// The same under another lock.
    pub fn under(oid: pg_sys::Oid, lock: u32) -> Option<Self> {
        let lock = lock as pg_sys::LOCKMODE;
        // SAFETY: opens it with the lock, or returns null.
        let relation = unsafe { pg_sys::try_relation_open(oid, lock) };
        // Not then_some: what is made and dropped again would close it.
        (!relation.is_null()).then(|| Self { relation, lock })
    }

    /// Whether it is an index of this access method.
    pub fn is_ours(&self) -> bool {
        self.kind() == b'i' && self.access_method() == access_method()
    }

    /// Refuses whoever does not own it.
    pub fn check_owner(&self) -> Result<()> {
        // SAFETY: plain look-ups for an open relation.
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

    /// The relation itself.
    pub fn get(&self) -> pg_sys::Relation {
        self.relation
    }

    fn class(&self) -> &pg_sys::FormData_pg_class {
        // SAFETY: an open relation has its row of pg_class.
        unsafe { &*(*self.relation).rd_rel }
    }

    /// Its kind, as pg_class has it.
    pub fn kind(&self) -> u8 {
        self.class().relkind as u8
    }

    /// Its access method.
    pub fn access_method(&self) -> pg_sys::Oid {
        self.class().relam
    }

    /// Its name.
    pub fn name(&self) -> String {
        // SAFETY: names are NUL-terminated.
        let name = unsafe { std::ffi::CStr::from_ptr(self.class().relname.data.as_ptr()) };
        name.to_string_lossy().into_owned()
    }

    /// The table of an index, or itself.
    pub fn table(&self) -> pg_sys::Oid {
        // SAFETY: an open index has its row of pg_index; other relations have none.
        unsafe {
            match (*self.relation).rd_index.as_ref() {
                Some(index) => index.indrelid,
                None => (*self.relation).rd_id,
            }
        }
    }

    /// Those of its indexes that are valid and of the access method.
    pub fn indexes(&self, method: pg_sys::Oid) -> Vec<pg_sys::Oid> {
        // SAFETY: the relation is open; the list is a copy.
        let all = unsafe { oids(pg_sys::RelationGetIndexList(self.relation)) };
        all.into_iter()
            .filter(|&index| {
                Self::relation(index).is_some_and(|index| {
                    // SAFETY: an open index has its row of pg_index.
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
            // SAFETY: opened above. After an error the abort closes it.
            unsafe {
                pg_sys::relation_close(self.relation, self.lock);
            }
        }
    }
}
