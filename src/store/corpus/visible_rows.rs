//! The rows of a corpus that belong to the tenant and to the principals of the caller.
//!
//! Searches read the relations through these conditions. Workers, and functions that maintain a corpus for all tenants, read them as
//! the owner and without the conditions: no tenant is set there, and a passage of every tenant needs its embedding.

use super::relations::{Column, Corpus, Side};
use crate::error::Result;
use crate::sql::{self, PRINCIPALS, TENANT};
use crate::tenant;

/// The tenant as uuid; NULL if it is none. A cast alone would raise an error. The planner computes the value.
fn tenant_as_uuid() -> String {
    format!(
        "(CASE WHEN {TENANT} ~ '^[0-9a-fA-F]{{8}}(-[0-9a-fA-F]{{4}}){{3}}-[0-9a-fA-F]{{12}}$' THEN {TENANT}::uuid END)"
    )
}

/// The tenant as integer; NULL if it is none. Only the canonical form counts, because the tenants 7 and 07 are different.
fn tenant_as_integer() -> String {
    format!("(CASE WHEN {TENANT} ~ '^(0|-?[1-9][0-9]{{0,17}})$' THEN {TENANT}::bigint END)")
}

/// Types that a column of tenants can have, for hints.
pub const TENANT_TYPES: &str = "text, varchar, name, uuid, smallint, integer or bigint";

/// Types that a column of principals can have, for hints.
pub const PRINCIPALS_TYPES: &str = "text[] or varchar[]";

/// Expression for the current tenant as a value of a type; `None` if a column of this type cannot contain tenants.
fn tenant_as(kind: &str) -> Option<String> {
    match kind {
        "text" | "character varying" | "name" => Some(TENANT.to_owned()),
        "uuid" => Some(tenant_as_uuid()),
        "smallint" | "integer" | "bigint" => Some(tenant_as_integer()),
        _ => None,
    }
}

/// Whether a column of this type can contain tenants.
pub fn holds_tenants(kind: &str) -> bool {
    tenant_as(kind).is_some()
}

/// Whether a column of this type can contain principals.
pub fn holds_principals(kind: &str) -> bool {
    matches!(kind, "text[]" | "character varying[]")
}

impl Corpus {
    /// Whether its rows belong to tenants or to principals.
    pub fn restricts_rows(&self) -> bool {
        self.has_tenants() || self.mapping.contains_key("principals_column")
    }

    /// The column of tenants of its passages, if an index of their words can have it as a filter column.
    pub fn tenants_of_passages(&self) -> Option<&str> {
        let column = self.mapping.get("tenant_column")?;
        let kind = self.column_type("tenant_column")?;
        let is_possible = column.side == Side::Passages && holds_tenants(kind) && kind != "name";
        is_possible.then_some(column.column.as_str())
    }

    /// Whether its rows belong to tenants.
    pub fn has_tenants(&self) -> bool {
        self.mapping.contains_key("tenant_column")
    }

    /// The tenant that new rows of its documents and edges belong to; `None` if they are shared.
    pub fn row_tenant(&self) -> Result<Option<String>> {
        match (&self.tenant, self.has_tenants()) {
            (_, true) => Ok(Some(tenant::required()?)),
            (tenant, false) => Ok(tenant.clone()),
        }
    }

    /// FROM item for the passages that the caller may read, with the alias `p`. PostgreSQL merges the subquery with the outer query, so
    /// indexes are used as on the relation itself.
    pub fn visible_passages(&self) -> Result<String> {
        let relation = self.relation.as_deref().unwrap_or_default();
        Ok(match self.visible()?.as_str() {
            "true" => format!("{relation} AS p"),
            condition => format!("(SELECT p.* FROM {relation} AS p WHERE {condition}) AS p"),
        })
    }

    /// FROM item for the passages whose embeddings the caller maintains, with the alias `p`: all of them for the owner of the relation in a
    /// session that acts for no tenant, as for a worker.
    pub fn embedded_passages(&self) -> Result<String> {
        match self.restricts_rows() && self.is_maintained_for_all()? {
            true => Ok(format!(
                "{} AS p",
                self.relation.as_deref().unwrap_or_default()
            )),
            false => self.visible_passages(),
        }
    }

    /// Condition for the passages `p` whose embeddings the caller may store.
    pub fn embeddable(&self) -> Result<String> {
        match self.has_tenants() && self.is_maintained_for_all()? {
            true => Ok("true".to_owned()),
            false => self.of_tenant(),
        }
    }

    fn is_maintained_for_all(&self) -> Result<bool> {
        Ok(!tenant::is_named()? && self.is_owned()?)
    }

    /// FROM clause: passages `p`, joined with documents `d` if these are mapped, of all tenants. For maintenance.
    pub fn all_relations(&self) -> Result<String> {
        let passages = format!("{} AS p", self.relation.as_deref().unwrap_or_default());
        Ok(match &self.documents {
            Some(documents) => format!(
                "{passages} LEFT JOIN {documents} AS d ON {}",
                self.is_document()?
            ),
            None => passages,
        })
    }

    /// FROM item for the documents that the caller may read, with the alias `d`; `None` without a relation of documents. An earlier
    /// version can have other principals than the current one.
    pub fn visible_documents(&self) -> Option<String> {
        let documents = self.documents.as_deref()?;
        Some(match self.conditions(Side::Documents).as_slice() {
            [] => format!("{documents} AS d"),
            conditions => format!(
                "(SELECT d.* FROM {documents} AS d WHERE {}) AS d",
                conditions.join(" AND ")
            ),
        })
    }

    /// Condition that the caller may read the passage `p`, for statements that read its relation only; `true` if no column decides.
    pub fn visible(&self) -> Result<String> {
        self.where_passage(&["tenant_column", "principals_column"])
    }

    /// Condition that the passage `p` belongs to the tenant, for statements that write; `true` if no column decides. Principals restrict
    /// what is read, not who maintains the rows.
    pub fn of_tenant(&self) -> Result<String> {
        self.where_passage(&["tenant_column"])
    }

    fn where_passage(&self, meanings: &[&str]) -> Result<String> {
        let own = |side| {
            let mapped = meanings.iter().filter_map(|meaning| {
                let column = self.mapping.get(*meaning)?;
                (column.side == side).then(|| self.condition(meaning, column, side))
            });
            mapped.collect::<Vec<String>>()
        };
        let mut conditions = own(Side::Passages);
        let of_document = own(Side::Documents);
        if let (Some(documents), false) = (&self.documents, of_document.is_empty()) {
            conditions.push(format!(
                "EXISTS (SELECT FROM {documents} AS d WHERE {} AND {})",
                self.is_document()?,
                of_document.join(" AND ")
            ));
        }
        Ok(match conditions.is_empty() {
            true => "true".to_owned(),
            false => conditions.join(" AND "),
        })
    }

    /// FROM clause for passages `p` and documents `d` from queries for them, as far as the caller may read them. `columns` are more
    /// columns of the passages than `*`.
    pub(super) fn visible_relations(
        &self,
        passages: &str,
        columns: &str,
        documents: Option<&str>,
    ) -> Result<String> {
        let select = |from: &str, alias: &str, columns: &str, side: Side| {
            let conditions = self.conditions(side);
            match conditions.is_empty() {
                true => format!("{from} AS {alias}"),
                false => format!(
                    "(SELECT {alias}.*{columns} FROM {from} AS {alias} WHERE {}) AS {alias}",
                    conditions.join(" AND ")
                ),
            }
        };
        let passages = select(passages, "p", columns, Side::Passages);
        let Some(documents) = documents else {
            return Ok(passages);
        };
        // If a document decides whether its passages are visible, a passage without a visible document is not.
        let join = match self.documents_decide() || self.past.is_some() {
            true => "JOIN",
            false => "LEFT JOIN",
        };
        Ok(format!(
            "{passages} {join} {} ON {}",
            select(documents, "d", "", Side::Documents),
            self.is_document()?
        ))
    }

    /// Whether a document decides which of its passages the caller may read.
    pub(super) fn documents_decide(&self) -> bool {
        let meanings = ["tenant_column", "principals_column"];
        let mut columns = meanings.iter().filter_map(|of| self.mapping.get(*of));
        columns.any(|column| column.side == Side::Documents)
    }

    /// The conditions on a relation: those of the columns that are mapped in it. The documents also have those of the passages whose
    /// columns they have too.
    fn conditions(&self, side: Side) -> Vec<String> {
        let meanings = ["tenant_column", "principals_column"].iter();
        let conditions = meanings.filter_map(|meaning| {
            let column = self.mapping.get(*meaning)?;
            let is_there = column.side == side
                || (side == Side::Documents && self.document_columns.contains_key(&column.column));
            is_there.then(|| self.condition(meaning, column, side))
        });
        conditions.collect()
    }

    /// The condition on the column of a meaning in a relation. Without a type that can be compared, no row is visible.
    fn condition(&self, meaning: &str, column: &Column, side: Side) -> String {
        let (alias, columns) = match side {
            Side::Passages => ("p", &self.passage_columns),
            Side::Documents => ("d", &self.document_columns),
        };
        let name = sql::ident(&column.column);
        let kind = columns.get(&column.column).map_or("", String::as_str);
        if meaning == "principals_column" {
            return match holds_principals(kind) {
                true => format!("{alias}.{name}::text[] OPERATOR(pg_catalog.&&) {PRINCIPALS}"),
                false => "false".to_owned(),
            };
        }
        match tenant_as(kind) {
            Some(tenant) => format!("{alias}.{name} OPERATOR(pg_catalog.=) {tenant}"),
            None => "false".to_owned(),
        }
    }
}
