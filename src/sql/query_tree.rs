//! The relations that an analysed query reads.

use std::ffi::c_void;

use pgrx::pg_sys::{self, NodeTag};
use pgrx::{is_a, pg_guard};

use crate::error::Result;

/// A relation of a range table.
#[derive(Debug, Clone, Copy)]
pub struct Relation {
    pub oid: pg_sys::Oid,
    pub is_view: bool,
}

/// A search for a relation, and the first that was found.
struct Walk {
    matches: fn(Relation) -> Result<bool>,
    found: Result<Option<pg_sys::Oid>>,
}

/// Returns the first relation that matches. The relations of views are not searched.
///
/// # Safety
/// `query` is a valid analysed query, and its relations are locked.
pub unsafe fn find_relation(
    query: *mut pg_sys::Query,
    matches: fn(Relation) -> Result<bool>,
) -> Result<Option<pg_sys::Oid>> {
    let mut walk = Walk {
        matches,
        found: Ok(None),
    };
    // SAFETY: `query` is valid by contract, and the walker gets a pointer to a local variable that outlives the walk. An EXPLAIN contains
    // the analysed query that it explains, which the walker of PostgreSQL leaves out.
    unsafe {
        let utility = (*query).utilityStmt;
        let node = match !utility.is_null() && is_a(utility, NodeTag::T_ExplainStmt) {
            true => (*utility.cast::<pg_sys::ExplainStmt>()).query,
            false => query.cast(),
        };
        visit(node, (&raw mut walk).cast());
    }
    walk.found
}

/// Visits a node and those below it. Returns true at the first relation that matches.
#[pg_guard]
unsafe extern "C-unwind" fn visit(node: *mut pg_sys::Node, walk: *mut c_void) -> bool {
    if node.is_null() {
        return false;
    }
    // SAFETY: the tag says which type the node has. `walk` is the pointer that `find_relation` passes.
    unsafe {
        if is_a(node, NodeTag::T_Query) {
            let flags = pg_sys::QTW_EXAMINE_RTES_BEFORE as i32;
            return pg_sys::query_tree_walker(node.cast(), Some(visit), walk, flags);
        }
        if is_a(node, NodeTag::T_RangeTblEntry) {
            let entry = node.cast::<pg_sys::RangeTblEntry>();
            if (*entry).rtekind != pg_sys::RTEKind::RTE_RELATION {
                return false;
            }
            let relation = Relation {
                oid: (*entry).relid,
                is_view: (*entry).relkind == pg_sys::RELKIND_VIEW as std::ffi::c_char,
            };
            let walk = &mut *walk.cast::<Walk>();
            let matches = (walk.matches)(relation);
            walk.found = matches.map(|matches| matches.then_some(relation.oid));
            return !matches!(walk.found, Ok(None));
        }
        pg_sys::expression_tree_walker(node, Some(visit), walk)
    }
}
