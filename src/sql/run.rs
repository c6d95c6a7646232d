//! Runs statements and converts their arguments and results.

use pgrx::spi::Spi;
use pgrx::{FromDatum, IntoDatum};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::explain::record;
use super::plans::prepared;
use super::statement::{Access, Args, Row, Rows};
use crate::error::Result;
use crate::session::{PINNED_PATH, PLAIN_TEXT, with_plain_names, with_settings};

/// Runs a statement that writes; returns the number of rows that it returned or wrote.
pub fn run(statement: &str, args: &Args<'_>) -> Result<usize> {
    with_rows(Access::Write, statement, 0, args, |rows| Ok(rows.count()))
}

/// Runs a statement that defines an object. Its names are resolved in `pg_catalog`, while it is analysed and while it runs.
pub fn run_ddl(statement: &str) -> Result<()> {
    with_pinned_path(|| run(statement, &[]))?;
    Ok(())
}

/// Runs `work` under the search_path that our statements are analysed with. The text of a type then has the schema that such a
/// statement needs: none for types of `pg_catalog`, its own for all others.
pub fn with_pinned_path<T>(work: impl FnOnce() -> T) -> T {
    with_settings(&[(c"search_path", PINNED_PATH)], work)
}

/// The first column of the first row of a statement that writes or must see what this call wrote.
pub fn write_one<T: Value>(statement: &str, args: &Args<'_>) -> Result<Option<T>> {
    one(Access::Write, statement, args)
}

/// The first column of the first row of a statement that only reads.
pub fn read_one<T: Value>(statement: &str, args: &Args<'_>) -> Result<Option<T>> {
    one(Access::Read, statement, args)
}

fn one<T: Value>(access: Access, statement: &str, args: &Args<'_>) -> Result<Option<T>> {
    with_rows(access, statement, 1, args, |rows| {
        rows.iter().next().map_or(Ok(None), |row| row.get(1))
    })
}

/// A value that owns its data, so that it can outlive the row that it was read from.
pub trait Value: FromDatum + IntoDatum + 'static {}
impl<T: FromDatum + IntoDatum + 'static> Value for T {}

/// Reads one JSON value (as text) into a type; `None` if the statement returns no row or NULL.
pub fn read_json<T: DeserializeOwned>(statement: &str, args: &Args<'_>) -> Result<Option<T>> {
    parsed(read_one::<String>(statement, args)?)
}

/// As [`read_json`], for a statement that locks or writes.
pub fn write_json<T: DeserializeOwned>(statement: &str, args: &Args<'_>) -> Result<Option<T>> {
    parsed(write_one::<String>(statement, args)?)
}

fn parsed<T: DeserializeOwned>(text: Option<String>) -> Result<Option<T>> {
    Ok(text.map(|text| serde_json::from_str(&text)).transpose()?)
}

/// Reads all rows of a query into a vector. The fields of the type have the names of the columns.
///
/// Each row is converted on its own: as a subquery of an aggregate, a query over tables of other servers would lose the names of its columns.
pub fn read_rows<T: DeserializeOwned>(query: &str, args: &Args<'_>) -> Result<Vec<T>> {
    read_each_as_text(query, args, |row| Ok(serde_json::from_str(&row.json()?)?))
}

/// Passes each row of a query to `read` and returns the results. For values that are slow to convert to JSON.
pub fn read_each<T>(
    query: &str,
    args: &Args<'_>,
    read: impl Fn(&Row) -> Result<T>,
) -> Result<Vec<T>> {
    record(query, args)?;
    with_rows(Access::Read, query, 0, args, |rows| {
        rows.iter().map(|row| read(&row)).collect()
    })
}

/// As [`read_each`], with values converted to text as in [`read_rows`].
pub fn read_each_as_text<T>(
    query: &str,
    args: &Args<'_>,
    read: impl Fn(&Row) -> Result<T>,
) -> Result<Vec<T>> {
    with_settings(&PLAIN_TEXT, || read_each(query, args, read))
}

/// As [`read_each`], for a statement that must see what this call wrote.
pub fn write_each<T>(
    query: &str,
    args: &Args<'_>,
    read: impl Fn(&Row) -> Result<T>,
) -> Result<Vec<T>> {
    with_rows(Access::Write, query, 0, args, |rows| {
        rows.iter().map(|row| read(&row)).collect()
    })
}

/// Passes each row of a query to `read`, with `batch` rows in memory at a time.
pub fn read_batches(
    query: &str,
    args: &Args<'_>,
    batch: i64,
    mut read: impl FnMut(&Row) -> Result<()>,
) -> Result<()> {
    record(query, args)?;
    with_plain_names(|| {
        Spi::connect(|_| {
            let statement = prepared(query, args)?;
            let mut cursor = statement.open(args)?;
            while cursor.fetch(batch, |rows| rows.iter().try_for_each(|row| read(&row)))? {}
            Ok(())
        })
    })
}

fn with_rows<T>(
    access: Access,
    statement: &str,
    limit: i64,
    args: &Args<'_>,
    read: impl FnOnce(&Rows) -> Result<T>,
) -> Result<T> {
    with_plain_names(|| {
        Spi::connect(|_| {
            let statement = prepared(statement, args)?;
            read(&statement.execute(access, limit, args)?)
        })
    })
}

/// JSON text of a value, to be bound as `$n::jsonb`.
pub fn json<T: Serialize + ?Sized>(value: &T) -> Result<String> {
    Ok(serde_json::to_string(value)?)
}

/// An identifier, quoted if necessary.
pub fn ident(name: &str) -> String {
    with_plain_names(|| pgrx::spi::quote_identifier(name))
}

/// A string literal.
pub fn literal(value: &str) -> String {
    pgrx::spi::quote_literal(value)
}
