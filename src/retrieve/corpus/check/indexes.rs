//! Checks of the indexes that searches use.

use reground_grounding::settings::{LexicalStatistics, Settings};

use super::finding::Finding;
use crate::error::Result;
use crate::retrieve::lexical::{self, Difference};
use crate::retrieve::{vector, vector_schema};
use crate::sql;
use crate::store::corpora::{Corpus, Side, map_command};

/// Maximum number of dimensions of a vector in an HNSW index of pgvector. A halfvec may have 4,000.
const MAX_VECTOR_DIMENSIONS: i32 = 2000;

/// Checks the indexes only. This does not read the table.
pub fn indexes(corpus: &Corpus) -> Result<Vec<Finding>> {
    let Some(relation) = &corpus.relation else {
        return Ok(Vec::new());
    };
    let mut findings = vec![lexical_index(corpus, relation)?];
    if let Some(mapped) = corpus.mapping.get("embedding") {
        findings.push(vector_index(corpus, relation, &mapped.column)?);
    }
    Ok(findings)
}

/// Whether a relation can have indexes. A view cannot.
pub fn can_have_indexes(relation: &str) -> Result<bool> {
    let kind = "SELECT c.relkind IN ('r', 'p', 'm') FROM pg_class AS c WHERE c.oid = $1::regclass";
    Ok(sql::read_one::<bool>(kind, &[relation.into()])? == Some(true))
}

/// Checks that the vector branch has an index.
pub fn vector_index(corpus: &Corpus, relation: &str, column: &str) -> Result<Finding> {
    if let Some(index) = vector::index(corpus)? {
        return Ok(Finding::ok("vector index", index.name));
    }
    let command = match can_have_indexes(relation)? {
        true => Some(create_vector_index(corpus, relation, column)?),
        false => None,
    };
    Ok(Finding::warning(
        "vector index",
        "none for this metric: every search compares all embeddings (exact; slow on a large table)",
        command,
    ))
}

/// Returns the CREATE INDEX statement for a column. A vector of more than 2,000 dimensions can be indexed as halfvec only.
fn create_vector_index(corpus: &Corpus, relation: &str, column: &str) -> Result<String> {
    let schema = vector_schema()?;
    let class = vector::operator_class(corpus);
    let column = sql::ident(column);
    let kind = corpus.embedding_kind().unwrap_or("vector");
    Ok(match corpus.dimensions {
        Some(count) if kind == "vector" && count > MAX_VECTOR_DIMENSIONS => format!(
            "CREATE INDEX ON {relation} USING hnsw (({column}::{schema}.halfvec({count})) {schema}.halfvec_{class});"
        ),
        _ => format!("CREATE INDEX ON {relation} USING hnsw ({column} {schema}.{kind}_{class});"),
    })
}

/// A finding about an index that is used although it differs from the corpus.
fn other_index(corpus: &Corpus, name: &str, difference: Difference) -> Result<Finding> {
    let create = lexical::create_index(corpus)?.unwrap_or_default();
    Ok(match difference {
        Difference::NoTenants => Finding::warning(
            "lexical index",
            format!(
                "{name} does not contain the column of tenants: a search of a small tenant reads the words of all"
            ),
            Some(format!("{create}; DROP INDEX {name};")),
        ),
        Difference::NoTitles => Finding::warning(
            "lexical index",
            format!("{name} does not contain the titles: the lexical branch searches without them"),
            Some(format!("{create};")),
        ),
        Difference::Weights => Finding::warning(
            "lexical index",
            format!(
                "{name} was built with other weights than title_weight, {}",
                corpus.title_weight
            ),
            Some(format!("{create}; DROP INDEX {name};")),
        ),
    })
}

/// Finds titles that the lexical branch cannot search.
pub fn titles(corpus: &Corpus) -> Vec<Finding> {
    let unsearched = corpus.unsearched_titles().into_iter();
    let finding = |meaning: &str| {
        let column = corpus.mapping.get(meaning);
        let in_documents = column.is_some_and(|column| column.side == Side::Documents);
        match in_documents {
            true => Finding::ok(
                meaning,
                "in the relation of the documents: embedded with the text, but not searched by words, because an index on the passages cannot read it",
            ),
            false => Finding::warning(
                meaning,
                format!(
                    "the column is of type {}, not a text: it is not searched",
                    corpus.column_type(meaning).unwrap_or("unknown")
                ),
                Some(map_command(corpus, meaning, None)),
            ),
        }
    };
    unsearched.map(finding).collect()
}

/// A finding about the index of a table with rows that are hidden from callers.
fn with_hidden_rows(corpus: &Corpus, name: &str) -> Finding {
    let statistics = Settings::default().lexical_statistics_of(&corpus.settings);
    if statistics == LexicalStatistics::All {
        return Finding::ok(
            "lexical index",
            format!(
                "{name}; hidden rows stay hidden, but their words influence scores (lexical_statistics = all)"
            ),
        );
    }
    let corpus = sql::literal(&corpus.name);
    Finding::warning(
        "lexical index",
        format!(
            "{name}: not used if rows are hidden from the caller; each search then reads all visible passages (lexical_statistics = visible)"
        ),
        Some(format!(
            "To use the index: SELECT reground.alter_corpus({corpus}, settings => '{{\"lexical_statistics\": \"all\"}}'); hidden rows then influence scores."
        )),
    )
}

/// Checks that the lexical branch has an index.
pub fn lexical_index(corpus: &Corpus, relation: &str) -> Result<Finding> {
    if let Some(index) = lexical::index(corpus)? {
        if let Some(difference) = index.difference {
            return other_index(corpus, &index.name, difference);
        }
        return Ok(match index.may_hide_rows {
            true => with_hidden_rows(corpus, &index.name),
            false => Finding::ok("lexical index", index.name),
        });
    }
    let command = match can_have_indexes(relation)? {
        true => lexical::create_index(corpus)?.map(|command| format!("{command};")),
        false => None,
    };
    let config = corpus.mapping.get("text_config_column");
    let in_documents = config.is_some_and(|column| column.side == Side::Documents);
    if command.is_none() && in_documents {
        return Ok(Finding::warning(
            "lexical index",
            "none, and none is possible: the text search configuration of a passage is in the relation of the documents, which an index on the passages cannot read; every search reads all passages (exact; slow on a large table)",
            Some("Add a column with the configuration to the passages, and map it: alter_corpus(…, mapping => '{\"text_config_column\": \"…\"}').".into()),
        ));
    }
    Ok(Finding::warning(
        "lexical index",
        "none: every search reads all passages (exact; slow on a large table)",
        command,
    ))
}
