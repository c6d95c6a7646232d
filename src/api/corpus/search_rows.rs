//! The planner's estimate of the number of rows of `search`: `max_results`, if its value is known.

use pgrx::pg_sys::{self, NodeTag};
use pgrx::prelude::*;
use pgrx::{FromDatum, Internal, is_a};
use reground_bm25::index::score::row_count;

/// Position of the argument `max_results`, from 0.
const MAX_RESULTS: usize = 3;

/// The support function of `search`. It returns the request that it has answered, or a null pointer, which is not NULL.
#[pg_extern(sql = false)]
fn search_rows(request: Internal) -> Internal {
    let datum = request.unwrap().unwrap_or(pg_sys::Datum::null());
    let node = datum.cast_mut_ptr::<pg_sys::Node>();
    // SAFETY: the planner passes a request node; its tag tells its kind.
    let rows = unsafe {
        match !node.is_null() && is_a(node, NodeTag::T_SupportRequestRows) {
            true => most_rows(node.cast()),
            false => None,
        }
    };
    Internal::from(Some(rows.map_or(pg_sys::Datum::null(), |_| datum)))
}

/// Writes the value of `max_results` into a request; `None` if it is unknown.
///
/// # Safety
/// The request is valid.
unsafe fn most_rows(request: *mut pg_sys::SupportRequestRows) -> Option<f64> {
    // SAFETY: as the caller promises. A call has the declared arguments once the planner has added the defaults. The value lives in the
    // planner's memory.
    unsafe {
        let call = (*request).node;
        if call.is_null() || !is_a(call, NodeTag::T_FuncExpr) {
            return None;
        }
        let arguments = (*call.cast::<pg_sys::FuncExpr>()).args.as_ref()?;
        let count = usize::try_from(arguments.length).ok()?;
        let arguments = std::slice::from_raw_parts(arguments.elements, count);
        let argument = arguments.get(MAX_RESULTS)?.ptr_value;
        let value = pg_sys::estimate_expression_value((*request).root, argument.cast());
        if value.is_null() || !is_a(value, NodeTag::T_Const) {
            return None;
        }
        let value = &*value.cast::<pg_sys::Const>();
        if value.consttype != pg_sys::INT4OID {
            return None;
        }
        let most = i32::from_datum(value.constvalue, value.constisnull)?;
        (*request).rows = row_count(u64::try_from(most).unwrap_or_default());
        Some((*request).rows)
    }
}
