//! Commands that repair the mapping of a corpus whose columns are renamed or dropped.

use std::collections::BTreeMap;

use super::relations::{Corpus, INTEGERS, Side};
use super::visible_rows::{holds_principals, holds_tenants};
use crate::sql;

impl Corpus {
    /// Returns the probable new name of a missing column, as the end of a sentence, and the command that repairs the corpus.
    /// `columns` are those of the relation that should have it.
    pub fn repair_column(
        &self,
        meaning: &str,
        side: Side,
        columns: &BTreeMap<String, String>,
    ) -> (String, String) {
        match self.managed {
            true => (String::new(), repair_managed(self, meaning)),
            false => remap(self, meaning, side, columns),
        }
    }
}

/// The command that restores a column of the tables made by create_corpus.
fn repair_managed(corpus: &Corpus, meaning: &str) -> String {
    let name = sql::literal(&corpus.name);
    match meaning {
        "lexemes" => format!(
            "SELECT reground.alter_corpus({name}, text_config => 'pg_catalog.english'); -- or another configuration"
        ),
        _ => {
            format!("Restore the column, or drop the corpus: SELECT reground.drop_corpus({name});")
        }
    }
}

/// Returns the probable new name of a missing column, as the end of a sentence, and the command that maps it.
fn remap(
    corpus: &Corpus,
    meaning: &str,
    side: Side,
    columns: &BTreeMap<String, String>,
) -> (String, String) {
    let renamed = renamed(corpus, meaning, side, columns);
    let guess = match renamed {
        Some(name) => format!("; it may be \"{name}\" now"),
        None => String::new(),
    };
    (
        guess,
        map_command(corpus, meaning, Some(renamed.unwrap_or("…"))),
    )
}

/// Returns the command that maps a column, or that removes the mapping of a meaning.
pub fn map_command(corpus: &Corpus, meaning: &str, column: Option<&str>) -> String {
    let mapping = format!("{{\"{meaning}\": {}}}", serde_json::Value::from(column));
    format!(
        "SELECT reground.alter_corpus({}, mapping => {});",
        sql::literal(&corpus.name),
        sql::literal(&mapping)
    )
}

/// Returns the only column that is not mapped and has a suitable type.
fn renamed<'a>(
    corpus: &Corpus,
    meaning: &str,
    side: Side,
    columns: &'a BTreeMap<String, String>,
) -> Option<&'a str> {
    let mut free = columns.iter().filter(|(name, kind)| {
        let mut mapped = corpus.mapping.values();
        fits(meaning, kind) && !mapped.any(|of| of.side == side && of.column == **name)
    });
    let (name, _) = free.next()?;
    free.next().is_none().then_some(name.as_str())
}

/// Whether a column of a type can have a meaning. Ids may have any type.
fn fits(meaning: &str, kind: &str) -> bool {
    let kind = kind.rsplit('.').next().unwrap_or(kind);
    let is_text = matches!(kind, "text" | "character varying" | "character" | "name");
    match meaning {
        "chunk_id" | "doc_id" | "documents_doc_id" => true,
        "embedding" => matches!(kind, "vector" | "halfvec"),
        "published" | "modified_at" => kind.starts_with("timestamp") || kind == "date",
        "metadata" => matches!(kind, "json" | "jsonb"),
        "text_config_column" => is_text || kind == "regconfig",
        "tenant_column" => holds_tenants(kind),
        "principals_column" => holds_principals(kind),
        other if INTEGERS.contains(&other) => {
            matches!(kind, "smallint" | "integer" | "bigint" | "numeric")
        }
        _ => is_text,
    }
}
