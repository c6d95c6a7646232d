//! The addresses of passages that statements have returned. The lexical index scores passages by address.

use std::collections::BTreeMap;

use pgrx::pg_sys;

use crate::error::Result;
use crate::index::RowAddress;
use crate::sql::Row;

/// Addresses of passages, by id. Without an address, the text of a passage is scored.
pub type Addresses = BTreeMap<String, RowAddress>;

/// Reads an address from a column with the table and the next one with the row; see
/// [`searched_relations`](crate::store::corpora::Corpus::searched_relations).
pub fn address(row: &Row, column: i32) -> Result<Option<RowAddress>> {
    let table = row.get::<pg_sys::Oid>(column)?;
    let ctid = row.get::<pg_sys::ItemPointerData>(column + 1)?;
    // The rows of a foreign table may have no place.
    let ctid = ctid.filter(|ctid| ctid.ip_posid != 0);
    Ok(table
        .zip(ctid)
        .map(|(table, ctid)| RowAddress::new(table, ctid)))
}
