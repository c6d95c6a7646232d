//! Writes to our tables, as referential-integrity triggers write: under the tables' owner, whoever calls.
//!
//! SQL functions with SECURITY DEFINER would not do: an invoker cannot call revoked ones, and inside a definer the
//! caller's own relations would be read with the wrong rights.

use pgrx::pg_sys;

use crate::error::{Error, Result};
use crate::session::{PINNED_PATH, PLAIN_TEXT, set_local};

/// Runs `work` as the owner of our tables, with a search_path that no caller can bend.
///
/// It finds rows by key: a plan for all values is as good as one for these, and is kept. So it must not read whole tables, as one
/// does that was made while they were empty: they fill up faster than they are analysed. Checks of foreign keys, whose plans
/// PostgreSQL keeps for itself, are planned in here too.
pub fn as_owner<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    as_owner_unrestricted(|| {
        set_local(c"enable_seqscan", c"off");
        // Up to PostgreSQL 17 a small table without an index then seems to cost so much that its plan would be compiled.
        set_local(c"jit", c"off");
        work()
    })
}

/// As [`as_owner`], for work that is about many rows and reads whole tables where that is best.
pub fn as_owner_unrestricted<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    as_role(owner()?, pg_sys::SECURITY_LOCAL_USERID_CHANGE, || {
        set_local(c"plan_cache_mode", c"force_generic_plan");
        work()
    })
}

/// The owner of our tables. Looked up each time, in the catalog caches: it can be changed.
fn owner() -> Result<pg_sys::Oid> {
    // SAFETY: plain look-ups by NUL-terminated names; true and `else` say what is not there without an error. The tuple is
    // a row of pg_class while it is pinned, and it is released below.
    unsafe {
        let schema = pg_sys::get_namespace_oid(c"reground".as_ptr(), true);
        let table = pg_sys::get_relname_relid(c"turns".as_ptr(), schema);
        let row = pg_sys::SearchSysCache1(pg_sys::SysCacheIdentifier::RELOID as i32, table.into());
        if row.is_null() {
            return Err(Error::Unknown("table", "reground.turns".into()));
        }
        let owner = (*pg_sys::GETSTRUCT(row).cast::<pg_sys::FormData_pg_class>()).relowner;
        pg_sys::ReleaseSysCache(row);
        Ok(owner)
    }
}

/// Runs code that is not ours as the role that wrote it, as ANALYZE runs index functions: it cannot make objects in the
/// caller's session, and whatever it sets is rolled back.
pub fn as_foreign_role<T>(role: pg_sys::Oid, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let restricted = pg_sys::SECURITY_LOCAL_USERID_CHANGE | pg_sys::SECURITY_RESTRICTED_OPERATION;
    as_role(role, restricted, work)
}

/// Runs `work` as a role, under settings that no caller can bend.
///
/// On an error the (sub)transaction's abort restores user and settings, so nothing need be done here.
fn as_role<T>(role: pg_sys::Oid, flags: u32, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let mut user = pg_sys::InvalidOid;
    let mut context = 0;
    // SAFETY: plain calls into the backend; GetUserIdAndSecContext fills both out parameters. The nest level is closed
    // below on success and by AtEOXact_GUC on abort.
    let level = unsafe {
        pg_sys::GetUserIdAndSecContext(&mut user, &mut context);
        pg_sys::SetUserIdAndSecContext(role, context | flags as i32);
        pg_sys::NewGUCNestLevel()
    };
    set_local(c"search_path", PINNED_PATH);
    for (name, value) in PLAIN_TEXT {
        set_local(name, value);
    }
    let result = work();
    // SAFETY: user and context are those captured above; level is the one opened above. An Err result becomes an ERROR
    // at the function's edge, but restoring first is right for both.
    unsafe {
        pg_sys::AtEOXact_GUC(false, level);
        pg_sys::SetUserIdAndSecContext(user, context);
    }
    result
}
