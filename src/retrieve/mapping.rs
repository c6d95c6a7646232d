//! Which column of an application's relations means what.

use serde_json::Value;

use crate::error::{Error, Result};
use crate::sql;
use crate::store::corpora::{Column, Corpus, Side};

/// Where a mapped column is: the documents' relation for what describes a document, if it has it; else the passages'.
pub fn locate(
    relation: &str,
    documents: Option<&str>,
    meaning: &str,
    column: &str,
) -> Result<Column> {
    let describes_document = matches!(
        meaning,
        "title" | "uri" | "published" | "updated_at" | "version" | "page_count" | "metadata"
    );
    if let Some(documents) = documents
        && describes_document
        && has_column(documents, column)?
    {
        return Ok(Column {
            side: Side::Documents,
            column: column.to_owned(),
        });
    }
    // An index reads what a row is read by from the passages alone, so there it is looked for first.
    if let Some(documents) = documents
        && meaning == "text_config"
        && !has_column(relation, column)?
        && has_column(documents, column)?
    {
        names_configs(documents, column)?;
        return Ok(Column {
            side: Side::Documents,
            column: column.to_owned(),
        });
    }
    require_column(relation, column)?;
    if meaning == "text_config" {
        names_configs(relation, column)?;
    }
    Ok(Column {
        side: Side::Passages,
        column: column.to_owned(),
    })
}

fn has_column(relation: &str, column: &str) -> Result<bool> {
    Ok(sql::read_one::<bool>(
        "SELECT EXISTS (SELECT FROM pg_catalog.pg_attribute WHERE attrelid = $1::regclass AND attname = $2 AND attnum > 0 AND NOT attisdropped)",
        &[relation.into(), column.into()],
    )?
    .unwrap_or(false))
}

pub fn require_column(relation: &str, column: &str) -> Result<()> {
    if has_column(relation, column)? {
        return Ok(());
    }
    Err(Error::NoColumn {
        column: column.to_owned(),
        relation: relation.to_owned(),
    })
}

/// Whether a column can name configurations: an enumeration cannot, as its text is not immutable, which an index asks for.
fn names_configs(relation: &str, column: &str) -> Result<()> {
    let kind = sql::with_fixed_path(|| sql::read_one::<String>(
        "SELECT pg_catalog.format_type(atttypid, NULL) FROM pg_catalog.pg_attribute WHERE attrelid = $1::regclass AND attname = $2 AND NOT attisdropped",
        &[relation.into(), column.into()],
    ))?
    .unwrap_or_default();
    match kind.as_str() {
        "regconfig" | "text" | "character varying" | "character" | "name" => Ok(()),
        other => Err(Error::Bad {
            argument: "text_config",
            fault: format!("column \"{column}\" is of type {other}"),
            hint: "It must be of type regconfig, text, varchar or name: a configuration (german) or a language (de) a row.".into(),
        }),
    }
}

/// Type and dimensions of an embedding column (dimensions NULL where the column does not say).
pub fn embedding_column(relation: &str, column: &str) -> Result<(Option<String>, Option<i32>)> {
    #[derive(serde::Deserialize)]
    struct Row {
        kind: String,
        dimensions: Option<i32>,
    }
    let row: Option<Row> = sql::read_json(
        "SELECT pg_catalog.jsonb_build_object('kind', t.typname, 'dimensions', NULLIF(a.atttypmod, -1))::text \
         FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid \
         WHERE a.attrelid = $1::regclass AND a.attname = $2 AND NOT a.attisdropped",
        &[relation.into(), column.into()],
    )?;
    match row {
        Some(row) if row.kind == "vector" || row.kind == "halfvec" => {
            Ok((Some(row.kind), row.dimensions))
        }
        Some(row) => Err(Error::Bad {
            argument: "embedding",
            fault: format!("column \"{column}\" is of type {}", row.kind),
            hint: "It must be of pgvector's type vector or halfvec.".into(),
        }),
        None => Err(Error::NoColumn {
            column: column.to_owned(),
            relation: relation.to_owned(),
        }),
    }
}

/// Applies `{"meaning": "column"}` to the mapping of a corpus.
pub fn remap(corpus: &mut Corpus, changes: &Value) -> Result<()> {
    let Value::Object(changes) = changes else {
        return Err(Error::Bad {
            argument: "mapping",
            fault: "not an object".into(),
            hint: "{\"content\": \"body\"}".into(),
        });
    };
    const MEANINGS: [&str; 18] = [
        "key",
        "content",
        "document",
        "embedding",
        "ordinal",
        "char_start",
        "char_end",
        "page_start",
        "page_end",
        "title",
        "uri",
        "published",
        "updated_at",
        "version",
        "page_count",
        "metadata",
        "document_key",
        "text_config",
    ];
    let relation = corpus.relation.clone().unwrap_or_default();
    for (meaning, column) in changes {
        if !MEANINGS.contains(&meaning.as_str()) || corpus.managed {
            return Err(Error::Bad {
                argument: "mapping",
                fault: if corpus.managed {
                    "the tables of create_corpus have a mapping of their own".into()
                } else {
                    format!("\"{meaning}\" is no meaning")
                },
                hint: if corpus.managed {
                    "Their columns keep the names that create_corpus gave them.".into()
                } else {
                    format!("Meanings: {}.", MEANINGS.join(", "))
                },
            });
        }
        match column {
            Value::Null if meaning == "key" || meaning == "content" => {
                return Err(Error::Null("key and content"));
            }
            Value::Null
                if corpus.documents.is_some()
                    && (meaning == "document" || meaning == "document_key") =>
            {
                return Err(Error::Null("document and document_key of joined documents"));
            }
            Value::Null => {
                corpus.mapping.remove(meaning);
            }
            Value::String(column) if meaning == "document_key" => {
                require_column(corpus.documents.as_deref().unwrap_or(&relation), column)?;
                corpus.mapping.insert(
                    meaning.clone(),
                    Column {
                        side: Side::Documents,
                        column: column.clone(),
                    },
                );
            }
            Value::String(column) => {
                let found = locate(&relation, corpus.documents.as_deref(), meaning, column)?;
                corpus.mapping.insert(meaning.clone(), found);
            }
            other => {
                return Err(Error::Bad {
                    argument: "mapping",
                    fault: format!("{other} is no column name"),
                    hint: "{\"content\": \"body\"}".into(),
                });
            }
        }
    }
    (corpus.embedding_type, corpus.dimensions) = match corpus.mapping.get("embedding") {
        Some(column) => embedding_column(&relation, &column.column)?,
        None => (None, None),
    };
    Ok(())
}
