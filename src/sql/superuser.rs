//! Protects the session of a superuser against code of other roles in the relations that a statement reads.

use std::ffi::c_void;

use pgrx::pg_sys::{self, NodeTag};
use pgrx::{PgRelation, is_a, pg_guard};

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
    let mut found = pg_sys::InvalidOid;
    // SAFETY: `query` is valid by contract, and the walker gets a pointer to a local variable that outlives the walk.
    unsafe { find_untrusted_view(query.cast(), (&raw mut found).cast()) };
    match found {
        pg_sys::InvalidOid => Ok(()),
        // SAFETY: the relation is locked by the analysis.
        view => Err(Error::UntrustedView(
            unsafe { PgRelation::open(view) }.name().to_owned(),
        )),
    }
}

/// Stores the oid of the first such view in `found` and returns true, or returns false.
#[pg_guard]
unsafe extern "C-unwind" fn find_untrusted_view(
    node: *mut pg_sys::Node,
    found: *mut c_void,
) -> bool {
    if node.is_null() {
        return false;
    }
    // SAFETY: the tag says which type the node has. `found` is the pointer that `check_views` passes.
    unsafe {
        if is_a(node, NodeTag::T_Query) {
            let flags = pg_sys::QTW_EXAMINE_RTES_BEFORE as i32;
            return pg_sys::query_tree_walker(node.cast(), Some(find_untrusted_view), found, flags);
        }
        if is_a(node, NodeTag::T_RangeTblEntry) {
            let entry = node.cast::<pg_sys::RangeTblEntry>();
            let is_view = (*entry).rtekind == pg_sys::RTEKind::RTE_RELATION
                && (*entry).relkind == pg_sys::RELKIND_VIEW as std::ffi::c_char;
            if is_view && !is_trusted((*entry).relid) {
                *found.cast() = (*entry).relid;
                return true;
            }
            return false;
        }
        pg_sys::expression_tree_walker(node, Some(find_untrusted_view), found)
    }
}

/// Whether a view belongs to a superuser or to the extension.
///
/// # Safety
/// The view is locked.
unsafe fn is_trusted(view: pg_sys::Oid) -> bool {
    // SAFETY: the view is locked by contract, so its row in the cache of relations is valid while it is open.
    unsafe {
        let relation = PgRelation::open(view);
        let class = (*relation.as_ptr()).rd_rel;
        pg_sys::superuser_arg((*class).relowner)
            || (*class).relnamespace == pg_sys::get_namespace_oid(c"reground".as_ptr(), true)
    }
}
