//! A corpus with its mapped columns, and the SQL expressions that read them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::sql::{self, PLAN_EACH_TIME};
use crate::store::roles::Roles;

/// The relation of a corpus that has a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The relation of the passages.
    Passages,
    /// The relation of the documents.
    Documents,
}

/// A mapped column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// The relation that has the column.
    #[serde(rename = "in")]
    pub side: Side,
    /// Name of the column.
    pub column: String,
}

/// Meanings whose columns contain integers.
pub const INTEGERS: [&str; 8] = [
    "version",
    "ordinal",
    "page_start",
    "page_end",
    "page_count",
    "char_start",
    "char_end",
    "tokens",
];

/// Maximum number of characters that are read of a title or heading.
pub const LONGEST_TITLE: i32 = 1_000;

/// Columns by meaning.
pub type Mapping = BTreeMap<String, Column>;

/// A registered corpus, with the current columns of its relations.
#[derive(Clone, Debug, Deserialize)]
pub struct Corpus {
    pub corpus_id: i64,
    pub tenant: Option<String>,
    #[serde(rename = "corpus")]
    pub name: String,
    /// The relation of the passages, qualified and quoted; `None` if it was dropped.
    pub relation: Option<String>,
    /// The relation of the documents, qualified and quoted, if it is mapped and exists.
    pub documents: Option<String>,
    /// The table of the passages of earlier versions, qualified and quoted; `None` if there is none, or it was dropped.
    pub history: Option<String>,
    /// Whether a relation of documents is mapped.
    pub has_documents: bool,
    /// The oids of its relations.
    tables: Vec<u32>,
    /// Whether create_corpus made the relations.
    pub managed: bool,
    pub mapping: Mapping,
    pub dimensions: Option<i32>,
    pub embedding_type: Option<String>,
    pub metric: String,
    pub text_config: String,
    /// How many times a word of a title or heading counts; 0 if titles are not searched.
    pub title_weight: u8,
    /// Newest versions of a document that are kept although nothing cites them; 0: all.
    pub keep_versions: Option<i32>,
    pub chunking: Value,
    pub settings: Value,
    #[serde(flatten)]
    pub roles: Roles,
    /// Model that keeps the embeddings up to date; `None` if the application does.
    pub embedding_model: Option<String>,
    /// Model whose vectors are being computed, to replace it.
    pub next_embedding_model: Option<String>,
    /// Whether row-level security or a view could hide rows from the role that read the registration.
    has_policies: bool,
    /// Whether the relation of the passages is a table all of which that role may read, so that its rows have addresses.
    shows_addresses: bool,
    /// Quoted name of pgvector's schema.
    pub(super) vector_schema: Option<String>,
    /// Types of the columns of the relation of the passages.
    pub passage_columns: BTreeMap<String, String>,
    /// Types of the columns of the relation of the documents.
    pub document_columns: BTreeMap<String, String>,
    /// The rows of an earlier time, which then replace the current rows.
    #[serde(skip)]
    pub past: Option<Past>,
}

/// The rows of a corpus at an earlier time, as subqueries with the columns of its relations.
#[derive(Clone, Debug)]
pub struct Past {
    /// Passages of all times.
    pub passages: String,
    /// Versions of the documents that were current at that time, with their descriptions of that time.
    pub documents: String,
}

/// Built-in types that keys and filtered columns usually have. They are not looked up, which would cost time in every turn.
const BUILT_IN: [&str; 9] = [
    "text",
    "character varying",
    "smallint",
    "integer",
    "bigint",
    "uuid",
    "boolean",
    "date",
    "timestamp with time zone",
];

/// Schema of the comparison operators of a type: that of its default B-tree operator class.
pub fn operator_schema(kind: &str) -> Result<String> {
    if BUILT_IN.contains(&kind) {
        return Ok("pg_catalog".into());
    }
    let schema = sql::with_pinned_path(|| {
        sql::read_one::<String>(
            "SELECT quote_ident(n.nspname) FROM pg_opclass c JOIN pg_amop a ON a.amopfamily = c.opcfamily \
             AND a.amoplefttype = c.opcintype AND a.amoprighttype = c.opcintype AND a.amopstrategy = 3 \
             JOIN pg_operator o ON o.oid = a.amopopr JOIN pg_namespace n ON n.oid = o.oprnamespace \
             JOIN pg_am m ON m.oid = c.opcmethod AND m.amname = 'btree' \
         WHERE c.opcdefault AND c.opcintype = $1::regtype::oid",
            &[kind.into()],
        )
    })?;
    // Types without an operator class (varchar, enums, arrays) use the operators of the type that they are coerced to.
    Ok(schema.unwrap_or_else(|| "pg_catalog".into()))
}

impl Corpus {
    /// Whether one of its relations was dropped.
    pub fn is_gone(&self) -> bool {
        self.relation.is_none() || (self.has_documents && self.documents.is_none())
    }

    /// The column of a meaning as SQL, from the aliases `p` (passages) and `d` (documents).
    pub fn column(&self, meaning: &str) -> Option<String> {
        let column = self.mapping.get(meaning)?;
        let alias = match column.side {
            Side::Passages => "p",
            Side::Documents => "d",
        };
        Some(format!("{alias}.{}", sql::ident(&column.column)))
    }

    /// Expression for the configuration or language of a row; `None` without a mapped column.
    pub fn named_config(&self) -> Option<String> {
        let column = self.column("text_config_column")?;
        Some(match self.column_type("text_config_column") {
            Some("regconfig") => format!(
                "(SELECT format('%I.%I', n.nspname, c.cfgname) FROM pg_ts_config AS c \
                     JOIN pg_namespace AS n ON n.oid = c.cfgnamespace WHERE c.oid = {column}::oid)"
            ),
            _ => format!("{column}::text"),
        })
    }

    /// Expression for the text search configuration that applies to a row.
    pub fn row_config(&self) -> String {
        let own = format!("{}::regconfig", sql::literal(&self.text_config));
        let Some(column) = self.column("text_config_column") else {
            return own;
        };
        let found = match self.column_type("text_config_column") {
            Some("regconfig") => format!(
                "(SELECT c.oid::regconfig FROM pg_ts_config AS c WHERE c.oid = {column}::oid)"
            ),
            _ => format!("reground.find_text_config({column}::text)"),
        };
        format!("coalesce({found}, {own})")
    }

    /// Meanings of the columns with the title and the headings of a passage. In a managed corpus, the heading begins with the title. None
    /// if titles are not searched.
    fn titles(&self) -> &'static [&'static str] {
        match (self.title_weight, self.managed) {
            (0, _) => &[],
            (_, true) => &["heading"],
            (_, false) => &["title", "heading"],
        }
    }

    /// Meanings of the titles that the lexical branch searches: columns of texts in the relation of the passages. An index on the
    /// passages cannot read another relation.
    pub fn searched_titles(&self) -> Vec<&'static str> {
        let all = self.titles().iter().copied();
        let is_searched = |meaning: &&str| {
            let column = self.mapping.get(*meaning);
            column.is_some_and(|column| column.side == Side::Passages) && self.is_text(meaning)
        };
        all.filter(is_searched).collect()
    }

    /// Meanings of mapped titles that the lexical branch cannot search.
    pub fn unsearched_titles(&self) -> Vec<&'static str> {
        let searched = self.searched_titles();
        let all = self.titles().iter().copied();
        all.filter(|meaning| self.mapping.contains_key(*meaning) && !searched.contains(meaning))
            .collect()
    }

    /// The columns with the titles that are embedded.
    pub fn mapped_titles(&self) -> Vec<Column> {
        let all = self.titles().iter().copied();
        all.filter(|meaning| self.is_text(meaning))
            .filter_map(|meaning| self.mapping.get(meaning).cloned())
            .collect()
    }

    /// Whether a column has a built-in type of texts. The conversion of other types to text may not be immutable.
    fn is_text(&self, meaning: &str) -> bool {
        matches!(
            self.column_type(meaning),
            Some("text" | "character varying" | "character" | "name")
        )
    }

    /// Expression that a lexical index is on: the text, or an array of the titles and the text, with the configuration of the row if it
    /// is mapped. `alias` is put before the column names, and `titles` are the meanings of the titles.
    pub fn indexed(&self, alias: &str, titles: &[&str]) -> Result<String> {
        let column = |meaning: &str| {
            let column = self.mapping.get(meaning);
            column.map(|column| format!("{alias}{}", sql::ident(&column.column)))
        };
        let as_text = |meaning: &str| {
            let column = column(meaning)?;
            Some(match self.column_type(meaning) {
                Some("text") => column,
                _ => format!("{column}::text"),
            })
        };
        let no_content = || Error::NoColumn {
            column: "content".to_owned(),
            relation: self.name.clone(),
        };
        let content = match titles {
            [] => column("content").ok_or_else(no_content)?,
            titles => {
                let texts = titles.iter().copied().chain(["content"]);
                let texts: Option<Vec<String>> = texts.map(as_text).collect();
                format!("ARRAY[{}]", texts.ok_or_else(no_content)?.join(", "))
            }
        };
        Ok(
            match (
                column("text_config_column"),
                self.column_type("text_config_column"),
            ) {
                (None, _) => content,
                (Some(config), Some("regconfig" | "text")) => {
                    format!("reground.in_language({content}, {config})")
                }
                (Some(config), _) => format!("reground.in_language({content}, {config}::text)"),
            },
        )
    }

    /// Expression for the text of a passage `p` that is embedded: the title and the headings, each on a line of its own, then the text.
    /// NULL without a text.
    pub fn embedded_text(&self) -> Result<String> {
        let content = self.required("content")?;
        let titles = self.titles().iter().copied();
        let mut lines: Vec<String> = Vec::new();
        for meaning in titles.filter(|meaning| self.is_text(meaning)) {
            let line = format!("left({}, {LONGEST_TITLE})", self.title(meaning)?);
            // A heading may repeat the title.
            let line = match lines.last() {
                Some(title) => format!("NULLIF(NULLIF({line}, ''), {title})"),
                None => format!("NULLIF({line}, '')"),
            };
            lines.push(line);
        }
        Ok(match lines.as_slice() {
            [] => format!("{content}::text"),
            // Without concat_ws, which is not immutable: an UPDATE of a distributed table could not compare the text.
            lines => {
                let lines = lines
                    .iter()
                    .map(|line| format!("coalesce({line} || E'\\n', '') || "));
                format!("{}{content}::text", lines.collect::<String>())
            }
        })
    }

    /// Expression for the title of a passage `p`. A title in the relation of the documents is read by a subquery, because an UPDATE of
    /// the passages cannot join it. If a document has several rows, the first title is used.
    fn title(&self, meaning: &str) -> Result<String> {
        let column = self.required(meaning)?;
        let is_joined = (self.mapping.get(meaning)).is_some_and(|of| of.side == Side::Documents);
        match (&self.documents, is_joined) {
            (Some(documents), true) => Ok(format!(
                "(SELECT min({column}::text) FROM {documents} AS d WHERE {})",
                self.is_document()?
            )),
            _ => Ok(format!("{column}::text")),
        }
    }

    /// The relation with the columns of a side.
    pub fn side(&self, side: Side) -> Option<&str> {
        match side {
            Side::Passages => self.relation.as_deref(),
            Side::Documents => self.documents.as_deref(),
        }
    }

    /// The type of the column of a meaning.
    pub fn column_type(&self, meaning: &str) -> Option<&str> {
        let column = self.mapping.get(meaning)?;
        let columns = match column.side {
            Side::Passages => &self.passage_columns,
            Side::Documents => &self.document_columns,
        };
        columns.get(&column.column).map(String::as_str)
    }

    /// Whether the rows of a relation are on other servers. An address is of one server.
    pub fn is_distributed(&self) -> Result<bool> {
        for &table in &self.tables {
            if sql::is_distributed(table.into())? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether statements of the caller can return addresses of passages.
    pub fn has_addresses(&self) -> Result<bool> {
        Ok(self.shows_addresses && self.past.is_none() && !self.is_distributed()?)
    }

    /// FROM clause for searches, and the columns of the address of a passage: the table and the row, or NULL. The documents are joined if
    /// `with_documents`, or if they decide which passages the caller may read, or have the searched columns.
    pub fn searched_relations(&self, with_documents: bool) -> Result<(String, &'static str)> {
        let searched = ["chunk_id", "content", "embedding", "text_config_column"];
        let is_there = |meaning: &str| {
            let column = self.mapping.get(meaning);
            column.is_none_or(|column| column.side == Side::Passages)
        };
        let with_documents = with_documents
            || self.past.is_some()
            || self.documents_decide()
            || !searched.into_iter().all(is_there);
        match self.has_addresses()? {
            true => Ok((
                self.relations_with(", p.tableoid, p.ctid", with_documents)?,
                "p.tableoid, p.ctid",
            )),
            false => Ok((
                self.relations_with("", with_documents)?,
                "NULL::oid, NULL::tid",
            )),
        }
    }

    /// FROM clause: passages `p`, joined with documents `d` if these are mapped, as far as the caller may read them.
    pub fn relations(&self) -> Result<String> {
        self.relations_with("", true)
    }

    /// FROM clause with more columns of the passages than `*`, with or without the documents.
    fn relations_with(&self, columns: &str, with_documents: bool) -> Result<String> {
        let from = match &self.past {
            Some(Past {
                passages,
                documents,
            }) => self.visible_relations(
                &format!("({passages})"),
                columns,
                Some(&format!("({documents})")),
            ),
            None => self.visible_relations(
                self.relation.as_deref().unwrap_or_default(),
                columns,
                self.documents.as_deref().filter(|_| with_documents),
            ),
        }?;
        // The rows that policies show can depend on settings.
        Ok(match self.has_policies {
            true => format!("{from} {PLAN_EACH_TIME}"),
            false => from,
        })
    }

    /// Condition that `d` is the document of the passage `p`.
    pub(super) fn is_document(&self) -> Result<String> {
        let (document, key) = (self.required("doc_id")?, self.required("documents_doc_id")?);
        let kinds = (
            self.column_type("doc_id"),
            self.column_type("documents_doc_id"),
        );
        let mut condition = match kinds {
            (Some(one), Some(other)) if one == other => {
                format!("{key} OPERATOR({}.=) {document}", operator_schema(one)?)
            }
            // Ids of different types are compared as text.
            _ => format!("{key}::text = {document}::text"),
        };
        if let (Some(version), Some(current)) =
            (self.column("document_version"), self.column("version"))
        {
            condition.push_str(&format!(" AND {version} = {current}"));
        }
        // Documents of two tenants can have the same id.
        if let (false, Some(tenant)) = (self.managed, self.mapping.get("tenant_column"))
            && tenant.side == Side::Passages
            && let Some(kind) = self.document_columns.get(&tenant.column)
        {
            let column = sql::ident(&tenant.column);
            condition.push_str(
                &match self.passage_columns.get(&tenant.column) == Some(kind) {
                    true => format!(" AND d.{column} = p.{column}"),
                    false => format!(" AND d.{column}::text = p.{column}::text"),
                },
            );
        }
        Ok(condition)
    }

    /// Whether the column of a meaning has a type of whole numbers.
    pub fn is_integer(&self, meaning: &str) -> bool {
        matches!(
            self.column_type(meaning),
            Some("smallint" | "integer" | "bigint" | "numeric")
        )
    }

    /// Expression for the integer of a meaning; NULL if it is not mapped, not an integer, or less than `least`.
    pub fn integer(&self, meaning: &str, least: i32) -> String {
        match self.column(meaning) {
            Some(column) if self.is_integer(meaning) => {
                // The literal has the type of the column, because PostgreSQL has no operator for numeric and integer.
                let kind = match self.column_type(meaning) {
                    Some("numeric") => "numeric",
                    _ => "integer",
                };
                format!(
                    "CASE WHEN {column} >= {least}::{kind} AND {column} <= {}::{kind} THEN {column}::integer END",
                    i32::MAX
                )
            }
            _ => "NULL::integer".to_owned(),
        }
    }

    /// Expression for the text of a meaning; NULL if it is not mapped.
    pub fn text(&self, meaning: &str) -> String {
        let column = self.column(meaning);
        column.map_or("NULL::text".to_owned(), |column| format!("{column}::text"))
    }

    /// Expression for the metadata. In a managed corpus, metadata of the passage override those of the document.
    pub fn metadata(&self) -> Option<String> {
        if self.managed {
            return Some("(d.metadata || p.metadata)".to_owned());
        }
        self.column("metadata")
    }

    /// The corpus without its column of hashes, so that hashes are computed from the texts.
    pub fn hashed_by_us(mut self) -> Self {
        self.mapping.remove("content_hash");
        self
    }

    /// The column of the chunk id as SQL.
    pub fn key(&self) -> Result<String> {
        self.required("chunk_id")
    }

    /// The column of a meaning that every corpus maps, as SQL.
    pub fn required(&self, meaning: &str) -> Result<String> {
        self.column(meaning).ok_or_else(|| Error::NoColumn {
            column: meaning.to_owned(),
            relation: self.name.clone(),
        })
    }

    /// Expression for the document id of a row as text. A passage without a document has its own id.
    pub fn document_text(&self) -> Result<String> {
        let (document, key) = (self.document()?, self.key()?);
        Ok(format!("coalesce({document}::text, {key}::text)"))
    }

    /// The column of the document id as SQL; that of the chunk id if no document id is mapped.
    pub fn document(&self) -> Result<String> {
        match self.column("doc_id") {
            Some(column) => Ok(column),
            None => self.key(),
        }
    }
}
