//! Checks of the mapped columns.

use std::collections::BTreeMap;

use super::finding::Finding;
use crate::sql;
use crate::store::corpora::{Corpus, INTEGERS, Side};

/// Finds mapped columns that the relations do not have.
pub fn missing(corpus: &Corpus) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (meaning, column) in &corpus.mapping {
        let columns = match column.side {
            Side::Passages => &corpus.passage_columns,
            Side::Documents => &corpus.document_columns,
        };
        if columns.contains_key(&column.column) {
            continue;
        }
        let (guess, hint) = match corpus.managed {
            true => (String::new(), repair_managed(corpus, meaning)),
            false => remap(corpus, meaning, column.side, columns),
        };
        let detail = format!("column \"{}\" does not exist{guess}", column.column);
        findings.push(Finding::error(meaning, detail, Some(hint)));
    }
    findings
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
        other if INTEGERS.contains(&other) => {
            matches!(kind, "smallint" | "integer" | "bigint" | "numeric")
        }
        _ => is_text,
    }
}

/// Finds columns that should contain whole numbers and have another type. Searches ignore them.
pub fn not_integers(corpus: &Corpus) -> Vec<Finding> {
    let mut findings = Vec::new();
    for meaning in INTEGERS {
        if let (Some(column), Some(kind)) = (corpus.column(meaning), corpus.column_type(meaning))
            && !corpus.is_integer(meaning)
        {
            let detail = format!("{column} is of type {kind}, not a whole number: it is ignored");
            let hint = map_command(corpus, meaning, None);
            findings.push(Finding::warning(meaning, detail, Some(hint)));
        }
    }
    findings
}
