//! What a scan costs, as the planner counts.

use std::ffi::c_void;

use pgrx::pg_sys;
use pgrx::prelude::*;
use pgrx::{FromDatum, Internal, IntoDatum};
use reground_bm25::index::score::DEFAULT_SELECTIVITY;
use reground_bm25::index::search::ranked_search::{FULL_SELECTIVITY, STARTUP_COST_SHARE};

use crate::index::index_lookup::indexes;
use crate::index::query::Bm25Query;
use crate::index::query::{check_readable, weighted_query};

/// Estimates a path. One without a query cannot be scanned at all, nor one that orders by two, nor one whose query names
/// another index of the same column.
#[pg_guard]
#[expect(clippy::too_many_arguments, reason = "PostgreSQL's signature")]
pub unsafe extern "C-unwind" fn estimate(
    root: *mut pg_sys::PlannerInfo,
    path: *mut pg_sys::IndexPath,
    loop_count: f64,
    startup: *mut pg_sys::Cost,
    total: *mut pg_sys::Cost,
    selectivity: *mut pg_sys::Selectivity,
    correlation: *mut f64,
    pages: *mut f64,
) {
    // SAFETY: the planner hands us its own structures and places for the results.
    unsafe {
        let orders = (*path).indexorderbys;
        let several = !orders.is_null() && (*orders).length > 1;
        let nothing = (*path).indexclauses.is_null() && orders.is_null();
        if several || nothing || queries_other_index(root, path) {
            *startup = f64::INFINITY;
            *total = f64::INFINITY;
            // From 18 on a plan with fewer disabled nodes wins, whatever it costs.
            #[cfg(feature = "pg18")]
            {
                (*path).path.disabled_nodes = std::ffi::c_int::from(i16::MAX);
            }
            // Less would let it be taken for a bitmap, which carries neither of these over.
            *selectivity = FULL_SELECTIVITY;
            *correlation = Default::default();
            *pages = Default::default();
            return;
        }
        let mut costs = pg_sys::GenericCosts::default();
        pg_sys::genericcostestimate(root, path, loop_count, &mut costs);
        *startup = costs.indexTotalCost * STARTUP_COST_SHARE;
        *total = costs.indexTotalCost;
        *selectivity = costs.indexSelectivity;
        // Rows come by score, not by place.
        *correlation = Default::default();
        *pages = costs.numIndexPages;
    }
}

/// Whether a query of the path is known now, and is answered by other indexes.
///
/// # Safety
/// The planner's own structures.
unsafe fn queries_other_index(
    root: *mut pg_sys::PlannerInfo,
    path: *mut pg_sys::IndexPath,
) -> bool {
    // SAFETY: as the caller promises: orders are operator expressions, clauses each have one.
    unsafe {
        let index = (*(*path).indexinfo).indexoid;
        let orders = nodes((*path).indexorderbys);
        let clauses = nodes((*path).indexclauses).map(|clause| {
            let clause = clause.cast::<pg_sys::IndexClause>();
            (*(*clause).rinfo).clause.cast::<pg_sys::Node>()
        });
        let mut expressions = orders.chain(clauses);
        expressions.any(|expression| {
            let query = query(root, expression);
            // Of what the asker may not read nothing is looked at; the query itself says so.
            let query = query.filter(|query| check_readable(query.source).is_ok());
            let answering = query.and_then(|query| indexes(query.source).ok());
            answering.is_some_and(|answering| !answering.contains(&index))
        })
    }
}

/// The part of the rows that `@@@` is true of, by the figures of the index that answers: PostgreSQL's own estimators would
/// cut a hundred texts into words for each plan.
#[pg_extern(sql = false)]
fn bm25_selectivity(
    root: Internal,
    _operator: pg_sys::Oid,
    operands: Internal,
    _relation: i32,
) -> f64 {
    let pointer = |value: Internal| value.unwrap().map(|datum| datum.cast_mut_ptr::<c_void>());
    let (Some(root), Some(operands)) = (pointer(root), pointer(operands)) else {
        return DEFAULT_SELECTIVITY;
    };
    // SAFETY: the planner hands an estimator itself and the operands, a list of expressions.
    let query = unsafe {
        let mut operands = nodes(operands.cast());
        operands.find_map(|operand| known(root.cast(), operand))
    };
    // What the asker may not read, or no index answers, is an error of the query, not of its plan.
    let weighted = query.and_then(|query| weighted_query(&query).ok());
    weighted.map_or(DEFAULT_SELECTIVITY, |weighted| {
        weighted.statistics.selectivity(&weighted.weights)
    })
}

/// The query on the right of an operator, where the planner can tell it.
///
/// # Safety
/// An expression of the planner's.
unsafe fn query(
    root: *mut pg_sys::PlannerInfo,
    expression: *mut pg_sys::Node,
) -> Option<Bm25Query> {
    // SAFETY: as the caller promises; a node's tag says what it is.
    unsafe {
        if (*expression).type_ != pg_sys::NodeTag::T_OpExpr {
            return None;
        }
        let operands = (*expression.cast::<pg_sys::OpExpr>()).args;
        known(root, nodes(operands).nth(1)?)
    }
}

/// The value of an expression, where the planner can tell it and it is a query.
///
/// # Safety
/// An expression of the planner's.
unsafe fn known(
    root: *mut pg_sys::PlannerInfo,
    expression: *mut pg_sys::Node,
) -> Option<Bm25Query> {
    // SAFETY: as the caller promises. What is computed lives in the planner's memory, and its type is looked at.
    unsafe {
        if pg_sys::exprType(expression) != Bm25Query::type_oid() {
            return None;
        }
        let value = pg_sys::estimate_expression_value(root, expression);
        if value.is_null() || (*value).type_ != pg_sys::NodeTag::T_Const {
            return None;
        }
        let value = &*value.cast::<pg_sys::Const>();
        Bm25Query::from_datum(value.constvalue, value.constisnull)
    }
}

/// The nodes of a list.
///
/// # Safety
/// A list of pointers to nodes, or null, that outlives the iterator.
unsafe fn nodes(list: *mut pg_sys::List) -> impl Iterator<Item = *mut pg_sys::Node> {
    // SAFETY: as the caller promises; a list has as many cells as it says.
    let cells = match unsafe { list.as_ref() } {
        Some(list) => unsafe { std::slice::from_raw_parts(list.elements, list.length as usize) },
        None => &[],
    };
    // SAFETY: cells of such a list hold pointers.
    cells.iter().map(|cell| unsafe { cell.ptr_value }.cast())
}
