//! Queries that carry their statistics.

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::{pg_extern, pg_sys};

use super::bm25_query::Bm25Query;
use super::shards::of_shards;
use super::weighted_query::{check_readable, hides_rows, weighted_query};
use crate::error::{Error, Result};
use crate::index::relation::OpenRelation;
use crate::index::storage::built_settings;
use crate::sql::is_distributed;

#[pg_extern(sql = false)]
fn bm25_with_statistics(
    query: Option<Bm25Query>,
    relation: Option<pg_sys::Oid>,
) -> std::result::Result<Option<Bm25Query>, ErrorReport> {
    let Some(mut query) = query else {
        return Ok(None);
    };
    if let Some(relation) = relation {
        query = query.of_relation(relation)?;
    }
    Ok(Some(with_statistics(query)?))
}

/// Returns a query with the statistics of all indexes that answer it.
///
/// # Errors
/// 42501 if row-level security hides rows, which the statistics count. As for [`weighted_query`], and what reading a shard raises.
pub fn with_statistics(query: Bm25Query) -> Result<Bm25Query> {
    if query.statistics.is_some() {
        return Ok(query);
    }
    check_readable(query.relation)?;
    if hides_rows(query.relation)? {
        return Err(Error::HiddenStatistics);
    }
    let table = OpenRelation::open(query.relation).map(|open| open.table());
    let statistics = match table.and_then(OpenRelation::open) {
        Some(table) if is_distributed(table.table())? => of_shards(&query, &table)?,
        _ => {
            let weighted = weighted_query(&query)?;
            let settings = built_settings(query.relation)?.ok_or(Error::PartitionsDiffer)?;
            weighted.to_carry(&settings)
        }
    };
    Ok(query.with_statistics(statistics))
}
