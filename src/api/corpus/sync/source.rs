//! Reads the rows of a synchronised table as its owner, under a pinned search_path.

use pgrx::datum::TimestampWithTimeZone;
use pgrx::pg_sys;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::run_as::as_foreign_role;
use crate::session::set_local;
use crate::sql;
use crate::sql::{Changes, Event};
use crate::store::corpora::operator_schema;
use crate::store::sync::{self, Synchronised};

/// Rows that are compared at a time.
const BATCH: i64 = 1000;

/// The present row of a document.
pub struct SourceRow {
    pub doc_id: String,
    /// `None`: the row has no document.
    pub content: Option<String>,
    pub title: Option<String>,
    pub uri: Option<String>,
    pub published: Option<TimestampWithTimeZone>,
    pub modified_at: Option<TimestampWithTimeZone>,
    pub language: Option<String>,
    pub metadata: Option<String>,
    /// Tenant of the row; `None` without a column for it.
    pub tenant: Option<String>,
    pub principals: Option<Vec<String>>,
    /// SHA-256 of the mapped columns, in hexadecimal.
    pub hash: String,
}

impl SourceRow {
    /// The metadata, which must be an object.
    pub fn metadata(&self) -> Result<Value> {
        let Some(text) = &self.metadata else {
            return Ok(Value::Object(serde_json::Map::new()));
        };
        match serde_json::from_str(text)? {
            Value::Null => Ok(Value::Object(serde_json::Map::new())),
            value @ Value::Object(_) => Ok(value),
            _ => Err(Error::Bad {
                argument: "metadata",
                fault: "it is not a JSON object".into(),
                hint: "Map a column with objects, or none.".into(),
            }),
        }
    }
}

/// A synchronised table, as statements name it.
pub struct Source<'a> {
    synced: &'a Synchronised,
    relation: &'a str,
    owner: pg_sys::Oid,
}

impl<'a> Source<'a> {
    /// The table. Errors: 42P01 if it was dropped, 42703 if it does not have a mapped column.
    pub fn of(synced: &'a Synchronised) -> Result<Self> {
        let (Some(relation), Some(owner)) = (&synced.source, synced.owner) else {
            return Err(Error::SourceGone(synced.corpus.clone()));
        };
        if let Some(column) = synced.missing_columns().first() {
            return Err(Error::NoSourceColumn {
                column: (*column).to_owned(),
                table: relation.clone(),
            });
        }
        Ok(Self {
            synced,
            relation,
            owner: pg_sys::Oid::from_u32(owner),
        })
    }

    /// Runs `work` as the owner of the table. A policy that hides rows from the owner raises an error.
    fn read<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        as_foreign_role(self.owner, || {
            set_local(c"row_security", c"off");
            work()
        })
    }

    /// A column of the row `t` as text; NULL without a column of the meaning.
    fn text(&self, meaning: &str) -> String {
        self.cast(meaning, "text")
    }

    fn cast(&self, meaning: &str, kind: &str) -> String {
        match self.synced.columns.get(meaning) {
            Some(column) => format!("t.{}::{kind}", sql::ident(column)),
            None => format!("NULL::{kind}"),
        }
    }

    /// Expression for the hash of the mapped columns of the row `t`.
    fn hash(&self) -> String {
        let columns = self.synced.columns.keys().map(|meaning| self.text(meaning));
        format!(
            "encode(sha256(convert_to(ROW({})::text, 'UTF8')), 'hex')",
            columns.collect::<Vec<_>>().join(", ")
        )
    }

    /// The keys of the rows that a statement changed, in order. A row without a key has no document.
    pub fn changed(&self, changes: &Changes) -> Result<Vec<String>> {
        let (key, hash) = (self.text("key"), self.hash());
        let rows = match changes.event {
            Event::Insert => format!("SELECT {key} AS doc_id FROM reground_new AS t"),
            Event::Delete => format!("SELECT {key} AS doc_id FROM reground_old AS t"),
            // The transition tables do not have a virtual column, so the rows are compared when they are read.
            Event::Update if self.synced.has_virtual => format!(
                "SELECT {key} AS doc_id FROM reground_new AS t UNION ALL SELECT {key} FROM reground_old AS t"
            ),
            Event::Update => {
                let (new, old) = (
                    format!("SELECT {key} AS doc_id, {hash} AS hash FROM reground_new AS t"),
                    format!("SELECT {key} AS doc_id, {hash} AS hash FROM reground_old AS t"),
                );
                format!(
                    "SELECT c.doc_id FROM (({new} EXCEPT {old}) UNION ALL ({old} EXCEPT {new})) AS c"
                )
            }
            Event::Truncate => return self.differences(),
        };
        let query = format!(
            "SELECT r.doc_id FROM ({rows}) AS r WHERE r.doc_id IS NOT NULL GROUP BY r.doc_id ORDER BY r.doc_id COLLATE \"C\""
        );
        self.read(|| changes.read_each(&query, |row| Ok(row.get(1)?.unwrap_or_default())))
    }

    /// Condition that the row `t` has the key in a text expression. The comparison of texts also finds keys that the type of the column
    /// does not accept any more, but reads the whole table.
    fn has_key(&self, doc_id: &str, by_text: bool) -> Result<String> {
        let same = format!("{} = {doc_id}", self.text("key"));
        if by_text {
            return Ok(same);
        }
        let column = self.synced.columns.get("key");
        let kind = column.and_then(|column| self.synced.types.get(column));
        let kind = kind.map_or("text", String::as_str);
        // Values that are equal to the type can be different texts.
        Ok(format!(
            "t.{} OPERATOR({}.=) {doc_id}::{kind} AND {same}",
            sql::ident(column.map_or("", String::as_str)),
            operator_schema(kind)?
        ))
    }

    /// The present rows of some keys.
    pub fn rows(&self, doc_ids: &[String]) -> Result<Vec<SourceRow>> {
        // The type of the key can have changed.
        match sql::guarded(|| self.rows_by(doc_ids, false)) {
            Ok(rows) => Ok(rows),
            Err(_) => self.rows_by(doc_ids, true),
        }
    }

    fn rows_by(&self, doc_ids: &[String], by_text: bool) -> Result<Vec<SourceRow>> {
        let query = format!(
            "SELECT DISTINCT ON (g.doc_id) g.doc_id, {}, {}, {}, {}, {}, {}, {}::text, {}, array_remove({}, NULL), {} \
             FROM unnest($1::text[]) AS g(doc_id) JOIN {} AS t ON {} ORDER BY g.doc_id, t.tableoid, t.ctid",
            self.text("content"),
            self.text("title"),
            self.text("uri"),
            self.cast("published", "timestamptz"),
            self.cast("modified_at", "timestamptz"),
            self.text("language"),
            self.cast("metadata", "jsonb"),
            self.text("tenant_column"),
            self.cast("principals_column", "text[]"),
            self.hash(),
            self.relation,
            self.has_key("g.doc_id", by_text)?,
        );
        self.read(|| {
            sql::write_each(&query, &[doc_ids.to_vec().into()], |row| {
                Ok(SourceRow {
                    doc_id: row.get(1)?.unwrap_or_default(),
                    content: row.get(2)?,
                    title: row.get(3)?,
                    uri: row.get(4)?,
                    published: row.get(5)?,
                    modified_at: row.get(6)?,
                    language: row.get(7)?,
                    metadata: row.get(8)?,
                    tenant: row.get(9)?,
                    principals: row.get(10)?,
                    hash: row.get(11)?.unwrap_or_default(),
                })
            })
        })
    }

    /// Whether a document has a row with content.
    pub fn has_row(&self, doc_id: &str) -> Result<bool> {
        let rows = self.rows(&[doc_id.to_owned()])?;
        Ok(rows.iter().any(|row| row.content.is_some()))
    }

    /// The key of a row of a tenant with content, if there is one.
    pub fn row_of_tenant(&self, tenant: &str) -> Result<Option<String>> {
        let query = format!(
            "SELECT {} FROM {} AS t WHERE {} COLLATE \"C\" = $1 AND {} IS NOT NULL ORDER BY 1 LIMIT 1",
            self.text("key"),
            self.relation,
            self.text("tenant_column"),
            self.text("content"),
        );
        self.read(|| sql::write_one(&query, &[tenant.into()]))
    }

    /// The keys of all rows whose document is missing or another one, and those of documents without a row.
    pub fn differences(&self) -> Result<Vec<String>> {
        let corpus_id = self.synced.corpus_id;
        let mut found = Vec::new();
        let (mut doc_ids, mut hashes): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        let mut have_content: Vec<bool> = Vec::new();
        let query = format!(
            "SELECT {key}, {}, {} IS NOT NULL FROM {} AS t WHERE {key} IS NOT NULL",
            self.hash(),
            self.text("content"),
            self.relation,
            key = self.text("key"),
        );
        self.read(|| {
            sql::read_batches(&query, &[], BATCH, |row| {
                doc_ids.push(row.get(1)?.unwrap_or_default());
                hashes.push(row.get(2)?.unwrap_or_default());
                have_content.push(row.get(3)?.unwrap_or_default());
                if doc_ids.len() >= usize::try_from(BATCH).unwrap_or(usize::MAX) {
                    found.extend(sync::differing(
                        corpus_id,
                        std::mem::take(&mut doc_ids),
                        std::mem::take(&mut hashes),
                        std::mem::take(&mut have_content),
                    )?);
                }
                Ok(())
            })
        })?;
        found.extend(sync::differing(corpus_id, doc_ids, hashes, have_content)?);
        found.extend(self.without_row()?);
        found.sort();
        found.dedup();
        Ok(found)
    }

    /// The keys of documents without a row.
    pub fn without_row(&self) -> Result<Vec<String>> {
        let mut found = Vec::new();
        let mut after = String::new();
        loop {
            let present = sync::present(self.synced.corpus_id, &after, BATCH)?;
            let Some(last) = present.last() else {
                return Ok(found);
            };
            after.clone_from(last);
            let missing = match sql::guarded(|| self.missing(&present, false)) {
                Ok(missing) => missing,
                Err(_) => self.missing(&present, true)?,
            };
            found.extend(missing);
        }
    }

    fn missing(&self, doc_ids: &[String], by_text: bool) -> Result<Vec<String>> {
        let query = format!(
            "SELECT array_agg(g.doc_id) FROM unnest($1::text[]) AS g(doc_id) WHERE NOT EXISTS (SELECT FROM {} AS t WHERE {})",
            self.relation,
            self.has_key("g.doc_id", by_text)?
        );
        let missing =
            self.read(|| sql::write_one::<Vec<String>>(&query, &[doc_ids.to_vec().into()]))?;
        Ok(missing.unwrap_or_default())
    }
}
