//! Cost and selectivity estimates for the planner.

use std::ffi::c_void;

use pgrx::pg_sys;
use pgrx::prelude::*;
use pgrx::{FromDatum, Internal, IntoDatum};
use reground_bm25::index::score::DEFAULT_SELECTIVITY;
use reground_bm25::index::search::ranked_search::{FULL_SELECTIVITY, STARTUP_COST_SHARE};

use crate::index::index_lookup::indexes;
use crate::index::query::{Bm25Query, check_readable, note_limit, weighted_query};
use crate::index::storage::built_settings;

/// Estimates the cost of a path. A path is impossible if it has no condition and no order, orders by two queries, or has a query for another
/// index on the same column.
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
    // SAFETY: the planner passes its own structures, and pointers for the results.
    unsafe {
        let orders = (*path).indexorderbys;
        let several = !orders.is_null() && (*orders).length > 1;
        let nothing = (*path).indexclauses.is_null() && orders.is_null();
        let index = (*(*path).indexinfo).indexoid;
        let queries: Vec<Bm25Query> = known_queries(root, path).collect();
        if several || nothing || queries.iter().any(|query| asks_other_index(query, index)) {
            *startup = f64::INFINITY;
            *total = f64::INFINITY;
            // Since 18 the plan with fewer disabled nodes wins, regardless of cost.
            #[cfg(feature = "pg18")]
            {
                (*path).path.disabled_nodes = std::ffi::c_int::from(i16::MAX);
            }
            // A lower value would make a bitmap scan possible, which keeps neither the infinite cost nor the disabled nodes.
            *selectivity = FULL_SELECTIVITY;
            *correlation = Default::default();
            *pages = Default::default();
            return;
        }
        if let Some(ordering) = queries.first() {
            // Negative without a LIMIT.
            let rows = Some((*root).limit_tuples).filter(|rows| rows.is_sign_positive());
            note_limit(index, ordering, rows);
        }
        let mut costs = pg_sys::GenericCosts::default();
        pg_sys::genericcostestimate(root, path, loop_count, &mut costs);
        *startup = costs.indexTotalCost * STARTUP_COST_SHARE;
        *total = costs.indexTotalCost;
        *selectivity = costs.indexSelectivity;
        // Rows come by score, not by physical position.
        *correlation = Default::default();
        *pages = costs.numIndexPages;
    }
}

/// Returns whether a query is answered by other indexes than `index`.
fn asks_other_index(query: &Bm25Query, index: pg_sys::Oid) -> bool {
    if let Some(statistics) = &query.statistics {
        let settings = built_settings(index).ok().flatten();
        return settings.is_some_and(|settings| !statistics.fit(&settings));
    }
    // Do not look up indexes of tables that the user may not read. The query itself raises the error.
    check_readable(query.relation).is_ok()
        && indexes(query.relation).is_ok_and(|answering| !answering.contains(&index))
}

/// Returns the queries of a path that are known at planning time, those that order its rows first.
///
/// # Safety
/// The arguments are structures of the planner that outlive the iterator.
unsafe fn known_queries(
    root: *mut pg_sys::PlannerInfo,
    path: *mut pg_sys::IndexPath,
) -> impl Iterator<Item = Bm25Query> {
    // SAFETY: as the caller promises; orders are operator expressions, and each clause contains one.
    unsafe {
        let orders = nodes((*path).indexorderbys);
        let clauses = nodes((*path).indexclauses).map(|clause| {
            let clause = clause.cast::<pg_sys::IndexClause>();
            (*(*clause).rinfo).clause.cast::<pg_sys::Node>()
        });
        let expressions = orders.chain(clauses);
        expressions.filter_map(move |expression| right_operand(root, expression))
    }
}

/// Estimates the share of rows that match `@@@`, from the statistics of the index. PostgreSQL's own estimators would tokenize
/// about a hundred texts for each plan.
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
    // SAFETY: the planner passes itself and the operands, a list of expressions.
    let query = unsafe {
        let mut operands = nodes(operands.cast());
        operands.find_map(|operand| known_query(root.cast(), operand))
    };
    // A missing privilege or index is an error of the query, not of the planner.
    let weighted = query.and_then(|query| weighted_query(&query).ok());
    weighted.map_or(DEFAULT_SELECTIVITY, |weighted| weighted.selectivity())
}

/// Returns the query on the right side of an operator, if it is known at planning time.
///
/// # Safety
/// `expression` is an expression of the planner.
unsafe fn right_operand(
    root: *mut pg_sys::PlannerInfo,
    expression: *mut pg_sys::Node,
) -> Option<Bm25Query> {
    // SAFETY: as the caller promises; a node's tag tells its kind.
    unsafe {
        if (*expression).type_ != pg_sys::NodeTag::T_OpExpr {
            return None;
        }
        let operands = (*expression.cast::<pg_sys::OpExpr>()).args;
        known_query(root, nodes(operands).nth(1)?)
    }
}

/// Returns the value of an expression, if it is a query and known at planning time.
///
/// # Safety
/// `expression` is an expression of the planner.
unsafe fn known_query(
    root: *mut pg_sys::PlannerInfo,
    expression: *mut pg_sys::Node,
) -> Option<Bm25Query> {
    // SAFETY: as the caller promises. The value lives in the planner's memory, and its type is checked first.
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

/// Returns the nodes of a list.
///
/// # Safety
/// `list` is null or a list of pointers to nodes that outlives the iterator.
unsafe fn nodes(list: *mut pg_sys::List) -> impl Iterator<Item = *mut pg_sys::Node> {
    // SAFETY: as the caller promises; `length` is the number of cells of the list.
    let cells = match unsafe { list.as_ref() } {
        Some(list) => unsafe { std::slice::from_raw_parts(list.elements, list.length as usize) },
        None => &[],
    };
    // SAFETY: the cells of a list of nodes hold pointers.
    cells.iter().map(|cell| unsafe { cell.ptr_value }.cast())
}
