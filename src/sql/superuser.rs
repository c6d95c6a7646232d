//! Protects the session of a superuser against code of other roles in the relations that a statement reads.

use pgrx::PgRelation;
use pgrx::pg_sys;

use super::query_tree::find_relation;
use crate::error::{Error, Result};

/// Whether functions that run with the rights of the caller can get those of a superuser: the caller is one, or a superuser opened
/// this session and has changed to another role since, which any function can undo with RESET ROLE or RESET SESSION AUTHORIZATION, but
/// not in a security-restricted operation.
pub fn is_session_of_superuser() -> bool {
    // SAFETY: plain calls into the backend. The roles of a session are set before its first statement.
    unsafe {
        if pg_sys::InSecurityRestrictedOperation() {
            return pg_sys::superuser();
        }
        pg_sys::superuser()
            || pg_sys::superuser_arg(pg_sys::GetSessionUserId())
            || pg_sys::superuser_arg(pg_sys::GetAuthenticatedUserId())
    }
}

/// Returns the error for an analysed statement that reads a view of a role that is not a superuser, in the session of a superuser.
/// A corpus is checked before its statements, but an owner can rename schemas between the check and the analysis.
///
/// # Safety
/// `query` is a valid analysed query, and its relations are locked.
pub unsafe fn check_views(query: *mut pg_sys::Query) -> Result<()> {
    if !is_session_of_superuser() {
        return Ok(());
    }
    // SAFETY: by contract.
    let untrusted = unsafe {
        find_relation(query, |relation| {
            Ok(relation.is_view && !is_trusted(relation.oid))
        })
    }?;
    match untrusted {
        None => Ok(()),
        // SAFETY: the relation is locked by the analysis.
        Some(view) => Err(Error::UntrustedView(
            unsafe { PgRelation::open(view) }.name().to_owned(),
        )),
    }
}

/// Whether a view, which is locked, belongs to a superuser or to the extension.
fn is_trusted(view: pg_sys::Oid) -> bool {
    // SAFETY: the view is locked, so its row in the cache of relations is valid while it is open.
    unsafe {
        let relation = PgRelation::open(view);
        let class = (*relation.as_ptr()).rd_rel;
        pg_sys::superuser_arg((*class).relowner)
            || (*class).relnamespace == pg_sys::get_namespace_oid(c"reground".as_ptr(), true)
    }
}
