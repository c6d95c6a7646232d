//! The tables of a corpus that `create_corpus` makes, in a schema of the caller and with the caller's rights.

use crate::error::Result;
use crate::retrieve::lexemes::LONGEST_TEXT;
use crate::retrieve::lexical;
use crate::retrieve::vector_schema;
use crate::sql;
use crate::store::corpora::{Column, Corpus, LONGEST_TITLE, Mapping, Side};

/// Column with the text of a passage.
const CONTENT: &str = "content";
/// Column with the title and the headings above a passage.
const HEADING: &str = "heading";
/// Column with the text search configuration of a passage, if documents have their own.
const TEXT_CONFIG: &str = "text_config";

/// Columns with the tenant and the principals of a row, in all three tables.
#[derive(Clone, Copy, Debug, Default)]
pub struct RowColumns<'a> {
    pub tenant: Option<&'a str>,
    pub principals: Option<&'a str>,
}

impl RowColumns<'_> {
    /// Their definitions, each after a comma.
    fn definitions(self) -> String {
        let tenant = self
            .tenant
            .map(|name| format!(", {} text NOT NULL", sql::ident(name)));
        let principals = self
            .principals
            .map(|name| format!(", {} text[] NOT NULL DEFAULT '{{}}'", sql::ident(name)));
        tenant.into_iter().chain(principals).collect()
    }

    /// Creates the indexes for them.
    fn create_indexes(self, passages: &str) -> Result<()> {
        if let Some(tenant) = self.tenant {
            sql::run_ddl(&format!(
                "CREATE INDEX ON {passages} ({})",
                sql::ident(tenant)
            ))?;
        }
        if let Some(principals) = self.principals {
            sql::run_ddl(&format!(
                "CREATE INDEX ON {passages} USING gin ({})",
                sql::ident(principals)
            ))?;
        }
        Ok(())
    }
}

/// Returns the mapping of the tables that [`make_tables`] makes.
pub fn mapping(embedding: bool, per_document: bool, columns: RowColumns<'_>) -> Mapping {
    let passages = [
        ("chunk_id", "chunk_id"),
        ("content", CONTENT),
        ("doc_id", "doc_id"),
        ("version", "version"),
        ("ordinal", "ordinal"),
        ("tokens", "tokens"),
        ("char_start", "char_start"),
        ("char_end", "char_end"),
        ("page_start", "page_start"),
        ("page_end", "page_end"),
        ("content_hash", "content_hash"),
        ("heading", HEADING),
        ("metadata", "metadata"),
        ("lexemes", "lexemes"),
    ];
    let documents = [
        ("documents_doc_id", "doc_id"),
        ("document_version", "version"),
        ("title", "title"),
        ("uri", "uri"),
        ("published", "published"),
        ("modified_at", "modified_at"),
        ("page_count", "page_count"),
    ];
    let embedding = embedding.then_some(("embedding", "embedding"));
    let text_config = per_document.then_some(("text_config_column", TEXT_CONFIG));
    let tenant = columns.tenant.map(|name| ("tenant_column", name));
    let principals = columns.principals.map(|name| ("principals_column", name));
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
        .chain(text_config)
        .chain(tenant)
        .chain(principals)
        .map(|pair| column(Side::Passages, pair))
        .chain(
            documents
                .into_iter()
                .map(|pair| column(Side::Documents, pair)),
        )
        .collect()
}

/// Returns the definition of a generated column. The lexical branch reads it if row-level security forbids the use of the
/// index.
fn lexemes_column(text_config: &str, per_document: bool) -> String {
    let own = format!("{}::pg_catalog.regconfig", sql::literal(text_config));
    let config = match per_document {
        true => format!("coalesce(reground.find_text_config({TEXT_CONFIG}), {own})"),
        false => own,
    };
    format!(
        "lexemes tsvector GENERATED ALWAYS AS ({}) STORED",
        lexemes_of(&config, HEADING, CONTENT)
    )
}

/// Returns the expression for the lexemes of a passage. Words of the heading have the weight A.
pub fn lexemes_of(config: &str, heading: &str, content: &str) -> String {
    format!(
        "pg_catalog.setweight(pg_catalog.to_tsvector({config}, pg_catalog.left(coalesce({heading}, ''), {LONGEST_TITLE})), 'A') \
         OPERATOR(pg_catalog.||) pg_catalog.to_tsvector({config}, pg_catalog.left({content}, {LONGEST_TEXT}))"
    )
}

/// How the texts of a corpus are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading<'a> {
    /// Text search configuration.
    pub text_config: &'a str,
    /// Whether documents can have their own.
    pub per_document: bool,
    /// How many times a word of a heading counts.
    pub title_weight: u8,
}

impl Reading<'_> {
    /// Returns the statement for the lexical index.
    fn create_index_on(self, passages: &str, tenants: Option<&str>) -> String {
        let texts = match self.title_weight {
            0 => CONTENT.to_owned(),
            _ => format!("ARRAY[{HEADING}, {CONTENT}]"),
        };
        let indexed = match (self.per_document, self.title_weight) {
            (true, _) => format!("reground.in_language({texts}, {TEXT_CONFIG})"),
            (false, 0) => texts,
            (false, _) => format!("({texts})"),
        };
        let titles = usize::from(self.title_weight > 0);
        lexical::create_index_on(
            passages,
            (&indexed, tenants.map(|column| (column, "text"))),
            self.text_config,
            titles,
            self.title_weight,
        )
    }
}

/// Returns the statement for the index that finds the configurations of documents. The index is empty if no document has its
/// own.
fn configs_index(passages: &str) -> String {
    format!("CREATE INDEX ON {passages} ({TEXT_CONFIG}) WHERE {TEXT_CONFIG} IS NOT NULL")
}

/// Names of the tables of a corpus, qualified and quoted.
pub struct TableNames {
    pub passages: String,
    pub documents: String,
    /// Passages of earlier versions.
    pub history: String,
}

/// The properties of the tables of a new corpus.
#[derive(Clone, Copy)]
pub struct Layout<'a> {
    /// Dimensions of the embeddings; `None` without them.
    pub dimensions: Option<i32>,
    pub embedding_type: &'a str,
    pub columns: RowColumns<'a>,
    /// Whether Citus distributes the tables by document.
    pub distribute: bool,
}

impl Layout<'_> {
    /// The columns of a primary key. In a distributed table, each unique index needs the distribution column.
    fn key(self, columns: &str) -> String {
        match self.distribute {
            true => format!("PRIMARY KEY (doc_id, {columns})"),
            false => format!("PRIMARY KEY ({columns})"),
        }
    }

    /// Distributes a new table, with the rows of a document on the server that has them in the table `with`.
    fn distribute(self, table: &str, with: &str) -> Result<()> {
        if !self.distribute {
            return Ok(());
        }
        sql::run_ddl(&format!(
            "SELECT pg_catalog.create_distributed_table({}, 'doc_id', colocate_with => {})",
            sql::literal(table),
            sql::literal(with)
        ))
    }
}

/// Creates the tables of a corpus, with their indexes.
pub fn make_tables(tables: &TableNames, reading: Reading<'_>, layout: Layout<'_>) -> Result<()> {
    let columns = layout.columns;
    let more = columns.definitions();
    let TableNames {
        passages,
        documents,
        history,
    } = tables;
    sql::run_ddl(&format!(
        "CREATE TABLE {documents} (doc_id text NOT NULL, version integer NOT NULL, title text, uri text, published timestamptz, modified_at timestamptz, \
             media_type text, language text, page_count integer, metadata jsonb NOT NULL DEFAULT '{{}}', content text, text_config text, \
             indexed_at timestamptz NOT NULL DEFAULT now(), replaced_at timestamptz, earlier_descriptions jsonb NOT NULL DEFAULT '[]', positions jsonb, \
             PRIMARY KEY (doc_id, version){more})"
    ))?;
    layout.distribute(documents, "none")?;
    let embedding = match layout.dimensions {
        Some(count) => format!(
            "embedding {}.{}({count}), embedding_model text, ",
            vector_schema()?,
            layout.embedding_type
        ),
        None => String::new(),
    };
    sql::run_ddl(&format!(
        "CREATE TABLE {passages} (chunk_id bigint GENERATED ALWAYS AS IDENTITY, doc_id text NOT NULL, version integer NOT NULL, \
             ordinal integer NOT NULL, content text NOT NULL, tokens integer NOT NULL, char_start integer, char_end integer, page_start integer, \
             page_end integer, content_hash text NOT NULL, heading text, {embedding}metadata jsonb NOT NULL DEFAULT '{{}}', {}{}, {}{more})",
        if reading.per_document {
            "text_config text, "
        } else {
            ""
        },
        lexemes_column(reading.text_config, reading.per_document),
        layout.key("chunk_id")
    ))?;
    layout.distribute(passages, documents)?;
    if layout.distribute {
        sql::run_ddl(&format!("CREATE INDEX ON {passages} (chunk_id)"))?;
    }
    sql::run_ddl(&format!("CREATE INDEX ON {passages} (doc_id, ordinal)"))?;
    sql::run_ddl(&reading.create_index_on(passages, columns.tenant))?;
    if reading.per_document {
        sql::run_ddl(&configs_index(passages))?;
    }
    columns.create_indexes(passages)?;
    make_history(history, layout)?;
    layout.distribute(history, documents)?;
    sql::run_ddl(&format!("CREATE INDEX ON {history} (doc_id, version)"))?;
    for (relation, comment) in [
        (
            history,
            "Passages of a reground corpus in the earlier versions of its documents; written by reground.put_document, read with as_of.",
        ),
        (
            documents,
            "Documents of a reground corpus, one row per version; written by reground.put_document.",
        ),
        (
            passages,
            "Passages of a reground corpus: chunks of the current version of each document; written by reground.put_document.",
        ),
    ] {
        sql::run_ddl(&format!(
            "COMMENT ON TABLE {relation} IS {}",
            sql::literal(comment)
        ))?;
    }
    Ok(())
}

/// Creates the table of the passages of earlier versions. A row without content and hash has those of the row with the same chunk_id that left
/// the corpus last: the current one, or the one with `is_last`. So a passage that stays costs no second copy of text and embedding. The
/// column of embeddings has no fixed number of dimensions, because a corpus can change its model.
fn make_history(history: &str, layout: Layout<'_>) -> Result<()> {
    sql::run_ddl(&format!(
        "CREATE TABLE {history} (chunk_id bigint NOT NULL, doc_id text NOT NULL, version integer NOT NULL, ordinal integer NOT NULL, content text, \
             tokens integer, char_start integer, char_end integer, page_start integer, page_end integer, content_hash text, \
             heading text, embedding {}.{}, metadata jsonb NOT NULL, is_last boolean NOT NULL, {}{})",
        vector_schema()?,
        layout.embedding_type,
        layout.key("chunk_id, version"),
        layout.columns.definitions()
    ))
}

/// Rebuilds the lexemes and the index of a corpus, for another text search configuration or for one per document. `corpus` is
/// its state before the change. This also restores an index and a column that a dropped configuration took with it.
pub fn reread(corpus: &Corpus, reading: Reading<'_>) -> Result<()> {
    let relation = corpus.relation.as_deref().unwrap_or_default();
    let per_document = reading.per_document;
    let was_per_document = corpus.mapping.contains_key("text_config_column");
    drop_indexes(relation)?;
    let mut changes = Vec::new();
    // DROP TEXT SEARCH CONFIGURATION … CASCADE also drops the column.
    if corpus.column_type("lexemes").is_some() {
        changes.push("DROP COLUMN lexemes".to_owned());
    }
    match (was_per_document, per_document) {
        (false, true) => changes.push(format!("ADD COLUMN {TEXT_CONFIG} text")),
        (true, false) => changes.push(format!("DROP COLUMN {TEXT_CONFIG}")),
        _ => {}
    }
    if !changes.is_empty() {
        sql::run_ddl(&format!("ALTER TABLE {relation} {}", changes.join(", ")))?;
    }
    if per_document && !was_per_document {
        // The configuration of a passage is the language that put_document got.
        sql::run(
            &format!(
                "UPDATE {relation} AS p SET {TEXT_CONFIG} = d.text_config FROM {} AS d WHERE d.doc_id = p.doc_id AND d.version = p.version AND d.text_config IS NOT NULL",
                corpus.documents.as_deref().unwrap_or_default()
            ),
            &[],
        )?;
        sql::run_ddl(&configs_index(relation))?;
    }
    sql::run_ddl(&format!(
        "ALTER TABLE {relation} ADD COLUMN {}",
        lexemes_column(reading.text_config, per_document)
    ))?;
    sql::run_ddl(&reading.create_index_on(relation, corpus.tenants_of_passages()))?;
    Ok(())
}

/// Rebuilds the lexical index of a corpus, for another weight of the headings.
pub fn reindex(corpus: &Corpus, reading: Reading<'_>) -> Result<()> {
    let relation = corpus.relation.as_deref().unwrap_or_default();
    drop_indexes(relation)?;
    sql::run_ddl(&reading.create_index_on(relation, corpus.tenants_of_passages()))?;
    Ok(())
}

fn drop_indexes(relation: &str) -> Result<()> {
    for index in lexical::indexes_of(relation)? {
        sql::run_ddl(&format!("DROP INDEX {index}"))?;
    }
    Ok(())
}
