//! Checks of the embedding column.

use serde::Deserialize;

use super::finding::Finding;
use super::indexes;
use crate::error::Result;
use crate::retrieve::{mapping, vector_schema};
use crate::sql;
use crate::store::corpora::{Corpus, map_command};

/// Checks the type and the dimensions of the embedding column, that all passages have an embedding, and that there is an
/// index.
pub fn embeddings(corpus: &Corpus, relation: &str) -> Result<Vec<Finding>> {
    let (Some(column), Some(mapped)) =
        (corpus.column("embedding"), corpus.mapping.get("embedding"))
    else {
        return Ok(vec![no_column(corpus)]);
    };
    if corpus.embedding_kind().is_none() {
        return Ok(vec![wrong_type(corpus, relation, &mapped.column)?]);
    }
    let mut findings = Vec::new();
    let (_, dimensions) = mapping::embedding_column(relation, &mapped.column)?;
    if dimensions != corpus.dimensions {
        findings.push(Finding::error(
            "embedding",
            "the column has other dimensions than when it was registered",
            Some(map_command(corpus, "embedding", Some(&mapped.column))),
        ));
    }
    findings.push(coverage(corpus, &column)?);
    findings.push(indexes::vector_index(corpus, relation, &mapped.column)?);
    findings.extend(unused_columns(corpus, relation));
    Ok(findings)
}

/// Columns of vectors of a managed corpus that a change of the model has left.
fn unused_columns(corpus: &Corpus, relation: &str) -> Vec<Finding> {
    if !corpus.managed {
        return Vec::new();
    }
    let is_mapped = |name: &str| corpus.mapping.values().any(|column| column.column == name);
    let is_ours = |name: &str| {
        name.strip_prefix("embedding")
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    let vectors = corpus.passage_columns.iter().filter(|(name, kind)| {
        is_ours(name)
            && !is_mapped(name)
            && (kind.ends_with(".vector") || kind.ends_with(".halfvec"))
    });
    let finding = |(name, _): (&String, _)| {
        Finding::warning(
            "unused embedding",
            format!("column \"{name}\" has the vectors of a model that is not used any more"),
            Some(format!(
                "ALTER TABLE {relation} DROP COLUMN {};",
                sql::ident(name)
            )),
        )
    };
    vectors.map(finding).collect()
}

fn no_column(corpus: &Corpus) -> Finding {
    let hint = match corpus.managed {
        true => "Create the corpus with dimensions => ….".into(),
        false => map_command(corpus, "embedding", Some("…")),
    };
    let detail = "no embedding column: lexical search only";
    Finding::warning("embedding", detail, Some(hint))
}

fn wrong_type(corpus: &Corpus, relation: &str, column: &str) -> Result<Finding> {
    let kind = corpus.column_type("embedding").unwrap_or("unknown");
    Ok(Finding::error(
        "embedding",
        format!(
            "column \"{column}\" is of type {kind}: no vector search, and no embedding can be stored"
        ),
        Some(format!(
            "ALTER TABLE {relation} ALTER COLUMN {name} TYPE {schema}.vector USING {name}::{schema}.vector;",
            name = sql::ident(column),
            schema = vector_schema()?
        )),
    ))
}

/// Counts the passages with an embedding.
fn coverage(corpus: &Corpus, column: &str) -> Result<Finding> {
    #[derive(Default, Deserialize)]
    struct Counts {
        passages: i64,
        embedded: i64,
    }
    let statement = format!(
        "SELECT jsonb_build_object('passages', count(*), 'embedded', count({column}))::text FROM {}",
        corpus.embedded_passages()?
    );
    let counts: Counts = sql::read_json(&statement, &[])?.unwrap_or_default();
    let detail = format!(
        "{} of {} passages have an embedding",
        counts.embedded, counts.passages
    );
    if counts.passages == counts.embedded {
        return Ok(Finding::ok("embedding", detail));
    }
    let hint = match &corpus.embedding_model {
        Some(_) => {
            "SELECT * FROM reground.embedding_progress; shows what the worker does.".to_owned()
        }
        None => format!(
            "SELECT * FROM reground.pending_embeddings({});",
            sql::literal(&corpus.name)
        ),
    };
    Ok(Finding::warning("embedding", detail, Some(hint)))
}
