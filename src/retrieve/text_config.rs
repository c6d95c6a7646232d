//! Text search configurations. They are stored by name, because a dump and a restore change their oids.

use pgrx::pg_sys;

use crate::error::{Error, Result};
use crate::sql;
use crate::store::corpora::{Corpus, Side};
use crate::words::find_config;

/// Selects the name of a configuration.
const QUALIFIED: &str = "SELECT format('%I.%I', n.nspname, c.cfgname) FROM pg_ts_config AS c \
     JOIN pg_namespace AS n ON n.oid = c.cfgnamespace WHERE c.oid =";

/// The configuration for text without a known one. It keeps words unchanged.
pub const PLAIN: &str = "pg_catalog.simple";

/// Returns the qualified and quoted name of a configuration.
///
/// # Errors
/// P0002 if it does not exist.
pub fn name(config: pg_sys::Oid) -> Result<String> {
    sql::read_one(&format!("{QUALIFIED} $1"), &[config.into()])?
        .ok_or_else(|| Error::Unknown("text search configuration", config.to_u32().to_string()))
}

/// Returns the configuration that a row names; `other` if there is none of that name.
pub fn named_or(named: &str, other: &str) -> Result<String> {
    match find_config(named) {
        Some(config) => name(config),
        None => Ok(other.to_owned()),
    }
}

/// Returns the configuration of the session, `default_text_search_config`.
pub fn of_session() -> Result<String> {
    let found: Option<String> =
        sql::read_one(&format!("{QUALIFIED} get_current_ts_config()"), &[])?;
    Ok(found.unwrap_or_else(|| PLAIN.to_owned()))
}

/// Returns the configurations of a corpus: its own, then those that its rows name, sorted by name.
pub fn of_corpus(corpus: &Corpus) -> Result<Vec<String>> {
    let mut all = vec![corpus.text_config.clone()];
    for named in named(corpus)? {
        if let Some(config) = find_config(&named) {
            let config = name(config)?;
            if !all.contains(&config) {
                all.push(config);
            }
        }
    }
    if let Some(rest) = all.get_mut(1..) {
        rest.sort_unstable();
    }
    Ok(all)
}

/// Returns the distinct names in the column for configurations, in the rows that the caller may read.
fn named(corpus: &Corpus) -> Result<Vec<String>> {
    #[derive(serde::Deserialize)]
    struct Row {
        named: String,
    }
    let (Some(column), Some(mapped), Some(named)) = (
        corpus.column("text_config_column"),
        corpus.mapping.get("text_config_column"),
        corpus.named_config(),
    ) else {
        return Ok(Vec::new());
    };
    let (relation, alias) = match mapped.side {
        Side::Passages => (&corpus.relation, "p"),
        Side::Documents => (&corpus.documents, "d"),
    };
    let relation = relation.as_deref().unwrap_or_default();
    let by_rows = corpus.restricts_rows() && mapped.side == Side::Documents;
    let is_joined = corpus.past.is_some() || by_rows;
    let from = match (is_joined, mapped.side) {
        (true, _) => format!("FROM {} WHERE {column} IS NOT NULL", corpus.relations()?),
        (false, Side::Passages) => format!(
            "FROM {} WHERE {column} IS NOT NULL",
            corpus.visible_passages()?
        ),
        (false, Side::Documents) => {
            format!("FROM {relation} AS {alias} WHERE {column} IS NOT NULL")
        }
    };
    let value = match corpus.column_type("text_config_column") {
        Some("text" | "character varying") => Some(format!("{column}::text")),
        Some("regconfig") => Some(column.clone()),
        _ => None,
    };
    // Reads one entry per value from the index. Without an index this would sort the whole relation once per value.
    // Citus does not plan recursive queries.
    let is_walked = !is_joined && !corpus.is_distributed()? && has_index(relation, &mapped.column)?;
    let values = match value {
        Some(value) if is_walked => format!(
            "WITH RECURSIVE next_value(named) AS ((SELECT {value} {from} ORDER BY 1 LIMIT 1) \
                 UNION ALL SELECT (SELECT {value} {from} AND {value} > next_value.named ORDER BY 1 LIMIT 1) FROM next_value WHERE next_value.named IS NOT NULL) \
             SELECT next_value.named AS {} FROM next_value",
            sql::ident(&mapped.column)
        ),
        _ => format!("SELECT DISTINCT {column} {from}"),
    };
    let statement = format!(
        "SELECT s.named FROM (SELECT {named} AS named FROM ({values}) AS {alias}) AS s WHERE s.named IS NOT NULL"
    );
    let rows: Vec<Row> = sql::read_rows(&statement, &[])?;
    Ok(rows.into_iter().map(|row| row.named).collect())
}

/// Whether a B-tree index on all rows, or on the rows where the column is not NULL, has the column first.
pub fn has_index(relation: &str, column: &str) -> Result<bool> {
    Ok(sql::read_one::<bool>(
        "SELECT EXISTS (SELECT FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_am AS m ON m.oid = c.relam \
             JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0] \
         WHERE i.indrelid = $1::regclass AND i.indisvalid AND m.amname = 'btree' AND a.attname = $2 \
             AND (i.indpred IS NULL OR pg_get_expr(i.indpred, i.indrelid) = format('(%I IS NOT NULL)', a.attname)))",
        &[relation.into(), column.into()],
    )? == Some(true))
}

/// Returns the names that are neither a configuration nor a known language, with their number of rows.
pub fn unknown(corpus: &Corpus) -> Result<Vec<(String, i64)>> {
    #[derive(serde::Deserialize)]
    struct Row {
        named: String,
        rows: i64,
    }
    let Some(column) = corpus.named_config() else {
        return Ok(Vec::new());
    };
    let statement = format!(
        "SELECT {column} AS named, count(*) AS rows FROM {} GROUP BY 1 HAVING {column} IS NOT NULL ORDER BY 2 DESC, 1",
        corpus.relations()?
    );
    let rows: Vec<Row> = sql::read_rows(&statement, &[])?;
    let unknown = rows
        .into_iter()
        .filter(|row| find_config(&row.named).is_none());
    Ok(unknown.map(|row| (row.named, row.rows)).collect())
}
