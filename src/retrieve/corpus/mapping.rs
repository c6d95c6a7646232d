//! The mapping of a registered corpus: which column of the application's relations has which meaning.

use serde_json::Value;

use crate::error::{Error, Result};
use crate::retrieve::catalog::{is_unique, loose_collation};
use crate::sql;
use crate::store::corpora::{
    self, Column, Corpus, Mapping, PRINCIPALS_TYPES, Side, TENANT_TYPES, holds_principals,
    holds_tenants,
};

/// Meanings that `alter_corpus` can map.
const MEANINGS: [&str; 22] = [
    "chunk_id",
    "content",
    "doc_id",
    "embedding",
    "next_embedding",
    "ordinal",
    "char_start",
    "char_end",
    "page_start",
    "page_end",
    "title",
    "heading",
    "uri",
    "published",
    "modified_at",
    "version",
    "page_count",
    "metadata",
    "documents_doc_id",
    "text_config_column",
    "tenant_column",
    "principals_column",
];

/// A valid mapping, for hints.
const EXAMPLE: &str = "Write {\"content\": \"body\"}.";

/// Finds a mapped column. A column that describes a document is looked up in the documents' relation first, any other in the
/// passages' relation only.
///
/// # Errors
/// 42703 if there is no such column, 22023 if its type cannot have the meaning.
pub fn locate(
    relation: &str,
    documents: Option<&str>,
    meaning: &str,
    column: &str,
) -> Result<Column> {
    let describes_document = matches!(
        meaning,
        "title" | "uri" | "published" | "modified_at" | "version" | "page_count" | "metadata"
    );
    if let Some(documents) = documents
        && describes_document
        && has_column(documents, column)?
    {
        return Ok(on(Side::Documents, column));
    }
    // An index reads the configuration of a row from the passages only, and a condition on them needs no join, so their relation is
    // preferred.
    let describes_row = matches!(
        meaning,
        "text_config_column" | "tenant_column" | "principals_column"
    );
    if let Some(documents) = documents
        && describes_row
        && !has_column(relation, column)?
        && has_column(documents, column)?
    {
        check_type(documents, meaning, column)?;
        return Ok(on(Side::Documents, column));
    }
    require_column(relation, column)?;
    check_type(relation, meaning, column)?;
    Ok(on(Side::Passages, column))
}

fn on(side: Side, column: &str) -> Column {
    Column {
        side,
        column: column.to_owned(),
    }
}

fn has_column(relation: &str, column: &str) -> Result<bool> {
    Ok(sql::read_one::<bool>(
        "SELECT EXISTS (SELECT FROM pg_attribute WHERE attrelid = $1::regclass AND attname = $2 AND attnum > 0 AND NOT attisdropped)",
        &[relation.into(), column.into()],
    )?
    .unwrap_or(false))
}

/// Checks that a relation has a column.
///
/// # Errors
/// 42703 if it has not.
pub fn require_column(relation: &str, column: &str) -> Result<()> {
    if has_column(relation, column)? {
        return Ok(());
    }
    Err(Error::NoColumn {
        column: column.to_owned(),
        relation: relation.to_owned(),
    })
}

/// Checks that the type of a column fits its meaning.
///
/// # Errors
/// 22023 if it does not.
fn check_type(relation: &str, meaning: &str, column: &str) -> Result<()> {
    let (argument, hint) = match meaning {
        // The conversion of an enumeration to text is not immutable, so it cannot be indexed.
        "text_config_column" => (
            "text_config_column",
            "Use a column of type regconfig, text, varchar or name with a configuration (german) or a language (de) in each row.".to_owned(),
        ),
        "tenant_column" => ("tenant_column", format!("Use a column of type {TENANT_TYPES}.")),
        "principals_column" => (
            "principals_column",
            format!("Use a column of type {PRINCIPALS_TYPES}."),
        ),
        _ => return Ok(()),
    };
    let columns = corpora::columns_of(relation)?;
    let kind = columns.get(column).map_or("", String::as_str);
    let fits = match meaning {
        "tenant_column" => holds_tenants(kind),
        "principals_column" => holds_principals(kind),
        _ => matches!(
            kind,
            "regconfig" | "text" | "character varying" | "character" | "name"
        ),
    };
    if !fits {
        return Err(Error::Bad {
            argument,
            fault: format!("column \"{column}\" is of type {kind}"),
            hint,
        });
    }
    match loose_collation(relation, column)? {
        Some(collation) if meaning != "text_config_column" => Err(Error::Bad {
            argument,
            fault: format!("column \"{column}\" has the nondeterministic collation {collation}"),
            hint: format!(
                "Different names could be equal. ALTER TABLE {relation} ALTER COLUMN {} TYPE {kind} COLLATE \"C\";",
                sql::ident(column)
            ),
        }),
        _ => Ok(()),
    }
}

/// Returns the type of an embedding column, and its number of dimensions if it is declared.
///
/// # Errors
/// 22023 if the type is not pgvector's vector or halfvec, 42703 if there is no such column.
pub fn embedding_column(relation: &str, column: &str) -> Result<(Option<String>, Option<i32>)> {
    #[derive(serde::Deserialize)]
    struct Row {
        kind: String,
        /// Whether pgvector has the type.
        is_pgvector: bool,
        dimensions: Option<i32>,
    }
    let row: Option<Row> = sql::read_json(
        "SELECT jsonb_build_object('kind', t.typname, 'dimensions', NULLIF(a.atttypmod, -1), \
             'is_pgvector', EXISTS (SELECT FROM pg_extension AS e WHERE e.extname = 'vector' AND e.extnamespace = t.typnamespace))::text \
         FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid \
         WHERE a.attrelid = $1::regclass AND a.attname = $2 AND NOT a.attisdropped",
        &[relation.into(), column.into()],
    )?;
    match row {
        Some(row) if row.is_pgvector && matches!(&*row.kind, "vector" | "halfvec") => {
            Ok((Some(row.kind), row.dimensions))
        }
        Some(row) => Err(Error::Bad {
            argument: "embedding",
            fault: format!("column \"{column}\" is of type {}", row.kind),
            hint: "Use a column of pgvector's type vector or halfvec.".into(),
        }),
        None => Err(Error::NoColumn {
            column: column.to_owned(),
            relation: relation.to_owned(),
        }),
    }
}

/// Changes the mapping of a registered corpus, as in `{"title": "headline", "uri": null}`; null removes an entry. The type
/// and the dimensions of the embedding column are read again.
///
/// # Errors
/// 22023 for a corpus made by create_corpus and for an invalid change, 22004 for null where a column is required, 42703 for a
/// missing column.
pub fn remap(corpus: &mut Corpus, changes: &Value) -> Result<()> {
    let Value::Object(changes) = changes else {
        return Err(invalid("not an object", EXAMPLE));
    };
    let relation = corpus.relation.clone().unwrap_or_default();
    for (meaning, column) in changes {
        check_meaning(corpus, meaning)?;
        match column {
            Value::Null => unmap(corpus, meaning)?,
            Value::String(column) => {
                let column = match meaning.as_str() {
                    "documents_doc_id" => {
                        let documents = corpus.documents.as_deref().unwrap_or(&relation);
                        require_column(documents, column)?;
                        on(Side::Documents, column)
                    }
                    _ => locate(&relation, corpus.documents.as_deref(), meaning, column)?,
                };
                corpus.mapping.insert(meaning.clone(), column);
            }
            other => return Err(invalid(format!("{other} is not a column name"), EXAMPLE)),
        }
    }
    check_documents_of_tenants(corpus.documents.as_deref(), &corpus.mapping)?;
    (corpus.embedding_type, corpus.dimensions) = match corpus.mapping.get("embedding") {
        Some(column) => embedding_column(&relation, &column.column)?,
        None => (None, None),
    };
    Ok(())
}

/// Checks that a document cannot belong to another tenant than its passages, if these have a column of tenants.
///
/// # Errors
/// 22023 if the documents do not have this column and their ids are not unique, or a compared column has a nondeterministic collation.
pub fn check_documents_of_tenants(documents: Option<&str>, mapping: &Mapping) -> Result<()> {
    let (Some(documents), Some(tenant), Some(id)) = (
        documents,
        mapping.get("tenant_column"),
        mapping.get("documents_doc_id"),
    ) else {
        return Ok(());
    };
    if tenant.side == Side::Documents {
        return Ok(());
    }
    let is_there = has_column(documents, &tenant.column)?;
    // Under a nondeterministic collation, the tenants Acme and ACME have the same documents.
    let compared = [is_there.then_some(&tenant.column), Some(&id.column)];
    for column in compared.into_iter().flatten() {
        if let Some(collation) = loose_collation(documents, column)? {
            return Err(Error::Bad {
                argument: "documents",
                fault: format!(
                    "column \"{column}\" of {documents} has the nondeterministic collation {collation}"
                ),
                hint: format!(
                    "Different names could be equal. ALTER TABLE {documents} ALTER COLUMN {} TYPE text COLLATE \"C\";",
                    sql::ident(column)
                ),
            });
        }
    }
    if is_there || is_unique(documents, &[&id.column])? {
        return Ok(());
    }
    Err(Error::Bad {
        argument: "documents",
        fault: format!(
            "{documents} has no column \"{}\", and its column \"{}\" is not unique",
            tenant.column, id.column
        ),
        hint: format!(
            "Two tenants could have a document of the same id. CREATE UNIQUE INDEX ON {documents} ({}); or give the documents a column of the same name as tenant_column.",
            sql::ident(&id.column)
        ),
    })
}

fn check_meaning(corpus: &Corpus, meaning: &str) -> Result<()> {
    if corpus.managed {
        return Err(invalid(
            "the mapping of a corpus made by create_corpus is fixed",
            "Its columns keep the names that create_corpus gave them.",
        ));
    }
    if MEANINGS.contains(&meaning) {
        return Ok(());
    }
    Err(invalid(
        format!("unknown key \"{meaning}\""),
        format!("Keys: {}.", MEANINGS.join(", ")),
    ))
}

/// Removes an entry that is not required.
fn unmap(corpus: &mut Corpus, meaning: &str) -> Result<()> {
    match meaning {
        "chunk_id" | "content" => return Err(Error::Null("chunk_id and content")),
        "embedding" | "next_embedding" if corpus.uses_a_model() => {
            return Err(Error::Null(
                "the column of a corpus with an embedding_model",
            ));
        }
        "doc_id" | "documents_doc_id" if corpus.documents.is_some() => {
            return Err(Error::Null(
                "doc_id and documents_doc_id of joined documents",
            ));
        }
        _ => corpus.mapping.remove(meaning),
    };
    Ok(())
}

fn invalid(problem: impl Into<String>, hint: impl Into<String>) -> Error {
    Error::Bad {
        argument: "mapping",
        fault: problem.into(),
        hint: hint.into(),
    }
}
