//! Names in statements of the extension are resolved in `pg_catalog`, independently of the search_path of the caller.
//!
//! PostgreSQL prefers an operator or function whose argument types match exactly, at any position of the search_path. A
//! statement that runs as the caller could therefore pick up an operator from a schema of the caller, although `pg_catalog` comes
//! first. To prevent this, every statement of the extension is analysed under a fixed search_path. It is planned and executed under the
//! caller's own, because policies, views and triggers of the application may depend on that. Only a statement that reads or writes a
//! distributed table is executed under other settings (see [`super::distributed`]).
//!
//! PostgreSQL analyses a prepared statement again after each change of the search_path or of an object in it. So the fixed
//! search_path is set by the statement's parser hook, which runs at the beginning of each analysis, and is reset at its end by
//! `post_parse_analyze_hook`.

use std::ffi::c_int;

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::{PgLogLevel, pg_guard, pg_sys};

use super::caller;
use super::superuser::check_views;
use crate::session::{PINNED_PATH, set_local};

/// The types of a statement's parameters. A prepared statement keeps a pointer to it.
pub type ParameterTypes = Vec<pg_sys::Oid>;

/// State of one analysis, reachable from its `ParseState`.
struct Analysis {
    types: *const ParameterTypes,
    /// Nest level of the fixed search_path.
    level: c_int,
}

static mut PREVIOUS_HOOK: pg_sys::post_parse_analyze_hook_type = None;

/// Installs the hook that ends the fixed search_path. Called once, when the library is loaded.
pub fn define() {
    // SAFETY: a backend has one thread, and _PG_init runs before any statement of ours.
    unsafe {
        PREVIOUS_HOOK = pg_sys::post_parse_analyze_hook;
        pg_sys::post_parse_analyze_hook = Some(end_analysis);
    }
}

/// The parser hook of our statements: fixes the search_path and declares the parameters.
///
/// # Safety
/// PostgreSQL calls it with a new `ParseState` and the pointer that was given to `SPI_prepare_params`, which must point to
/// [`ParameterTypes`] that live as long as the plan.
#[pg_guard]
pub unsafe extern "C-unwind" fn begin_analysis(
    state: *mut pg_sys::ParseState,
    types: *mut std::ffi::c_void,
) {
    // SAFETY: `state` is valid by contract. The allocation is in the memory context of the analysis, as the state itself is. The
    // nest level is closed by `end_analysis`, and on an error by the abort of the (sub)transaction.
    unsafe {
        let analysis = pg_sys::palloc(size_of::<Analysis>()).cast::<Analysis>();
        analysis.write(Analysis {
            types: types.cast(),
            level: pg_sys::NewGUCNestLevel(),
        });
        (*state).p_ref_hook_state = analysis.cast();
        (*state).p_paramref_hook = Some(parameter);
    }
    set_local(c"search_path", PINNED_PATH);
}

/// Ends the fixed search_path when an analysis is one of ours, and checks the views that the statement reads.
#[pg_guard]
unsafe extern "C-unwind" fn end_analysis(
    state: *mut pg_sys::ParseState,
    query: *mut pg_sys::Query,
    jumble: *mut pg_sys::JumbleState,
) {
    // SAFETY: PostgreSQL passes the state of the analysis that ends. Where its parameter hook is ours, `begin_analysis` has set
    // p_ref_hook_state to an Analysis.
    unsafe {
        let hook = (*state).p_paramref_hook.map(|hook| hook as usize);
        if hook == Some(parameter as *const () as usize) {
            let analysis = (*state).p_ref_hook_state.cast::<Analysis>();
            pg_sys::AtEOXact_GUC(false, (*analysis).level);
            if let Err(error) = check_views(query) {
                ErrorReport::from(error).report(PgLogLevel::ERROR);
            }
        }
        if let Some(previous) = PREVIOUS_HOOK {
            previous(state, query, jumble);
        }
    }
}

/// Resolves `$n` to a parameter of the declared type, as PostgreSQL's own hook for fixed parameters does, or to a parameter of the
/// caller.
#[pg_guard]
unsafe extern "C-unwind" fn parameter(
    state: *mut pg_sys::ParseState,
    reference: *mut pg_sys::ParamRef,
) -> *mut pg_sys::Node {
    // SAFETY: the parser calls this hook with the state that `begin_analysis` prepared and a reference of that statement; the types
    // live as long as the plan. The node is a palloc'ed Param with its tag set, as makeNode would return it.
    unsafe {
        let analysis = (*state).p_ref_hook_state.cast::<Analysis>();
        let types = &*(*analysis).types;
        let number = (*reference).number;
        let index = usize::try_from(number).unwrap_or_default();
        let argument = || {
            let kind = index.checked_sub(1).and_then(|index| types.get(index));
            kind.map(|&kind| (number, kind))
        };
        let of_caller = || {
            let (position, kind) = caller::parameter(number)?;
            Some((c_int::try_from(types.len() + position + 1).ok()?, kind))
        };
        let Some((id, kind)) = argument().or_else(of_caller) else {
            // The parser then raises 42P02 (there is no parameter $n).
            return std::ptr::null_mut();
        };
        let node = pg_sys::palloc0(size_of::<pg_sys::Param>()).cast::<pg_sys::Param>();
        (*node).xpr.type_ = pg_sys::NodeTag::T_Param;
        (*node).paramkind = pg_sys::ParamKind::PARAM_EXTERN;
        (*node).paramid = id;
        (*node).paramtype = kind;
        (*node).paramtypmod = -1;
        (*node).paramcollid = pg_sys::get_typcollation(kind);
        (*node).location = (*reference).location;
        node.cast()
    }
}
