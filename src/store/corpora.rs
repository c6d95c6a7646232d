//! Registered corpora.

use std::collections::BTreeMap;

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;
use reground_grounding::settings::Settings;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::owner::as_owner;
use crate::sql;
use crate::store::roles::Roles;

/// Which of a corpus' relations has a column.
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
    /// Which relation has it.
    #[serde(rename = "in")]
    pub side: Side,
    /// Its name.
    pub column: String,
}

/// Meanings that are whole numbers.
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

/// Meaning → column.
pub type Mapping = BTreeMap<String, Column>;

/// A corpus as registered, with what the catalog says of its relations at this moment.
#[derive(Clone, Debug, Deserialize)]
pub struct Corpus {
    pub corpus_id: i64,
    pub tenant: Option<String>,
    #[serde(rename = "corpus")]
    pub name: String,
    /// Qualified and quoted; `None` when it was dropped.
    pub relation: Option<String>,
    /// Qualified and quoted, where documents are mapped.
    pub documents: Option<String>,
    pub has_documents: bool,
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
    /// Column → type of the passages' relation.
    pub passage_columns: BTreeMap<String, String>,
    /// Column → type of the documents' relation.
    pub document_columns: BTreeMap<String, String>,
}

/// What is stored when a corpus is registered.
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

/// Types of the server's own that keys and filtered columns usually have: every statement of a turn would look them up.
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

/// Schema of the comparison operators of a type: those of its default B-tree operator class, whatever the search_path.
pub fn operator_schema(kind: &str) -> Result<String> {
    if BUILT_IN.contains(&kind) {
        return Ok("pg_catalog".into());
    }
    let schema = sql::with_fixed_path(|| {
        sql::read_one::<String>(
            "SELECT pg_catalog.quote_ident(n.nspname) FROM pg_catalog.pg_opclass c JOIN pg_catalog.pg_amop a ON a.amopfamily = c.opcfamily \
             AND a.amoplefttype = c.opcintype AND a.amoprighttype = c.opcintype AND a.amopstrategy = 3 \
             JOIN pg_catalog.pg_operator o ON o.oid = a.amopopr JOIN pg_catalog.pg_namespace n ON n.oid = o.oprnamespace \
             JOIN pg_catalog.pg_am m ON m.oid = c.opcmethod AND m.amname = 'btree' \
         WHERE c.opcdefault AND c.opcintype = $1::pg_catalog.regtype::pg_catalog.oid",
            &[kind.into()],
        )
    })?;
    // Types without a class of their own (varchar, enums, arrays) use those of a type that they are coerced to.
    Ok(schema.unwrap_or_else(|| "pg_catalog".into()))
}

/// A corpus that can be read at this moment, or `None`: gone, mapped to what is gone, or not for this role.
pub fn usable(tenant: &str, name: &str) -> Result<Option<Corpus>> {
    match load(tenant, name) {
        Ok(corpus) if corpus.is_readable()? => Ok(Some(corpus)),
        Ok(_) | Err(Error::UnknownCorpus(_) | Error::RelationGone(_) | Error::NoColumn { .. }) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// As [`usable`], with hashes made of the texts where the settings want that.
pub fn usable_under(settings: &Settings, tenant: &str, name: &str) -> Result<Option<Corpus>> {
    let corpus = usable(tenant, name)?;
    Ok(if settings.hashes_texts() {
        corpus.map(Corpus::hashed_by_us)
    } else {
        corpus
    })
}

/// Whether any tenant whose corpora meet those of `tenant` (all, for a shared corpus) uses the name.
pub fn is_taken(tenant: Option<&str>, name: &str) -> Result<bool> {
    Ok(as_owner(|| {
        sql::read_one::<bool>(
            "SELECT EXISTS (SELECT FROM reground.corpora WHERE corpus = $1 AND ($2::text IS NULL OR tenant IS NULL OR tenant = $2))",
            &[name.into(), tenant.into()],
        )
    })?
    .unwrap_or(false))
}

/// Columns and types of a relation, as a jsonb object.
const COLUMNS: &str = "(SELECT coalesce(pg_catalog.jsonb_object_agg(a.attname, pg_catalog.format_type(a.atttypid, -1)), '{}') \
     FROM pg_catalog.pg_attribute AS a WHERE a.attrelid = %s::pg_catalog.oid AND a.attnum > 0::smallint AND NOT a.attisdropped)";

/// The corpus of that name that this tenant can see, if any.
pub fn find(tenant: &str, name: &str) -> Result<Option<Corpus>> {
    let query = format!(
        "SELECT pg_catalog.row_to_json(r)::text FROM (SELECT c.corpus_id, c.tenant, c.corpus, c.managed, c.mapping, c.dimensions, c.embedding_type, \
             c.metric, c.text_config, c.chunking, c.settings, c.reranker_role::oid::bigint AS reranker_role, c.intent_role::oid::bigint AS intent_role, c.documents IS NOT NULL AS has_documents, \
             (SELECT pg_catalog.format('%I.%I', n.nspname, p.relname) FROM pg_catalog.pg_class p \
                 JOIN pg_catalog.pg_namespace n ON n.oid = p.relnamespace WHERE p.oid = c.relation::pg_catalog.oid) AS relation, \
             (SELECT pg_catalog.format('%I.%I', n.nspname, p.relname) FROM pg_catalog.pg_class p \
                 JOIN pg_catalog.pg_namespace n ON n.oid = p.relnamespace WHERE p.oid = c.documents::pg_catalog.oid) AS documents, \
             {} AS passage_columns, {} AS document_columns \
         FROM reground.corpora AS c WHERE c.corpus = $1 AND (c.tenant IS NULL OR c.tenant = $2) ORDER BY c.tenant NULLS LAST LIMIT 1) AS r",
        COLUMNS.replace("%s", "c.relation"),
        COLUMNS.replace("%s", "c.documents"),
    );
    sql::with_fixed_path(|| sql::read_json(&query, &[name.into(), tenant.into()]))
}

/// What a session is about to do with a corpus, and so what others may do with it until the transaction ends.
#[derive(Clone, Copy)]
pub enum Hold {
    /// Write its relations: it must not be dropped meanwhile.
    Write,
    /// Change its registration: one at a time.
    Alter,
    /// Drop it: nobody may be writing it.
    Drop,
}

/// The corpus of that name that this tenant can see, its registration locked until the transaction ends. Every writer calls
/// this first, before any lock on the relations, so that two of them wait for one another in one order.
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
    // Read after the wait: whoever held it before may have changed it.
    find(tenant, name)?.ok_or_else(unknown)
}

/// Makes others that register a corpus of this name, for whatever tenant, wait until the transaction ends: they then find
/// it registered.
pub fn hold_name(name: &str) -> Result<()> {
    sql::lock_key("reground.corpora", 0, name)
}

/// The text-search configuration of a corpus that this tenant can see.
pub fn text_config(tenant: &str, name: &str) -> Result<Option<String>> {
    sql::read_one(
        "SELECT c.text_config FROM reground.corpora AS c WHERE c.corpus = $1 AND (c.tenant IS NULL OR c.tenant = $2) \
         ORDER BY c.tenant NULLS LAST LIMIT 1",
        &[name.into(), tenant.into()],
    )
}

/// The corpus of that name, with its relations in place, or the error that says what is missing.
pub fn load(tenant: &str, name: &str) -> Result<Corpus> {
    find(tenant, name)?
        .ok_or_else(|| Error::UnknownCorpus(name.to_owned()))?
        .in_place()
}

/// Names of the corpora that this tenant can see.
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

/// What a registered corpus would be stored as, to compare with a second call.
pub fn stored(tenant: &str, name: &str) -> Result<Option<Value>> {
    sql::read_json(
        "SELECT pg_catalog.to_jsonb(r)::text FROM (SELECT c.tenant, c.corpus, c.relation::oid::bigint AS relation, c.documents::oid::bigint AS documents, \
             c.managed, c.mapping, c.dimensions, c.embedding_type, c.metric, c.text_config, c.chunking, c.settings \
         FROM reground.corpora AS c WHERE c.corpus = $1 AND (c.tenant IS NULL OR c.tenant = $2) ORDER BY c.tenant NULLS LAST LIMIT 1) AS r",
        &[name.into(), tenant.into()],
    )
}

/// The row that a registration would store, in the shape of [`stored`].
pub fn would_store(new: &NewCorpus<'_>) -> Result<Value> {
    let row = sql::json(new)?;
    Ok(sql::read_json(
        "SELECT pg_catalog.to_jsonb(r)::text FROM (SELECT x.tenant, x.corpus, x.relation::regclass::oid::bigint AS relation, \
             x.documents::regclass::oid::bigint AS documents, x.managed, x.mapping, x.dimensions, x.embedding_type, x.metric, x.text_config, \
             x.chunking, x.settings \
         FROM pg_catalog.json_to_record($1::json) AS x(tenant text, corpus text, relation text, documents text, managed boolean, mapping jsonb, \
             dimensions integer, embedding_type text, metric text, text_config text, chunking jsonb, settings jsonb)) AS r",
        &[row.into()],
    )?
    .unwrap_or_default())
}

/// Registers a corpus.
pub fn insert(new: &NewCorpus<'_>) -> Result<()> {
    let row = sql::json(new)?;
    as_owner(|| {
        sql::run(
            "INSERT INTO reground.corpora (tenant, corpus, relation, documents, managed, mapping, dimensions, embedding_type, metric, text_config, chunking, settings, reranker_role, intent_role) \
             SELECT x.tenant, x.corpus, x.relation::regclass, x.documents::regclass, x.managed, x.mapping, x.dimensions, x.embedding_type, x.metric, x.text_config, \
                    x.chunking, x.settings, $2::oid::regrole, $3::oid::regrole \
             FROM pg_catalog.json_to_record($1::json) AS x(tenant text, corpus text, relation text, documents text, managed boolean, mapping jsonb, \
                 dimensions integer, embedding_type text, metric text, text_config text, chunking jsonb, settings jsonb)",
            &[
                row.into(),
                new.roles.reranker_role.map(pg_sys::Oid::from_u32).into(),
                new.roles.intent_role.map(pg_sys::Oid::from_u32).into(),
            ],
        )
    })?;
    Ok(())
}

/// Replaces what `alter_corpus` can change.
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

/// Forgets a corpus; its rows in `documents` go with it.
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
    /// Whether a relation that it was registered with was dropped.
    pub fn is_gone(&self) -> bool {
        self.relation.is_none() || (self.has_documents && self.documents.is_none())
    }

    /// The corpus, if its relations and mapped columns are where they were registered.
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
        Ok(self)
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

    /// What a row names to be read by, as SQL: a configuration or a language; `None` where rows name nothing.
    pub fn named_config(&self) -> Option<String> {
        let column = self.column("text_config")?;
        Some(match self.column_type("text_config") {
            Some("regconfig") => format!(
                "(SELECT pg_catalog.format('%I.%I', n.nspname, c.cfgname) FROM pg_catalog.pg_ts_config AS c \
                     JOIN pg_catalog.pg_namespace AS n ON n.oid = c.cfgnamespace WHERE c.oid = {column}::pg_catalog.oid)"
            ),
            _ => format!("{column}::text"),
        })
    }

    /// The configuration that a row is read by, as SQL.
    pub fn row_config(&self) -> String {
        let own = format!("{}::pg_catalog.regconfig", sql::literal(&self.text_config));
        let Some(column) = self.column("text_config") else {
            return own;
        };
        let found = match self.column_type("text_config") {
            Some("regconfig") => format!(
                "(SELECT c.oid::pg_catalog.regconfig FROM pg_catalog.pg_ts_config AS c WHERE c.oid = {column}::pg_catalog.oid)"
            ),
            _ => format!("reground.find_text_config({column}::text)"),
        };
        format!("coalesce({found}, {own})")
    }

    /// What the lexical index is on, as SQL: the text, with the column of the configuration where rows name one. The columns
    /// stand behind `alias`.
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
            match (column("text_config"), self.column_type("text_config")) {
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

    /// The type of a meaning's column.
    pub fn column_type(&self, meaning: &str) -> Option<&str> {
        let column = self.mapping.get(meaning)?;
        let columns = match column.side {
            Side::Passages => &self.passage_columns,
            Side::Documents => &self.document_columns,
        };
        columns.get(&column.column).map(String::as_str)
    }

    /// What a FROM clause names: passages `p`, joined with documents `d` where they are mapped.
    pub fn relations(&self) -> Result<String> {
        let mut clause = format!("{} AS p", self.relation.as_deref().unwrap_or_default());
        let Some(documents) = &self.documents else {
            return Ok(clause);
        };
        let (document, key) = (self.required("document")?, self.required("document_key")?);
        let kinds = (
            self.column_type("document"),
            self.column_type("document_key"),
        );
        clause.push_str(&match kinds {
            (Some(one), Some(other)) if one == other => format!(
                " LEFT JOIN {documents} AS d ON {key} OPERATOR({}.=) {document}",
                operator_schema(one)?
            ),
            // Keys of two types are compared as what they are with us: text.
            _ => format!(" LEFT JOIN {documents} AS d ON {key}::text = {document}::text"),
        });
        if let (Some(version), Some(current)) =
            (self.column("document_version"), self.column("version"))
        {
            clause.push_str(&format!(" AND {version} = {current}"));
        }
        Ok(clause)
    }

    /// Whether the column of a meaning holds whole numbers.
    pub fn is_integer(&self, meaning: &str) -> bool {
        matches!(
            self.column_type(meaning),
            Some("smallint" | "integer" | "bigint" | "numeric")
        )
    }

    /// A mapped whole number as SQL, NULL where it is none or less than `least`.
    pub fn integer(&self, meaning: &str, least: i32) -> String {
        match self.column(meaning) {
            Some(column) if self.is_integer(meaning) => {
                // PostgreSQL has no operator for a numeric and an integer: it would look for one along the search_path.
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

    /// The metadata as SQL: of a managed corpus the document's with the passage's own over it.
    pub fn metadata(&self) -> Option<String> {
        if self.managed {
            return Some("(d.metadata || p.metadata)".to_owned());
        }
        self.column("metadata")
    }

    /// The corpus, read without the hashes that its relations hold, so that they are made of the texts.
    pub fn hashed_by_us(mut self) -> Self {
        self.mapping.remove("hash");
        self
    }

    /// Whether this role may read the relations.
    pub fn is_readable(&self) -> Result<bool> {
        for relation in [&self.relation, &self.documents].into_iter().flatten() {
            let may = sql::read_one::<bool>(
                "SELECT pg_catalog.has_schema_privilege(c.relnamespace, 'USAGE') AND pg_catalog.has_table_privilege(c.oid, 'SELECT') \
                 FROM pg_catalog.pg_class AS c WHERE c.oid = pg_catalog.to_regclass($1)::pg_catalog.oid",
                &[relation.as_str().into()],
            )?;
            if may != Some(true) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether this role may write the passages.
    pub fn is_writable(&self) -> Result<bool> {
        Ok(sql::read_one::<bool>(
            "SELECT pg_catalog.has_table_privilege(pg_catalog.to_regclass($1), 'INSERT, UPDATE')",
            &[self.relation.as_deref().into()],
        )?
        .unwrap_or(false))
    }

    /// Whether this role may delete its rows.
    pub fn is_deletable(&self) -> Result<bool> {
        for relation in [&self.relation, &self.documents].into_iter().flatten() {
            let may = sql::read_one::<bool>(
                "SELECT pg_catalog.has_table_privilege(pg_catalog.to_regclass($1), 'DELETE')",
                &[relation.as_str().into()],
            )?;
            if may != Some(true) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether this role owns the relation of the passages, or is a member of the role that does.
    pub fn is_owned(&self) -> Result<bool> {
        Ok(sql::read_one::<bool>(
            "SELECT pg_catalog.pg_has_role(c.relowner, 'USAGE') FROM pg_catalog.pg_class AS c WHERE c.oid = pg_catalog.to_regclass($1)",
            &[self.relation.as_deref().into()],
        )?
        .unwrap_or(false))
    }

    /// The passage key as a column or error.
    pub fn key(&self) -> Result<String> {
        self.required("key")
    }

    /// A column that every corpus maps.
    pub fn required(&self, meaning: &str) -> Result<String> {
        self.column(meaning).ok_or_else(|| Error::NoColumn {
            column: meaning.to_owned(),
            relation: self.name.clone(),
        })
    }

    /// The document's key, or the passage's where no document is mapped.
    pub fn document(&self) -> Result<String> {
        match self.column("document") {
            Some(column) => Ok(column),
            None => self.key(),
        }
    }
}
