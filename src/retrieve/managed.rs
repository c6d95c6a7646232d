//! The tables of a corpus that `create_corpus` makes, in the caller's schema and as the caller.

use crate::error::Result;
use crate::retrieve::lexemes::LONGEST_TEXT;
use crate::retrieve::lexical;
use crate::retrieve::vector_schema;
use crate::sql;
use crate::store::corpora::{Column, Corpus, Mapping, Side};

/// The column of the passages' text.
const CONTENT: &str = "content";

/// The mapping of the tables that [`make_tables`] makes.
pub fn mapping(embedding: bool) -> Mapping {
    let passages = [
        ("key", "chunk_id"),
        ("content", CONTENT),
        ("document", "doc_id"),
        ("version", "version"),
        ("ordinal", "ordinal"),
        ("tokens", "tokens"),
        ("char_start", "char_start"),
        ("char_end", "char_end"),
        ("page_start", "page_start"),
        ("page_end", "page_end"),
        ("hash", "hash"),
        ("metadata", "metadata"),
        ("lexemes", "lexemes"),
    ];
    let documents = [
        ("document_key", "doc_id"),
        ("document_version", "version"),
        ("title", "title"),
        ("uri", "uri"),
        ("published", "published"),
        ("updated_at", "modified_at"),
        ("page_count", "page_count"),
    ];
    let embedding = embedding.then_some(("embedding", "embedding"));
    let column = |side, (meaning, column): (&str, &str)| {
        (
            meaning.to_owned(),
            Column {
                side,
                column: column.to_owned(),
            },
        )
    };
    passages
        .into_iter()
        .chain(embedding)
        .map(|pair| column(Side::Passages, pair))
        .chain(
            documents
                .into_iter()
                .map(|pair| column(Side::Documents, pair)),
        )
        .collect()
}

/// The generated column that the lexical branch reads where row-level security keeps it from using the index.
pub fn lexemes_column(text_config: &str) -> String {
    format!(
        "lexemes tsvector GENERATED ALWAYS AS (pg_catalog.to_tsvector({}::pg_catalog.regconfig, pg_catalog.left(content, {LONGEST_TEXT}))) STORED",
        sql::literal(text_config)
    )
}

/// Makes the two tables of a managed corpus, as the caller.
pub fn make_tables(
    passages: &str,
    documents: &str,
    text_config: &str,
    dimensions: Option<i32>,
    embedding_type: &str,
) -> Result<()> {
    sql::run(
        &format!(
            "CREATE TABLE {documents} (doc_id text NOT NULL, version integer NOT NULL, title text, uri text, published timestamptz, modified_at timestamptz, \
             media_type text, language text, page_count integer, metadata jsonb NOT NULL DEFAULT '{{}}', content text, \
             PRIMARY KEY (doc_id, version))"
        ),
        &[],
    )?;
    let embedding = match dimensions {
        Some(count) => format!(
            "embedding {}.{embedding_type}({count}), embedding_model text, ",
            vector_schema()?
        ),
        None => String::new(),
    };
    sql::run(
        &format!(
            "CREATE TABLE {passages} (chunk_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, doc_id text NOT NULL, version integer NOT NULL, \
             ordinal integer NOT NULL, content text NOT NULL, tokens integer NOT NULL, char_start integer, char_end integer, page_start integer, \
             page_end integer, hash text NOT NULL, {embedding}metadata jsonb NOT NULL DEFAULT '{{}}', {})",
            lexemes_column(text_config)
        ),
        &[],
    )?;
    sql::run(
        &format!("CREATE INDEX ON {passages} (doc_id, ordinal)"),
        &[],
    )?;
    sql::run(&lexical::create_index(passages, CONTENT, text_config), &[])?;
    for (relation, comment) in [
        (
            documents,
            "Documents of a reground corpus, a row a version; written by reground.put_document.",
        ),
        (
            passages,
            "Passages of a reground corpus: chunks of the current version of each document; written by reground.put_document.",
        ),
    ] {
        sql::run(
            &format!("COMMENT ON TABLE {relation} IS {}", sql::literal(comment)),
            &[],
        )?;
    }
    Ok(())
}

/// Has the passages of a managed corpus read by another text search configuration.
pub fn reread(corpus: &Corpus, text_config: &str) -> Result<()> {
    let relation = corpus.relation.as_deref().unwrap_or_default();
    if let Some(index) = lexical::index(corpus)? {
        sql::run(&format!("DROP INDEX {}", index.name), &[])?;
    }
    sql::run(
        &format!(
            "ALTER TABLE {relation} DROP COLUMN lexemes, ADD COLUMN {}",
            lexemes_column(text_config)
        ),
        &[],
    )?;
    sql::run(&lexical::create_index(relation, CONTENT, text_config), &[])?;
    Ok(())
}
