//! Which indexes answer for a table: its own, or those of all leaves of a partitioned one.

use std::cell::RefCell;
use std::collections::HashMap;

use pgrx::list::List;
use pgrx::pg_sys;
use pgrx::prelude::*;

use crate::error::{Error, Result};

/// Name of the access method.
const METHOD: &std::ffi::CStr = c"reground_bm25";

thread_local! {
    /// What was found, until a relation changes.
    static KNOWN: RefCell<HashMap<pg_sys::Oid, Vec<pg_sys::Oid>>> = RefCell::default();
}

unsafe extern "C-unwind" {
    /// All partitions of a relation, itself first. The bindings leave it out.
    fn find_all_inheritors(
        parent: pg_sys::Oid,
        lock: pg_sys::LOCKMODE,
        parents: *mut *mut pg_sys::List,
    ) -> *mut pg_sys::List;
}

/// Has what is known forgotten when a relation changes. Called once, when the library is loaded.
pub fn define() {
    // SAFETY: the callback only forgets; it stays registered for the session, as the library stays loaded.
    unsafe { pg_sys::CacheRegisterRelcacheCallback(Some(forget), pg_sys::Datum::null()) };
}

#[pg_guard]
unsafe extern "C-unwind" fn forget(_argument: pg_sys::Datum, _relation: pg_sys::Oid) {
    KNOWN.with(|known| {
        // Busy only while an answer is put in or taken out, and nothing of PostgreSQL's runs then.
        if let Ok(mut known) = known.try_borrow_mut() {
            known.clear();
        }
    });
}

/// The indexes that a query of this source is answered by: for an index itself, or its leaves; for a table the one that it
/// has, or that each of its leaves has.
///
/// # Errors
/// A source that is neither, without an index, or with several.
pub fn indexes(source: pg_sys::Oid) -> Result<Vec<pg_sys::Oid>> {
    if let Some(found) = KNOWN.with_borrow(|known| known.get(&source).cloned()) {
        return Ok(found);
    }
    let found = look_up(source)?;
    KNOWN.with_borrow_mut(|known| known.insert(source, found.clone()));
    Ok(found)
}

fn look_up(source: pg_sys::Oid) -> Result<Vec<pg_sys::Oid>> {
    // SAFETY: a plain look-up by a NUL-terminated name.
    let method = unsafe { pg_sys::get_am_oid(METHOD.as_ptr(), false) };
    let mut found = Vec::new();
    for relation in inheritors(source) {
        let Some(open) = Open::relation(relation) else {
            return Err(Error::Unknown(
                "table or index",
                source.to_u32().to_string(),
            ));
        };
        match open.kind() {
            b'i' if open.method() == method => found.push(relation),
            // Their leaves follow.
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
        true => Err(Error::NoBm25Index(source.to_u32().to_string())),
        false => Ok(found),
    }
}

/// A relation and all that inherit from it.
fn inheritors(relation: pg_sys::Oid) -> Vec<pg_sys::Oid> {
    // SAFETY: reads the catalog; the list of oids is copied. An ERROR finds nothing to drop within the boundary.
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

/// The oids of a list.
///
/// # Safety
/// The list is one of oids, or null.
unsafe fn oids(list: *mut pg_sys::List) -> Vec<pg_sys::Oid> {
    pgrx::memcx::current_context(|context| {
        // SAFETY: as the caller promises; it is read before anything frees it.
        let list = unsafe { List::<pg_sys::Oid>::downcast_ptr_in_memcx(list, context) };
        list.map(|list| list.iter().copied().collect())
            .unwrap_or_default()
    })
}

/// A relation that is open until this is dropped.
pub struct Open {
    relation: pg_sys::Relation,
    lock: pg_sys::LOCKMODE,
}

impl Open {
    /// A table or an index, to be read; `None` where it is gone.
    pub fn relation(oid: pg_sys::Oid) -> Option<Self> {
        Self::under(oid, pg_sys::AccessShareLock)
    }

    /// The same under another lock.
    pub fn under(oid: pg_sys::Oid, lock: u32) -> Option<Self> {
        let lock = lock as pg_sys::LOCKMODE;
        // SAFETY: opens it with the lock, or returns null.
        let relation = unsafe { pg_sys::try_relation_open(oid, lock) };
        (!relation.is_null()).then_some(Self { relation, lock })
    }

    /// Whether it is an index of this access method.
    pub fn is_ours(&self) -> bool {
        // SAFETY: a plain look-up by a NUL-terminated name.
        self.kind() == b'i'
            && self.method() == unsafe { pg_sys::get_am_oid(METHOD.as_ptr(), false) }
    }

    /// Refuses whoever does not own it.
    pub fn owned(&self) -> Result<()> {
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

    fn kind(&self) -> u8 {
        self.class().relkind as u8
    }

    fn method(&self) -> pg_sys::Oid {
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
    fn indexes(&self, method: pg_sys::Oid) -> Vec<pg_sys::Oid> {
        // SAFETY: the relation is open; the list is a copy.
        let all = unsafe { oids(pg_sys::RelationGetIndexList(self.relation)) };
        all.into_iter()
            .filter(|&index| {
                Self::relation(index).is_some_and(|index| {
                    // SAFETY: an open index has its row of pg_index.
                    let valid = unsafe { (*(*index.relation).rd_index).indisvalid };
                    index.method() == method && valid
                })
            })
            .collect()
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: opened above. After an error the abort closes it.
            unsafe {
                pg_sys::relation_close(self.relation, self.lock);
            }
        }
    }
}
