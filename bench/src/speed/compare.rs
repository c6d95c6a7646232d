//! Rows as JSON, so that two competitors' can be held against each other.

use std::collections::BTreeMap;

use anyhow::{Result, bail, ensure};
use postgres::Row;
use postgres::types::Type;
use serde_json::{Value, json};

/// A row by column.
pub type Fields = BTreeMap<String, Value>;

/// By how much a float may differ: sums in another order.
const TOLERANCE: f64 = 1e-6;

/// Columns that name rows of a competitor's own tables, and the extracted sentences, for which each has its own splitter.
const OWN: [&str; 5] = [
    "turn_id",
    "message_id",
    "citation_id",
    "source_state",
    "facts",
];

/// What support decides, and what is only about it: the Python competitor weighs support by the share of words alone.
const BY_SUPPORT: [&str; 10] = [
    "form",
    "status",
    "holds",
    "mode",
    "score",
    "diagnostic",
    "quote",
    "support",
    "support_parts",
    "best_other",
];

/// The columns of a row that must be equal.
///
/// # Errors
/// A column of a type that no function of ours returns.
pub fn fields(row: &Row) -> Result<Fields> {
    let mut fields = Fields::new();
    for (index, column) in row.columns().iter().enumerate() {
        let name = &column.name();
        if OWN.contains(name) || BY_SUPPORT.contains(name) {
            continue;
        }
        let value = match *column.type_() {
            Type::TEXT => json!(row.get::<_, Option<String>>(index)),
            Type::INT4 => json!(row.get::<_, Option<i32>>(index)),
            Type::INT8 => json!(row.get::<_, Option<i64>>(index)),
            Type::FLOAT8 => json!(row.get::<_, Option<f64>>(index)),
            Type::BOOL => json!(row.get::<_, Option<bool>>(index)),
            Type::JSONB => json!(row.get::<_, Option<Value>>(index)),
            ref other => bail!("column {} is of type {other}", column.name()),
        };
        fields.insert(column.name().to_owned(), value);
    }
    Ok(fields)
}

/// Refuses rows that say something else.
///
/// # Errors
/// The first difference.
pub fn same(ours: &[Fields], theirs: &[Fields]) -> Result<()> {
    ensure!(
        ours.len() == theirs.len(),
        "{} rows and {} rows",
        ours.len(),
        theirs.len()
    );
    for (number, (one, other)) in ours.iter().zip(theirs).enumerate() {
        for (column, value) in one {
            let theirs = other.get(column).unwrap_or(&Value::Null);
            ensure!(
                alike(value, theirs),
                "row {number}, {column}: {value} and {theirs}"
            );
        }
    }
    Ok(())
}

fn alike(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => (one - other).abs() <= TOLERANCE,
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(value: Value) -> Vec<Fields> {
        vec![Fields::from([("score".to_owned(), value)])]
    }

    #[test]
    fn differences_are_named() {
        assert!(same(&row(json!(0.5)), &row(json!(0.500_000_1))).is_ok());
        assert!(same(&row(json!(1)), &row(json!(1.0))).is_ok());
        for other in [json!(0.51), json!(null), json!("0.5")] {
            let error = same(&row(json!(0.5)), &row(other)).unwrap_err();
            assert!(error.to_string().contains("score"), "{error}");
        }
        assert!(same(&row(json!(1)), &[]).is_err());
    }
}
