//! The statistics of a table that Citus distributes. Its servers cannot read each other's indexes, so each is asked about its shards.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::CString;
use std::time::{Duration, Instant};

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;
use reground_bm25::query::carried_statistics::CarriedStatistics;

use super::bm25_query::{Bm25Query, parse};
use crate::error::{Error, Result};
use crate::index::relation::OpenRelation;
use crate::sql;

/// `relkind` of a partitioned table.
const PARTITIONED: u8 = b'p';

/// How long a session takes a shard that was empty for empty, if it has no row on its first page.
const KNOWN_FOR: Duration = Duration::from_secs(60);

/// Statistics of shards, by the number of the shard.
type OfShards = BTreeMap<i64, CarriedStatistics>;

thread_local! {
    /// Shards of a table that had rows when all were asked, and when that was.
    static FILLED: RefCell<HashMap<pg_sys::Oid, (BTreeSet<i64>, Instant)>> = RefCell::default();
}

/// Statistics of all shards of a distributed table.
pub fn of_shards(query: &Bm25Query, table: &OpenRelation) -> Result<CarriedStatistics> {
    let oid = table.table();
    let of_index = IndexOfShards::of(query.relation)?;
    let query = query.clone().of_relation(oid)?;
    let mut found = OfShards::new();
    // The rows of a partitioned table are in partitions of shards, so no statement tells how many of these there are.
    if table.kind() != PARTITIONED {
        found = of_first_rows(&query, oid, &of_index)?;
    }
    if found.is_empty() || !filled(oid)?.iter().all(|shard| found.contains_key(shard)) {
        found = of_commands(&query, oid, &of_index)?;
        let filled = found.iter().filter(|(_, of)| !of.is_empty());
        let filled = filled.map(|(shard, _)| *shard).collect();
        FILLED.with_borrow_mut(|known| known.insert(oid, (filled, Instant::now())));
    }
    let mut sum: Option<CarriedStatistics> = None;
    for one in found.into_values() {
        sum = match sum {
            Some(sum) => Some(sum.and(one).ok_or(Error::PartitionsDiffer)?),
            None => Some(one),
        };
    }
    sum.ok_or_else(|| Error::NoBm25Index(table.name()))
}

/// Shards with rows, as far as this session knows them; otherwise all shards.
fn filled(table: pg_sys::Oid) -> Result<BTreeSet<i64>> {
    let known = FILLED.with_borrow(|known| known.get(&table).cloned());
    if let Some((filled, since)) = known
        && since.elapsed() < KNOWN_FOR
    {
        return Ok(filled);
    }
    let shards = sql::read_one::<Vec<i64>>(
        "SELECT array_agg(shardid) FROM pg_dist_shard WHERE logicalrelid = $1",
        &[table.into()],
    )?;
    Ok(shards.unwrap_or_default().into_iter().collect())
}

/// The index of a shard that answers a query.
enum IndexOfShards {
    /// The only one of the shard.
    Only,
    /// That of an index of the distributed table, which Citus gives the name of the index and the number of the shard.
    Named { schema: String, name: String },
}

impl IndexOfShards {
    /// The indexes of shards for a table or an index. Citus shortens long names, so a name is used only where there are several indexes.
    fn of(relation: pg_sys::Oid) -> Result<Self> {
        let names = sql::read_one::<Vec<String>>(
            "SELECT ARRAY[n.nspname, c.relname]::text[] FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace JOIN pg_index AS x ON x.indexrelid = c.oid \
             WHERE c.oid = $1 AND EXISTS (SELECT FROM pg_index AS y JOIN pg_class AS d ON d.oid = y.indexrelid \
                 WHERE y.indrelid = x.indrelid AND d.relam = c.relam AND d.oid <> c.oid)",
            &[relation.into()],
        )?;
        Ok(match names.as_deref() {
            Some([schema, name]) => Self::Named {
                schema: schema.clone(),
                name: name.clone(),
            },
            _ => Self::Only,
        })
    }

    /// Expression for the relation to ask: what is before and after the text of the name of a shard.
    fn relation(&self) -> [String; 2] {
        match self {
            Self::Only => [String::new(), "::pg_catalog.regclass".to_owned()],
            Self::Named { schema, name } => [
                format!(
                    "pg_catalog.format('%I.%I', {}, {} || '_' || {NUMBER_OF}",
                    sql::literal(schema),
                    sql::literal(name),
                ),
                format!("{NUMBER_END})::pg_catalog.regclass"),
            ],
        }
    }
}

/// Expression for the number of a shard, which ends its name: what is before and after the name.
const NUMBER_OF: &str = "pg_catalog.substring(";
const NUMBER_END: &str = ", '([0-9]+)\"?$')";

/// Statistics of the shards that have a visible row on their first page. Their servers are asked over connections that Citus keeps.
fn of_first_rows(
    query: &Bm25Query,
    table: pg_sys::Oid,
    of_index: &IndexOfShards,
) -> Result<OfShards> {
    let shard = "p.tableoid::pg_catalog.regclass::pg_catalog.text";
    let args: [DatumWithOid<'_>; 1] = [query.clone().into()];
    let name = sql::with_pinned_path(|| {
        sql::read_one::<String>("SELECT $1::regclass::text", &[table.into()])
    })?;
    let statement = format!(
        "SELECT {number}::bigint, max(reground.bm25_with_statistics($1, {})::text) FROM {} AS p WHERE p.ctid < '(1,0)'::tid GROUP BY {number}",
        of_index.relation().join(shard),
        name.unwrap_or_default(),
        number = [NUMBER_OF, NUMBER_END].join(shard),
    );
    carried(sql::read_each(&statement, &args, |row| {
        Ok((row.get(1)?, row.get(2)?))
    })?)
}

/// Statistics of all shards. Citus makes a connection for each, which takes tens of milliseconds.
fn of_commands(
    query: &Bm25Query,
    table: pg_sys::Oid,
    of_index: &IndexOfShards,
) -> Result<OfShards> {
    // Citus puts the name of the shard in the place of %L.
    let relation = of_index.relation().map(|part| part.replace('%', "%%"));
    let command = |text: &str| {
        format!(
            "SELECT reground.bm25_with_statistics({}::reground.bm25query, {})::pg_catalog.text",
            sql::literal(text).replace('%', "%%"),
            relation.join("%L::pg_catalog.text"),
        )
    };
    // The names in the text need schemas, because the servers have other search_paths.
    let answers = sql::with_pinned_path(|| {
        sql::read_each(
            "SELECT shardid, success, result FROM run_command_on_shards($1::regclass, $2)",
            &[table.into(), command(&query.to_text()?).into()],
            |row| Ok((row.get(1)?, row.get::<bool>(2)?, row.get::<String>(3)?)),
        )
    })?;
    let rows = answers
        .into_iter()
        .map(|(shard, success, result)| match success {
            Some(true) => Ok((shard, result)),
            _ => Err(Error::Shard(result.unwrap_or_default())),
        });
    carried(rows.collect::<Result<Vec<_>>>()?)
}

/// The statistics that the texts of queries carry, by shard.
fn carried(rows: Vec<(Option<i64>, Option<String>)>) -> Result<OfShards> {
    let each = rows.into_iter().map(|(shard, text)| {
        let text = text.unwrap_or_default();
        let unreadable = || Error::QueryForm(text.clone());
        let query = parse(&CString::new(text.as_str()).map_err(|_| unreadable())?)?;
        let statistics = query.statistics.ok_or_else(unreadable)?;
        Ok((shard.unwrap_or_default(), statistics))
    });
    each.collect()
}
