//! Queries that carry their statistics. The servers of a distributed table cannot read each other's indexes, so its statistics are read
//! once, from all shards, and the query takes them along.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::CString;
use std::time::{Duration, Instant};

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::{pg_extern, pg_sys};
use reground_bm25::query::carried_statistics::CarriedStatistics;

use super::bm25_query::{Bm25Query, parse};
use super::weighted_query::{check_readable, hides_rows, weighted_query};
use crate::error::{Error, Result};
use crate::index::relation::OpenRelation;
use crate::sql::{self, is_distributed};

/// How long a session takes a shard that was empty for empty, if it has no row on its first page.
const KNOWN_FOR: Duration = Duration::from_secs(60);

thread_local! {
    /// How many shards of a table had rows when all were asked, and when that was.
    static FILLED: RefCell<HashMap<pg_sys::Oid, (usize, Instant)>> = RefCell::default();
}

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
    if query.statistics.is_none() && hides_rows(query.relation)? {
        return Err(Error::HiddenStatistics.into());
    }
    Ok(Some(with_statistics(query)?))
}

/// Returns a query with the statistics of all indexes that answer it.
///
/// # Errors
/// As for [`weighted_query`], and what reading a shard raises.
pub fn with_statistics(query: Bm25Query) -> Result<Bm25Query> {
    if query.statistics.is_some() {
        return Ok(query);
    }
    check_readable(query.relation)?;
    let table = OpenRelation::open(query.relation).map(|open| open.table());
    let statistics = match table {
        Some(table) if is_distributed(table)? => of_shards(&query, table)?,
        _ => weighted_query(&query)?.to_carry(),
    };
    Ok(query.with_statistics(statistics))
}

/// Statistics of all shards of a distributed table.
fn of_shards(query: &Bm25Query, table: pg_sys::Oid) -> Result<CarriedStatistics> {
    // The shards of an index have names of their own.
    let query = query.clone().of_relation(table)?;
    let name = sql::with_pinned_path(|| {
        sql::read_one::<String>("SELECT $1::regclass::text", &[table.into()])
    })?;
    let name = name.unwrap_or_default();
    let mut found = of_first_rows(&query, &name)?;
    if found.len() < filled(table)? {
        found = of_commands(&query, table)?;
        let filled = found.iter().filter(|shard| !shard.is_empty()).count();
        FILLED.with_borrow_mut(|known| known.insert(table, (filled, Instant::now())));
    }
    let mut sum: Option<CarriedStatistics> = None;
    for one in found {
        sum = match sum {
            Some(sum) => Some(sum.and(one).ok_or(Error::PartitionsDiffer)?),
            None => Some(one),
        };
    }
    sum.ok_or(Error::NoBm25Index(name))
}

/// Number of shards with rows, as far as this session knows it; otherwise of all shards.
fn filled(table: pg_sys::Oid) -> Result<usize> {
    let known = FILLED.with_borrow(|known| known.get(&table).copied());
    if let Some((filled, since)) = known
        && since.elapsed() < KNOWN_FOR
    {
        return Ok(filled);
    }
    let shards = sql::read_one::<i64>(
        "SELECT count(*) FROM pg_dist_shard WHERE logicalrelid = $1",
        &[table.into()],
    )?;
    Ok(usize::try_from(shards.unwrap_or_default()).unwrap_or(usize::MAX))
}

/// Statistics of the shards that have a visible row on their first page. Their servers are asked over connections that Citus keeps.
fn of_first_rows(query: &Bm25Query, table: &str) -> Result<Vec<CarriedStatistics>> {
    let statement = format!(
        "SELECT max(reground.bm25_with_statistics($1, p.tableoid::regclass)::text) FROM {table} AS p WHERE p.ctid < '(1,0)'::tid GROUP BY p.tableoid::regclass::text"
    );
    let args: [DatumWithOid<'_>; 1] = [query.clone().into()];
    let texts = sql::read_each(&statement, &args, |row| row.get::<String>(1))?;
    carried(texts.into_iter().flatten())
}

/// Statistics of all shards. Citus makes a connection for each, which takes some ten milliseconds.
fn of_commands(query: &Bm25Query, table: pg_sys::Oid) -> Result<Vec<CarriedStatistics>> {
    let text = sql::with_pinned_path(|| query.to_text())?;
    let command = format!(
        "SELECT reground.bm25_with_statistics({}::reground.bm25query, %L::pg_catalog.regclass)::pg_catalog.text",
        sql::literal(&text).replace('%', "%%")
    );
    let answers = sql::read_each(
        "SELECT success, result FROM run_command_on_shards($1::regclass, $2)",
        &[table.into(), command.into()],
        |row| Ok((row.get::<bool>(1)?, row.get::<String>(2)?)),
    )?;
    let texts = answers.into_iter().map(|(success, result)| {
        let result = result.unwrap_or_default();
        match success {
            Some(true) => Ok(result),
            _ => Err(Error::Shard(result)),
        }
    });
    carried(texts.collect::<Result<Vec<_>>>()?)
}

/// The statistics that the texts of queries carry.
fn carried(texts: impl IntoIterator<Item = String>) -> Result<Vec<CarriedStatistics>> {
    let each = texts.into_iter().map(|text| {
        let unreadable = || Error::QueryForm(text.clone());
        let query = parse(&CString::new(text.as_str()).map_err(|_| unreadable())?)?;
        query.statistics.ok_or_else(unreadable)
    });
    each.collect()
}
