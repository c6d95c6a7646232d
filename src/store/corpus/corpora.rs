//! The table `corpora`, and the columns of the relations of a corpus.

use std::collections::BTreeMap;

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;
use reground_grounding::settings::Settings;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::run_as::as_owner;
use crate::sql::{self, Record};
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
    /// Whether a relation of documents is mapped.
    pub has_documents: bool,
    /// Whether create_corpus made the relations.
    pub managed: bool,
    pub mapping: Mapping,
    pub dimensions: Option<i32>,
    pub embedding_type: Option<String>,
    pub metric: String,
    pub text_config: String,
    pub chunking: Value,
    pub settings: Value,
    #[serde(flatten)]
    pub roles: Roles,
    /// Types of the columns of the relation of the passages.
    pub passage_columns: BTreeMap<String, String>,
    /// Types of the columns of the relation of the documents.
    pub document_columns: BTreeMap<String, String>,
}

/// A corpus to be registered.
#[derive(Debug, Serialize)]
pub struct NewCorpus<'a> {
    pub tenant: Option<&'a str>,
    pub corpus: &'a str,
    pub relation: String,
    pub documents: Option<String>,
    pub managed: bool,
    pub mapping: &'a Mapping,
    pub dimensions: Option<i32>,
    pub embedding_type: Option<&'a str>,
    pub metric: &'a str,
    pub text_config: &'a str,
    pub chunking: Value,
    pub settings: Value,
    #[serde(skip)]
    pub roles: Roles,
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
    Ok(sql::read_one::<String>(
        "SELECT quote_ident(n.nspname) FROM pg_opclass c JOIN pg_amop a ON a.amopfamily = c.opcfamily \
             AND a.amoplefttype = c.opcintype AND a.amoprighttype = c.opcintype AND a.amopstrategy = 3 \
             JOIN pg_operator o ON o.oid = a.amopopr JOIN pg_namespace n ON n.oid = o.oprnamespace \
             JOIN pg_am m ON m.oid = c.opcmethod AND m.amname = 'btree' \
         WHERE c.opcdefault AND c.opcintype = $1::regtype::oid",
        &[kind.into()],
    )?
    // Types without an operator class (varchar, enums, arrays) use the operators of the type that they are coerced to.
    .unwrap_or_else(|| "pg_catalog".into()))
}

/// A corpus that this role can read; `None` if the corpus, one of its relations or columns, or the privilege is missing.
pub fn usable(tenant: &str, name: &str) -> Result<Option<Corpus>> {
    match load(tenant, name) {
        Ok(corpus) if corpus.is_readable()? => Ok(Some(corpus)),
        Ok(_) | Err(Error::UnknownCorpus(_) | Error::RelationGone(_) | Error::NoColumn { .. }) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// As [`usable`], with hashes computed from the texts if the settings ask for that.
pub fn usable_under(settings: &Settings, tenant: &str, name: &str) -> Result<Option<Corpus>> {
    let corpus = usable(tenant, name)?;
    Ok(if settings.hashes_texts() {
        corpus.map(Corpus::hashed_by_us)
    } else {
        corpus
    })
}

/// Whether a corpus of `tenant` (`None`: a shared corpus) of this name would conflict with an existing one. A shared corpus conflicts with
/// those of all tenants.
pub fn is_taken(tenant: Option<&str>, name: &str) -> Result<bool> {
    Ok(as_owner(|| {
        sql::read_one::<bool>(
            "SELECT EXISTS (SELECT FROM reground.corpora WHERE corpus = $1 AND ($2::text IS NULL OR tenant IS NULL OR tenant = $2))",
            &[name.into(), tenant.into()],
        )
    })?
    .unwrap_or(false))
}

/// Expression for the types of the columns of a relation, as a jsonb object. Types outside `pg_catalog` are qualified.
const COLUMNS: &str = "(SELECT coalesce(jsonb_object_agg(a.attname, CASE n.nspname WHEN 'pg_catalog' THEN format_type(a.atttypid, -1) \
                                                                     ELSE format('%I.%I', n.nspname, t.typname) END), '{}') \
     FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid JOIN pg_namespace AS n ON n.oid = t.typnamespace \
     WHERE a.attrelid = RELATION::oid AND a.attnum > 0 AND NOT a.attisdropped)";

/// The corpus of this name that the tenant can see, if any: its own before a shared one.
pub fn find(tenant: &str, name: &str) -> Result<Option<Corpus>> {
    let query = format!(
        "SELECT row_to_json(r)::text FROM (SELECT c.corpus_id, c.tenant, c.corpus, c.managed, c.mapping, c.dimensions, c.embedding_type, \
             c.metric, c.text_config, c.chunking, c.settings, c.reranker_role::oid::bigint AS reranker_role, c.intent_role::oid::bigint AS intent_role, c.documents IS NOT NULL AS has_documents, \
             (SELECT format('%I.%I', n.nspname, p.relname) FROM pg_class p \
                 JOIN pg_namespace n ON n.oid = p.relnamespace WHERE p.oid = c.relation::oid) AS relation, \
             (SELECT format('%I.%I', n.nspname, p.relname) FROM pg_class p \
                 JOIN pg_namespace n ON n.oid = p.relnamespace WHERE p.oid = c.documents::oid) AS documents, \
             {} AS passage_columns, {} AS document_columns \
         FROM reground.corpora AS c WHERE c.corpus = $1 AND (c.tenant IS NULL OR c.tenant = $2) ORDER BY c.tenant NULLS LAST LIMIT 1) AS r",
        COLUMNS.replace("RELATION", "c.relation"),
        COLUMNS.replace("RELATION", "c.documents"),
    );
    sql::read_json(&query, &[name.into(), tenant.into()])
}

/// The lock on the registration of a corpus, by purpose.
#[derive(Clone, Copy)]
pub enum Hold {
    /// For writing its relations: prevents that it is dropped.
    Write,
    /// For changing its registration: one session at a time.
    Alter,
    /// For dropping it: waits for all writers.
    Drop,
}

/// The corpus of this name that the tenant can see, with its registration locked until the transaction ends. Every writer calls this
/// before it locks a relation, so that two writers cannot deadlock.
pub fn held(tenant: &str, name: &str, hold: Hold) -> Result<Corpus> {
    let lock = match hold {
        Hold::Write => "KEY SHARE",
        Hold::Alter => "NO KEY UPDATE",
        Hold::Drop => "UPDATE",
    };
    let unknown = || Error::UnknownCorpus(name.to_owned());
    as_owner(|| {
        sql::write_one::<i64>(
            &format!(
                "SELECT c.corpus_id FROM reground.corpora AS c WHERE c.corpus = $1 AND (c.tenant IS NULL OR c.tenant = $2) \
                 ORDER BY c.tenant NULLS LAST LIMIT 1 FOR {lock}"
            ),
            &[name.into(), tenant.into()],
        )
    })?
    .ok_or_else(unknown)?;
    // Read after the wait, because the previous holder of the lock may have changed the corpus.
    find(tenant, name)?.ok_or_else(unknown)
}

/// Lets other sessions that register a corpus of this name, for any tenant, wait until the transaction ends.
pub fn hold_name(name: &str) -> Result<()> {
    sql::lock_key("reground.corpora", 0, name)
}

/// The text search configuration of a corpus that the tenant can see.
pub fn text_config(tenant: &str, name: &str) -> Result<Option<String>> {
    sql::read_one(
        "SELECT c.text_config FROM reground.corpora AS c WHERE c.corpus = $1 AND (c.tenant IS NULL OR c.tenant = $2) \
         ORDER BY c.tenant NULLS LAST LIMIT 1",
        &[name.into(), tenant.into()],
    )
}

/// The corpus of this name.
///
/// # Errors
/// The corpus is unknown, or one of its relations or columns is missing.
pub fn load(tenant: &str, name: &str) -> Result<Corpus> {
    find(tenant, name)?
        .ok_or_else(|| Error::UnknownCorpus(name.to_owned()))?
        .in_place()
}

/// Names of the corpora that the tenant can see.
pub fn names(tenant: &str) -> Result<Vec<String>> {
    #[derive(Deserialize)]
    struct Row {
        corpus: String,
    }
    let rows: Vec<Row> = sql::read_rows(
        "SELECT corpus FROM reground.corpora WHERE tenant IS NULL OR tenant = $1 ORDER BY corpus",
        &[tenant.into()],
    )?;
    Ok(rows.into_iter().map(|row| row.corpus).collect())
}

/// The stored row of a corpus as JSON, to compare with [`would_store`].
pub fn stored(tenant: &str, name: &str) -> Result<Option<Value>> {
    sql::read_json(
        "SELECT to_jsonb(r)::text FROM (SELECT c.tenant, c.corpus, c.relation::oid::bigint AS relation, c.documents::oid::bigint AS documents, \
             c.managed, c.mapping, c.dimensions, c.embedding_type, c.metric, c.text_config, c.chunking, c.settings \
         FROM reground.corpora AS c WHERE c.corpus = $1 AND (c.tenant IS NULL OR c.tenant = $2) ORDER BY c.tenant NULLS LAST LIMIT 1) AS r",
        &[name.into(), tenant.into()],
    )
}

/// Columns of [`NewCorpus`], with the relations as text.
const NEW_CORPUS: Record = Record(&[
    "tenant text, corpus text, relation text, documents text, managed boolean, mapping jsonb, dimensions integer, embedding_type text",
    "metric text, text_config text, chunking jsonb, settings jsonb",
]);

/// The row that a registration would store, in the form of [`stored`].
pub fn would_store(new: &NewCorpus<'_>) -> Result<Value> {
    let row = sql::json(new)?;
    Ok(sql::read_json(
        &format!(
            "SELECT to_jsonb(r)::text FROM (SELECT x.tenant, x.corpus, x.relation::regclass::oid::bigint AS relation, \
                 x.documents::regclass::oid::bigint AS documents, x.managed, x.mapping, x.dimensions, x.embedding_type, x.metric, x.text_config, \
                 x.chunking, x.settings \
             FROM json_to_record($1::json) AS x({NEW_CORPUS})) AS r"
        ),
        &[row.into()],
    )?
    .unwrap_or_default())
}

/// Registers a corpus.
pub fn insert(new: &NewCorpus<'_>) -> Result<()> {
    let row = sql::json(new)?;
    as_owner(|| {
        sql::run(
            &format!(
                "INSERT INTO reground.corpora (tenant, corpus, relation, documents, managed, mapping, dimensions, embedding_type, metric, text_config, chunking, \
                     settings, reranker_role, intent_role) \
                 SELECT x.tenant, x.corpus, x.relation::regclass, x.documents::regclass, x.managed, x.mapping, x.dimensions, x.embedding_type, x.metric, \
                     x.text_config, x.chunking, x.settings, $2::oid::regrole, $3::oid::regrole \
                 FROM json_to_record($1::json) AS x({NEW_CORPUS})"
            ),
            &[
                row.into(),
                new.roles.reranker_role.map(pg_sys::Oid::from_u32).into(),
                new.roles.intent_role.map(pg_sys::Oid::from_u32).into(),
            ],
        )
    })?;
    Ok(())
}

/// Stores the properties that `alter_corpus` can change.
pub fn update(corpus: &Corpus) -> Result<()> {
    let args: [DatumWithOid<'_>; 9] = [
        corpus.corpus_id.into(),
        sql::json(&corpus.settings)?.into(),
        sql::json(&corpus.mapping)?.into(),
        corpus.metric.as_str().into(),
        corpus.text_config.as_str().into(),
        corpus.dimensions.into(),
        corpus.embedding_type.as_deref().into(),
        corpus.roles.reranker_role.map(pg_sys::Oid::from_u32).into(),
        corpus.roles.intent_role.map(pg_sys::Oid::from_u32).into(),
    ];
    as_owner(|| {
        sql::run(
            "UPDATE reground.corpora SET settings = $2::jsonb, mapping = $3::jsonb, metric = $4, text_config = $5, dimensions = $6, embedding_type = $7, \
                 reranker_role = $8::oid::regrole, intent_role = $9::oid::regrole \
             WHERE corpus_id = $1",
            &args,
        )
    })?;
    Ok(())
}

/// Deletes the registration of a corpus, with its rows in `documents` and `edges`.
pub fn delete(corpus_id: i64) -> Result<()> {
    as_owner(|| {
        sql::run(
            "DELETE FROM reground.corpora WHERE corpus_id = $1",
            &[corpus_id.into()],
        )
    })?;
    Ok(())
}

impl Corpus {
    /// Whether one of its relations was dropped.
    pub fn is_gone(&self) -> bool {
        self.relation.is_none() || (self.has_documents && self.documents.is_none())
    }

    /// Returns the corpus if its relations and mapped columns exist, and a superuser may read them safely.
    pub fn in_place(self) -> Result<Self> {
        if self.is_gone() {
            return Err(Error::RelationGone(self.name));
        }
        for column in self.mapping.values() {
            let (columns, relation) = match column.side {
                Side::Passages => (&self.passage_columns, &self.relation),
                Side::Documents => (&self.document_columns, &self.documents),
            };
            if !columns.contains_key(&column.column) {
                return Err(Error::NoColumn {
                    column: column.column.clone(),
                    relation: relation.clone().unwrap_or_default(),
                });
            }
        }
        // SAFETY: a plain call into the backend.
        if unsafe { pgrx::pg_sys::superuser() } && !self.untrusted_owners()?.is_empty() {
            return Err(Error::UntrustedCode(self.name));
        }
        Ok(self)
    }

    /// Owners, other than superusers, of code that runs with the caller's rights when the relations are read: views, and casts from the
    /// type of a column.
    pub fn untrusted_owners(&self) -> Result<Vec<String>> {
        let relations: Vec<String> = [&self.relation, &self.documents]
            .into_iter()
            .flatten()
            .cloned()
            .collect();
        let owners = sql::read_json(
            "SELECT json_agg(DISTINCT r.rolname)::text FROM unnest($1::text[]) AS n JOIN pg_class AS c ON c.oid = to_regclass(n) \
                 LEFT JOIN (pg_attribute AS a JOIN pg_cast AS k ON k.castsource = a.atttypid JOIN pg_proc AS f ON f.oid = k.castfunc) ON a.attrelid = c.oid \
                 JOIN pg_roles AS r ON r.oid = f.proowner OR r.oid = c.relowner AND c.relkind = 'v' \
             WHERE NOT r.rolsuper",
            &[relations.into()],
        )?;
        Ok(owners.unwrap_or_default())
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

    /// Expression that the lexical index is built on: the text, with the configuration of the row if it is mapped. `alias` is put before
    /// the column names.
    pub fn indexed(&self, alias: &str) -> Result<String> {
        let column = |meaning: &str| {
            let column = self.mapping.get(meaning);
            column.map(|column| format!("{alias}{}", sql::ident(&column.column)))
        };
        let content = column("content").ok_or_else(|| Error::NoColumn {
            column: "content".to_owned(),
            relation: self.name.clone(),
        })?;
        Ok(
            match (
                column("text_config_column"),
                self.column_type("text_config_column"),
            ) {
                (None, _) => content,
                (Some(config), Some("regconfig")) => {
                    format!("reground.in_language({content}, {config})")
                }
                (Some(config), Some("text")) => {
                    format!("reground.in_language({content}, {config})")
                }
                (Some(config), _) => format!("reground.in_language({content}, {config}::text)"),
            },
        )
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

    /// The column of the embeddings as SQL.
    ///
    /// # Errors
    /// 55000 if no such column is mapped, 42804 if the column no longer contains vectors.
    pub fn embedding_column(&self) -> Result<String> {
        let column = self
            .column("embedding")
            .ok_or_else(|| Error::NoEmbeddingColumn(self.name.clone()))?;
        match self.embedding_kind() {
            Some(_) => Ok(column),
            None => Err(Error::NotEmbeddings {
                corpus: self.name.clone(),
                kind: self
                    .column_type("embedding")
                    .unwrap_or("unknown")
                    .to_owned(),
            }),
        }
    }

    /// The present type of the embedding column: `vector` or `halfvec`; `None` for any other type.
    pub fn embedding_kind(&self) -> Option<&'static str> {
        let (_, kind) = self.column_type("embedding")?.rsplit_once('.')?;
        ["vector", "halfvec"]
            .into_iter()
            .find(|known| kind == *known)
    }

    /// FROM clause: passages `p`, joined with documents `d` if these are mapped.
    pub fn relations(&self) -> Result<String> {
        let mut clause = format!("{} AS p", self.relation.as_deref().unwrap_or_default());
        let Some(documents) = &self.documents else {
            return Ok(clause);
        };
        let (document, key) = (self.required("doc_id")?, self.required("documents_doc_id")?);
        let kinds = (
            self.column_type("doc_id"),
            self.column_type("documents_doc_id"),
        );
        clause.push_str(&match kinds {
            (Some(one), Some(other)) if one == other => format!(
                " LEFT JOIN {documents} AS d ON {key} OPERATOR({}.=) {document}",
                operator_schema(one)?
            ),
            // Ids of different types are compared as text.
            _ => format!(" LEFT JOIN {documents} AS d ON {key}::text = {document}::text"),
        });
        if let (Some(version), Some(current)) =
            (self.column("document_version"), self.column("version"))
        {
            clause.push_str(&format!(" AND {version} = {current}"));
        }
        Ok(clause)
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

    /// Whether this role may read the relations.
    pub fn is_readable(&self) -> Result<bool> {
        for relation in [&self.relation, &self.documents].into_iter().flatten() {
            let may = sql::read_one::<bool>(
                "SELECT has_schema_privilege(c.relnamespace, 'USAGE') AND has_table_privilege(c.oid, 'SELECT') \
                 FROM pg_class AS c WHERE c.oid = to_regclass($1)::oid",
                &[relation.as_str().into()],
            )?;
            if may != Some(true) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the relations may hide rows from this role, by row-level security or as views.
    pub fn may_hide_rows(&self) -> Result<bool> {
        for relation in [&self.relation, &self.documents].into_iter().flatten() {
            let hides = sql::read_one::<bool>(
                "SELECT c.relkind NOT IN ('r', 'p', 'm') OR row_security_active(c.oid) FROM pg_class AS c WHERE c.oid = to_regclass($1)",
                &[relation.as_str().into()],
            )?;
            if hides != Some(false) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether this role may write the passages.
    pub fn is_writable(&self) -> Result<bool> {
        Ok(sql::read_one::<bool>(
            "SELECT has_table_privilege(to_regclass($1), 'INSERT, UPDATE')",
            &[self.relation.as_deref().into()],
        )?
        .unwrap_or(false))
    }

    /// Whether this role may delete rows of its relations.
    pub fn is_deletable(&self) -> Result<bool> {
        for relation in [&self.relation, &self.documents].into_iter().flatten() {
            let may = sql::read_one::<bool>(
                "SELECT has_table_privilege(to_regclass($1), 'DELETE')",
                &[relation.as_str().into()],
            )?;
            if may != Some(true) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether this role owns the relation of the passages or is a member of the owner.
    pub fn is_owned(&self) -> Result<bool> {
        Ok(sql::read_one::<bool>(
            "SELECT pg_has_role(c.relowner, 'USAGE') FROM pg_class AS c WHERE c.oid = to_regclass($1)",
            &[self.relation.as_deref().into()],
        )?
        .unwrap_or(false))
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

    /// The column of the document id as SQL; that of the chunk id if no document id is mapped.
    pub fn document(&self) -> Result<String> {
        match self.column("doc_id") {
            Some(column) => Ok(column),
            None => self.key(),
        }
    }
}
