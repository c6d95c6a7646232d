//! Tables that the extension Citus distributes over servers.

use std::cell::RefCell;
use std::ffi::CStr;

use pgrx::pg_sys;

use super::catalog::{CatalogCache, column, find_row, kept};
use crate::error::Result;
use crate::session::PINNED_PATH;

/// Settings while a statement that reads shards runs. Citus writes statements for the servers as text, and parses parts of them again on this
/// server: with names as the search_path finds them, and values in the styles of the session. It plans no statement without the values of
/// its parameters. The time zone is that of the session, because texts without one are read with it.
pub const FOR_SHARDS: [(&CStr, &CStr); 6] = [
    (c"search_path", PINNED_PATH),
    (c"plan_cache_mode", c"force_custom_plan"),
    (c"DateStyle", c"ISO"),
    (c"IntervalStyle", c"postgres"),
    (c"extra_float_digits", c"1"),
    (c"bytea_output", c"hex"),
];

thread_local! {
    static DISTRIBUTED: RefCell<CatalogCache<pg_sys::Oid, bool>> = RefCell::default();
}

/// Whether this database has the extension Citus.
pub fn can_distribute() -> bool {
    distributed_tables() != pg_sys::InvalidOid
}

/// The catalog of the distributed tables, or `InvalidOid` without Citus.
fn distributed_tables() -> pg_sys::Oid {
    // SAFETY: a look-up in the catalog caches by a NUL-terminated name.
    unsafe {
        let catalogs = pg_sys::Oid::from(pg_sys::PG_CATALOG_NAMESPACE);
        pg_sys::get_relname_relid(c"pg_dist_partition".as_ptr(), catalogs)
    }
}

/// Whether the rows of a table are in shards, which Citus reads. The table itself and its indexes are empty then.
pub fn is_distributed(table: pg_sys::Oid) -> Result<bool> {
    kept(&DISTRIBUTED, table, || {
        let of_citus = distributed_tables();
        if of_citus == pg_sys::InvalidOid {
            return Ok(false);
        }
        let found = find_row(of_citus, |tuple, columns| {
            // SAFETY: a row of pg_dist_partition, whose first column is the table.
            let distributed: Option<pg_sys::Oid> = unsafe { column(tuple, columns, 1) };
            (distributed == Some(table)).then_some(())
        });
        Ok(found.is_some())
    })
}
