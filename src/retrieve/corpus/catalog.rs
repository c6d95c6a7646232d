//! What the catalog says about a column.

use crate::error::Result;
use crate::sql;

/// Whether a unique index consists of some of the columns.
pub fn is_unique(relation: &str, columns: &[&str]) -> Result<bool> {
    let found = sql::read_one::<bool>(
        "SELECT EXISTS (SELECT FROM pg_index AS i WHERE i.indrelid = $1::regclass AND i.indisunique AND i.indisvalid AND i.indpred IS NULL \
             AND NOT EXISTS (SELECT FROM unnest(i.indkey::smallint[]) WITH ORDINALITY AS u(attnum, place) WHERE u.place <= i.indnkeyatts \
                 AND NOT EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = i.indrelid AND a.attnum = u.attnum AND a.attname::text = ANY ($2))))",
        &[relation.into(), columns.to_vec().into()],
    )?;
    Ok(found == Some(true))
}

/// The collation of a column if it is nondeterministic: different texts can be equal.
pub fn loose_collation(relation: &str, column: &str) -> Result<Option<String>> {
    sql::read_one(
        "SELECT format('%I.%I', n.nspname, l.collname) FROM pg_attribute AS a JOIN pg_collation AS l ON l.oid = a.attcollation \
             JOIN pg_namespace AS n ON n.oid = l.collnamespace \
         WHERE a.attrelid = $1::regclass AND a.attname = $2 AND NOT a.attisdropped AND NOT l.collisdeterministic",
        &[relation.into(), column.into()],
    )
}
