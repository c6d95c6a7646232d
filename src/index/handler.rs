//! The handler function of the access method.

use pgrx::prelude::*;
use pgrx::{PgBox, pg_sys};

use super::content::HASH_FUNCTION;
use super::{build, cost, insert, options, scan, vacuum};

#[pg_extern(sql = false)]
fn bm25_handler(_internal: pg_sys::FunctionCallInfo) -> PgBox<pg_sys::IndexAmRoutine> {
    // SAFETY: alloc_node returns a zeroed node of this type.
    let mut routine =
        unsafe { PgBox::<pg_sys::IndexAmRoutine>::alloc_node(pg_sys::NodeTag::T_IndexAmRoutine) };
    routine.amstrategies = scan::STRATEGIES;
    routine.amsupport = HASH_FUNCTION;
    routine.amcanmulticol = true;
    routine.amcanorderbyop = true;
    // The index also serves ORDER BY without a condition.
    routine.amoptionalkey = true;
    routine.amusemaintenanceworkmem = true;
    #[cfg(any(feature = "pg17", feature = "pg18"))]
    {
        routine.amcanbuildparallel = true;
    }
    routine.amkeytype = pg_sys::InvalidOid;
    routine.ambuild = Some(build::build);
    routine.ambuildempty = Some(build::build_empty);
    routine.aminsert = Some(insert::insert);
    routine.ambulkdelete = Some(vacuum::remove);
    routine.amvacuumcleanup = Some(vacuum::cleanup);
    routine.amcostestimate = Some(cost::estimate);
    routine.amoptions = Some(options::amoptions);
    routine.ambuildphasename = Some(build::phase);
    routine.amvalidate = Some(validate);
    routine.ambeginscan = Some(scan::begin);
    routine.amrescan = Some(scan::restart);
    routine.amgettuple = Some(scan::next);
    routine.amgetbitmap = Some(scan::bitmap);
    routine.amendscan = Some(scan::end);
    routine.into_pg_boxed()
}

/// Nothing to validate: the operator classes are ours, and CREATE INDEX checks which of them fit together.
#[pg_guard]
unsafe extern "C-unwind" fn validate(_class: pg_sys::Oid) -> bool {
    true
}
