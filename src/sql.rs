//! The funnel through which every statement of the glue goes.
//!
//! Structured rows travel as JSON text (json, not jsonb: nothing is sorted or built on the way): what a statement returns is
//! read straight into the pure crates' types, and what they return is written with `json_to_recordset`, so no column list is
//! kept twice.

use pgrx::datum::DatumWithOid;
use pgrx::spi::{Spi, SpiHeapTupleData};
use pgrx::{FromDatum, IntoDatum};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Result;
use crate::plans::prepared;
use crate::session::{PLAIN_TEXT, with_settings};

/// Arguments of a statement.
pub type Args<'a> = [DatumWithOid<'a>];

/// Runs a statement that writes; returns the number of rows that it touched.
pub fn run(statement: &str, args: &Args<'_>) -> Result<usize> {
    Spi::connect_mut(|client| {
        let plan = prepared(client, statement, args)?;
        Ok(client.update(&*plan, None, args)?.len())
    })
}

/// The first column of the first row of a statement that writes or must see what this call wrote.
pub fn write_one<T: FromDatum + IntoDatum>(statement: &str, args: &Args<'_>) -> Result<Option<T>> {
    if on_standby() {
        return read_one(statement, args);
    }
    Spi::connect_mut(|client| {
        let plan = prepared(client, statement, args)?;
        let table = client.update(&*plan, Some(1), args)?;
        if table.is_empty() {
            return Ok(None);
        }
        Ok(table.first().get_one::<T>()?)
    })
}

/// Whether nothing can be written, so that there is nothing of this call to be seen: no transaction has an id there.
fn on_standby() -> bool {
    // SAFETY: a plain call into the backend.
    unsafe { pgrx::pg_sys::RecoveryInProgress() }
}

/// The first column of the first row of a statement that only reads.
pub fn read_one<T: FromDatum + IntoDatum>(statement: &str, args: &Args<'_>) -> Result<Option<T>> {
    Spi::connect(|client| {
        let plan = prepared(client, statement, args)?;
        let table = client.select(&*plan, Some(1), args)?;
        if table.is_empty() {
            return Ok(None);
        }
        Ok(table.first().get_one::<T>()?)
    })
}

/// Reads one JSON value (as text) into a type; `None` where the statement gives no row or NULL.
pub fn read_json<T: DeserializeOwned>(statement: &str, args: &Args<'_>) -> Result<Option<T>> {
    match read_one::<String>(statement, args)? {
        Some(text) => Ok(Some(serde_json::from_str(&text)?)),
        None => Ok(None),
    }
}

/// As [`read_json`], for a statement that locks or writes.
pub fn write_json<T: DeserializeOwned>(statement: &str, args: &Args<'_>) -> Result<Option<T>> {
    match write_one::<String>(statement, args)? {
        Some(text) => Ok(Some(serde_json::from_str(&text)?)),
        None => Ok(None),
    }
}

/// Reads all rows of a query into a vector of a type whose fields are named as its columns.
pub fn read_rows<T: DeserializeOwned>(query: &str, args: &Args<'_>) -> Result<Vec<T>> {
    let statement =
        format!("SELECT coalesce(pg_catalog.json_agg(r), '[]')::text FROM ({query}) AS r");
    with_settings(&PLAIN_TEXT, || {
        Ok(read_json(&statement, args)?.unwrap_or_default())
    })
}

/// What `read` makes of each row of a query: for values that are slow as JSON.
pub fn read_each<T>(
    query: &str,
    args: &Args<'_>,
    read: impl Fn(&SpiHeapTupleData<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    Spi::connect(|client| {
        let plan = prepared(client, query, args)?;
        let rows = client.select(&*plan, None, args)?;
        rows.map(|row| read(&row)).collect()
    })
}

/// As [`read_each`], for a statement that must see what this call wrote.
pub fn write_each<T>(
    query: &str,
    args: &Args<'_>,
    read: impl Fn(&SpiHeapTupleData<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    if on_standby() {
        return read_each(query, args, read);
    }
    Spi::connect_mut(|client| {
        let plan = prepared(client, query, args)?;
        let rows = client.update(&*plan, None, args)?;
        rows.map(|row| read(&row)).collect()
    })
}

/// Waits until no other session has locked a sequence of ours so, and keeps it so until the transaction ends. Ids are given out
/// meanwhile. An advisory lock would be anybody's to hold; a sequence is for LOCK TABLE nothing to lock.
pub fn lock(sequence: &str) -> Result<()> {
    let oid = oid_of(sequence)?;
    // SAFETY: waits as LOCK TABLE does, and hears interrupts.
    unsafe { pgrx::pg_sys::LockRelationOid(oid, pgrx::pg_sys::ShareUpdateExclusiveLock as i32) };
    Ok(())
}

/// As [`lock`], where that can be had at once.
pub fn try_lock(sequence: &str) -> Result<bool> {
    let (oid, mode) = (oid_of(sequence)?, pgrx::pg_sys::ShareUpdateExclusiveLock);
    // SAFETY: a plain call; the transaction keeps the lock until it ends.
    Ok(unsafe { pgrx::pg_sys::ConditionalLockRelationOid(oid, mode as i32) })
}

fn oid_of(sequence: &str) -> Result<pgrx::pg_sys::Oid> {
    let oid = read_one("SELECT pg_catalog.to_regclass($1)::oid", &[sequence.into()])?;
    oid.ok_or_else(|| crate::error::Error::Unknown("sequence", sequence.to_owned()))
}

/// Waits for the advisory lock of a key in a space of keys (a corpus' id; 0 for the names of corpora), and keeps it until the
/// transaction ends.
pub fn lock_key(space: i64, key: &str) -> Result<()> {
    run(
        "SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended($2, $1))",
        &[space.into(), key.into()],
    )?;
    Ok(())
}

/// JSON text of a value, to be bound as `$n::jsonb`.
pub fn json<T: Serialize + ?Sized>(value: &T) -> Result<String> {
    Ok(serde_json::to_string(value)?)
}

/// An identifier, quoted where it must be.
pub fn ident(name: &str) -> String {
    pgrx::spi::quote_identifier(name)
}

/// A string literal.
pub fn literal(value: &str) -> String {
    pgrx::spi::quote_literal(value)
}
