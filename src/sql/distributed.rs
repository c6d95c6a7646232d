//! Tables that the extension Citus distributes over servers.

use std::cell::RefCell;

use pgrx::pg_sys;

use super::catalog_cache::{CatalogCache, kept};
use super::catalog_scan::{column, find_row};
use crate::error::Result;

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
