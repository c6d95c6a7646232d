//! What a scan costs, as the planner counts.

use pgrx::pg_sys;
use pgrx::prelude::*;
use reground_bm25::index::search::BEFORE_FIRST;

/// Estimates a path. One without a query cannot be scanned at all, nor one that orders by two.
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
        if several || ((*path).indexclauses.is_null() && orders.is_null()) {
            *startup = f64::INFINITY;
            *total = f64::INFINITY;
            // From 18 on a plan with fewer disabled nodes wins, whatever it costs.
            #[cfg(feature = "pg18")]
            {
                (*path).path.disabled_nodes = std::ffi::c_int::from(i16::MAX);
            }
            *selectivity = Default::default();
            *correlation = Default::default();
            *pages = Default::default();
            return;
        }
        let mut costs = pg_sys::GenericCosts::default();
        pg_sys::genericcostestimate(root, path, loop_count, &mut costs);
        *startup = costs.indexTotalCost * BEFORE_FIRST;
        *total = costs.indexTotalCost;
        *selectivity = costs.indexSelectivity;
        // Rows come by score, not by place.
        *correlation = Default::default();
        *pages = costs.numIndexPages;
    }
}
